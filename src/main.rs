//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    outfitter::main(&|builder| builder)
}
