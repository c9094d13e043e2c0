//! Programs that run the rest of their arguments.

use super::{Word, WordKind};

/// How a program is told what to run.
pub(super) struct Wrapper {
    /// Options without a value, one letter each.
    pub(super) flags: &'static str,
    /// Options with a value, one letter each.
    pub(super) values: &'static str,
    /// Words before the command.
    pub(super) operands: usize,
}

/// Variables that change no more than how something is shown.
pub(super) const HARMLESS_VARIABLES: &[&str] = &[
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "TZ",
    "NO_COLOR",
    "CLICOLOR",
    "COLUMNS",
    "LINES",
    "TERM",
    "CI",
    "RUST_BACKTRACE",
    "GIT_TERMINAL_PROMPT",
];

const LONG_FLAGS: &[&str] = &[
    "--foreground",
    "--preserve-status",
    "--verbose",
    "--null",
    "--no-run-if-empty",
    "--ignore-environment",
    "--portability",
];

pub(super) fn wrapper(name: &str) -> Option<Wrapper> {
    let (flags, values, operands) = match name {
        "nice" => ("", "n", 0),
        "timeout" => ("v", "ks", 1),
        "nohup" | "builtin" | "busybox" | "toybox" => ("", "", 0),
        "setsid" => ("cfw", "", 0),
        "time" => ("pvq", "fo", 0),
        "command" => ("pvV", "", 0),
        "exec" => ("cl", "a", 0),
        "stdbuf" => ("", "ioe", 0),
        "ionice" => ("t", "cn", 0),
        "chrt" => ("bfior", "", 1),
        "taskset" => ("", "", 1),
        "sudo" => ("AbEHnPSk", "ugCpDRT", 0),
        "doas" => ("n", "uC", 0),
        "chroot" => ("", "", 1),
        "unshare" => ("muinpUrCf", "", 0),
        "strace" | "ltrace" => ("fqtTy", "eops", 0),
        "flock" => ("sxnuo", "wE", 1),
        _ => return None,
    };
    Some(Wrapper {
        flags,
        values,
        operands,
    })
}

impl Wrapper {
    /// Where the command begins; none where it cannot be told.
    pub(super) fn command(&self, args: &[Word]) -> Option<usize> {
        let mut at = 0;
        while let Some(word) = args.get(at) {
            let text = word.text.as_str();
            if word.kind != WordKind::Literal {
                return None;
            }
            if text == "--" {
                at += 1;
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                let (name, _) = long.split_once('=').unwrap_or((long, ""));
                let runs = [
                    "command",
                    "split-string",
                    "session-command",
                    "exec",
                    "replace",
                ];
                let may_run = runs.iter().any(|option| option.starts_with(name));
                if may_run || !long.contains('=') && !LONG_FLAGS.contains(&text) {
                    return None;
                }
                at += 1;
            } else if text.starts_with('-') && text.len() > 1 {
                at += self.cluster(&text[1..])?;
            } else {
                break;
            }
        }
        let start = at + self.operands;
        args.get(at..start)?;
        Some(start)
    }

    /// How many words a cluster of short options takes.
    fn cluster(&self, letters: &str) -> Option<usize> {
        for (place, letter) in letters.char_indices() {
            if self.values.contains(letter) {
                let attached = place + letter.len_utf8() < letters.len();
                return Some(if attached { 1 } else { 2 });
            }
            // `nice -5`
            if !self.flags.contains(letter) && !letter.is_ascii_digit() {
                return None;
            }
        }
        Some(1)
    }
}

/// Whether a variable changes no more than how something is shown.
#[must_use]
pub fn is_harmless_variable(name: &str) -> bool {
    HARMLESS_VARIABLES.contains(&name)
}
