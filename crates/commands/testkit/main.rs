//! Stands in for the real binary in tests: a program whose `main` begins as it must.

use std::process::ExitCode;

fn main() -> ExitCode {
    outfitter_process::run_if_supervisor();
    ExitCode::from(64)
}
