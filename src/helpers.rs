//! Small programs of the tour that this one can be, too, so that one binary is enough: started
//! again with a hidden first argument.

use std::ffi::OsString;
use std::process::ExitCode;

/// The names of the servers, for errors.
pub(crate) const SERVERS: &str = "notes";

const PLANNER: &str = "__planner";
const NOTES: &str = "__mcp-notes";

/// This program, as a child of it can start it again.
const THIS: &str = "/proc/self/exe";

/// How the project program of this name is started, where it ships with us.
pub(crate) fn program(name: &str) -> Option<(OsString, Vec<OsString>)> {
    (cfg!(feature = "helpers") && name == "planner").then(|| (THIS.into(), vec![PLANNER.into()]))
}

/// How the MCP server of this name is started, where it ships with us.
pub(crate) fn server(name: &str) -> Option<(OsString, Vec<OsString>)> {
    (cfg!(feature = "helpers") && name == SERVERS).then(|| (THIS.into(), vec![NOTES.into()]))
}

/// Is the helper that the first argument names, if it names one, and gives its exit.
pub(crate) fn run_if_helper(args: &[OsString]) -> Option<ExitCode> {
    match args.get(1)?.to_str()? {
        PLANNER => planner(&args[2..]),
        NOTES => notes(&args[2..]),
        _ => None,
    }
}

#[cfg(feature = "helpers")]
fn planner(args: &[OsString]) -> Option<ExitCode> {
    Some(planner::main_from(
        args,
        &crate::env::of_helper,
        &mut planner::Io {
            stdin: &mut std::io::stdin(),
            stdout: &mut std::io::stdout(),
            stderr: &mut std::io::stderr(),
        },
    ))
}

#[cfg(feature = "helpers")]
fn notes(args: &[OsString]) -> Option<ExitCode> {
    let file = match args {
        [flag, path] if flag == "--file" => Some(path.into()),
        _ => None,
    };
    Some(match mcp_notes::serve(file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "error: failed to {error}");
            ExitCode::FAILURE
        }
    })
}

#[cfg(not(feature = "helpers"))]
fn planner(_: &[OsString]) -> Option<ExitCode> {
    None
}

#[cfg(not(feature = "helpers"))]
fn notes(_: &[OsString]) -> Option<ExitCode> {
    None
}
