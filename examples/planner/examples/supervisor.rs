//! Supervises the planner in its tests, where the program that usually does is not built.

use std::process::ExitCode;

fn main() -> ExitCode {
    outfitter_process::run_if_supervisor();
    ExitCode::from(64)
}
