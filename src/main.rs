//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    outfitter::cli::main()
}
