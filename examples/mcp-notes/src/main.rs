//! `mcp-notes [--file PATH]`

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let file = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["--file", path] => Some(PathBuf::from(path)),
        _ => return fail("usage: mcp-notes [--file PATH]"),
    };
    match mcp_notes::serve(file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("error: failed to {error}")),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "standard output belongs to the protocol"
)]
fn fail(text: &str) -> ExitCode {
    eprintln!("{text}");
    ExitCode::from(2)
}
