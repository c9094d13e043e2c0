//! The first line of a `main`: this program may have been started by itself.

use std::ffi::OsString;
use std::process::ExitCode;

/// Is the supervisor of a command, or a helper that ships with us, if this program was started to
/// be one; it does not return then. Otherwise it does nothing.
///
/// Let it be the first line of the `main` of a program that gives itself to
/// [`Builder::supervisor`](crate::Builder::supervisor): before threads, an async runtime and
/// arguments. [`outfitter::main`](crate::main) does it by itself.
#[expect(
    clippy::disallowed_methods,
    reason = "this process is the child it was started to be; nothing of it is left undone"
)]
pub fn run_if_supervisor() {
    outfitter_process::run_if_supervisor();
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Some(exit) = crate::helpers::run_if_helper(&args) {
        let code = (0..=u8::MAX).find(|code| ExitCode::from(*code) == exit);
        std::process::exit(code.map_or(1, i32::from));
    }
}
