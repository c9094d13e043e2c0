//! The planner as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    planner::main()
}
