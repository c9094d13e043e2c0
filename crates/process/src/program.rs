//! The program that is executed again to supervise.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::nursery::Nursery;

/// The hidden first argument that makes a binary supervise.
pub(crate) const SUPERVISE_WORD: &str = "__supervise";

/// The path of a program whose `main` begins with [`run_if_supervisor`], and the one process of it
/// that starts children, which is there from the first child on and ends with the last clone of
/// this and the last child.
///
/// Libraries take it as a value; only a binary knows that it is one.
#[derive(Clone)]
pub struct SupervisorProgram {
    path: PathBuf,
    nursery: Arc<Nursery>,
}

impl PartialEq for SupervisorProgram {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for SupervisorProgram {}

impl fmt::Debug for SupervisorProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SupervisorProgram")
            .field(&self.path)
            .finish()
    }
}

impl SupervisorProgram {
    /// The program at this path; it need not be readable, only executable.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            nursery: Arc::default(),
        }
    }

    /// The running binary itself. Only for a binary whose own `main` begins with
    /// [`run_if_supervisor`]. It stays right when the file is replaced or moved while we run, and
    /// when its directory cannot be entered.
    #[must_use]
    pub fn this_binary() -> Self {
        Self::at("/proc/self/exe")
    }

    /// The path that is executed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the process that starts children, if there is one by now; for diagnostics.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.nursery.id()
    }

    pub(crate) fn nursery(&self) -> &Nursery {
        &self.nursery
    }
}

/// Supervises if this process was started for that, and then never returns.
///
/// Must be the first line of `main`, before any thread exists and before arguments are parsed: it
/// forks, so it has to be single-threaded.
pub fn run_if_supervisor() {
    let mut args = std::env::args_os();
    if args.nth(1).as_deref() == Some(OsStr::new(SUPERVISE_WORD)) {
        crate::supervisor::nursery();
    }
}
