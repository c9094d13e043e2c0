//! Variables that a line sets without an assignment before a program.

use super::wrappers::is_harmless_variable;
use super::{Assignment, Command, Word, WordKind};

/// Whether setting a variable may change what programs do. Shells and programs keep theirs in
/// capitals, apart from a few; others are names of the line's own.
pub(super) fn matters(name: &str) -> bool {
    let own = name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let known = ["path", "cdpath", "fpath", "histchars", "auto_resume"].contains(&name)
        || name.ends_with("_proxy");
    !is_harmless_variable(name) && (!own || known)
}

/// Stands for a name that is not known.
const ANY: &str = "?";

/// A variable of this name gets a value that is not known.
pub(super) fn set(name: &str) -> Assignment {
    Assignment {
        name: name.to_owned(),
        value: Word {
            text: String::new(),
            kind: WordKind::Dynamic,
        },
    }
}

/// The variables that matter which a builtin of the shell sets.
pub(super) fn set_by(command: &Command) -> Vec<Assignment> {
    let args = command.words.get(1..).unwrap_or(&[]);
    // A name that is not plain may be any.
    let text = |word: &Word| {
        let name = word.text.split('=').next().unwrap_or("");
        if word.kind == WordKind::Dynamic && (name.is_empty() || name.contains(['$', '{'])) {
            ANY.to_owned()
        } else {
            word.text.clone()
        }
    };
    let names: Vec<String> = match command.program() {
        Some(
            "read" | "getopts" | "mapfile" | "readarray" | "export" | "readonly" | "declare"
            | "typeset" | "local" | "unset",
        ) => args.iter().map(text).collect(),
        Some("printf") => args
            .iter()
            .zip(args.iter().skip(1))
            .filter_map(|(option, name)| {
                let attached = option.text.strip_prefix("-v")?;
                Some(if attached.is_empty() {
                    text(name)
                } else {
                    attached.to_owned()
                })
            })
            .collect(),
        _ => Vec::new(),
    };
    let plain = names.iter().map(|name| {
        let name = name.split(['=', '[']).next().unwrap_or(name);
        name.strip_suffix('+').unwrap_or(name)
    });
    plain
        .filter(|name| {
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            *name == ANY || begins && matters(name)
        })
        .map(set)
        .collect()
}

/// The names in an arithmetic expression that matter, where it sets something.
pub(super) fn set_in(expression: &str) -> Vec<Assignment> {
    let compares = ["==", "!=", "<=", ">="];
    let rest = compares
        .iter()
        // `<<=` and `>>=` set, and their last two characters look like these.
        .fold(
            expression.replace("<<=", "=").replace(">>=", "="),
            |text, compare| text.replace(compare, " "),
        );
    if !rest.contains('=') && !rest.contains("++") && !rest.contains("--") {
        return Vec::new();
    }
    names(expression)
        .filter(|name| matters(name))
        .map(set)
        .collect()
}

/// The names in an arithmetic expression.
pub(super) fn names(expression: &str) -> impl Iterator<Item = &str> {
    expression
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}
