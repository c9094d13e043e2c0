//! The whole of Outfitter with two more tools.

use std::process::ExitCode;

fn main() -> ExitCode {
    outfitter::main(&custom_tool::outfit)
}
