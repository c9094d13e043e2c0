//! A command line as the system takes it that runs it.

use outfitter_core::CommandLine;

/// For the shell of the sandbox, `/bin/sh -c`.
#[cfg(not(windows))]
pub(super) fn form(line: &str) -> CommandLine {
    CommandLine::Shell(line.to_owned())
}

/// For the command interpreter of Windows.
#[cfg(windows)]
pub(super) fn form(line: &str) -> CommandLine {
    unverified_windows(line)
}

/// What it would be on Windows. UNVERIFIED: Outfitter runs on Linux only and has never run there; what
/// would hold a command there does not exist.
///
/// `/d` leaves out what the registry would run first, and `/s` takes the line as it stands between
/// the outer quotes.
#[cfg(any(windows, test))]
fn unverified_windows(line: &str) -> CommandLine {
    let words = ["cmd.exe", "/d", "/s", "/c"].map(str::to_owned);
    let quoted = format!("\"{line}\"");
    CommandLine::Program(words.into_iter().chain([quoted]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn here_a_line_is_for_the_shell_of_the_sandbox() {
        assert_eq!(form("ls | wc"), CommandLine::Shell("ls | wc".to_owned()));
    }

    #[test]
    fn the_form_of_windows_is_written_and_named_unverified() {
        let words = ["cmd.exe", "/d", "/s", "/c", "\"dir \"a b\"\""].map(str::to_owned);
        let program = CommandLine::Program(words.to_vec());
        assert_eq!(unverified_windows("dir \"a b\""), program);
    }
}
