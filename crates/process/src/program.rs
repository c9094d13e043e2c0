//! The program that is re-executed as the supervisor.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The hidden first argument that makes a binary the supervisor.
pub const SUPERVISE_WORD: &str = "__supervise";

/// The path of a program whose `main` begins with [`run_if_supervisor`].
///
/// Libraries take it as a value; only a binary knows that it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupervisorProgram(PathBuf);

impl SupervisorProgram {
    /// The program at this path; it need not be readable, only executable.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The running binary itself. Only for a binary whose own `main` begins with
    /// [`run_if_supervisor`]. It stays right when the file is replaced or moved while we run, and
    /// when its directory cannot be entered.
    #[must_use]
    pub fn this_binary() -> Self {
        Self(PathBuf::from("/proc/self/exe"))
    }

    /// The path that is executed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Becomes the supervisor if this process was started as one, and then never returns.
///
/// Must be the first line of `main`, before any thread exists and before arguments are parsed: the
/// supervisor forks, so it has to be single-threaded.
pub fn run_if_supervisor() {
    let mut args = std::env::args_os();
    if args.nth(1).as_deref() == Some(OsStr::new(SUPERVISE_WORD)) {
        crate::supervisor::main();
    }
}
