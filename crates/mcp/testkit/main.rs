//! Stands in for the real binary in tests: the program that is re-executed as the supervisor.

use std::process::ExitCode;

fn main() -> ExitCode {
    outfitter_process::run_if_supervisor();
    ExitCode::from(64)
}
