//! `sed`: a script is known where it is one of the common forms, and nothing else is.

use super::Word;

/// Whether a script may run a program: it is not one that is known.
pub(super) fn runs_programs(args: &[Word]) -> bool {
    scripts(args).is_none_or(|all| !all.iter().all(|script| known(script)))
}

/// Whether it writes no file.
pub(super) fn reads_only(args: &[Word]) -> bool {
    let in_place = |word: &Word| {
        let text = word.text.as_str();
        let long = text.starts_with("--i") || text.starts_with("--file");
        long || text.starts_with('-') && !text.starts_with("--") && text.contains('i')
    };
    !runs_programs(args) && !args.iter().any(in_place)
}

fn scripts(args: &[Word]) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut first = None;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if !word.is_literal() {
            // Before the script it could be one.
            if found.is_empty() && first.is_none() {
                return None;
            }
            continue;
        }
        match text {
            "-e" | "-ne" | "-nE" | "-Ee" | "-ie" if text.ends_with('e') => {
                let script = words.next().filter(|script| script.is_literal())?;
                found.push(script.text.as_str());
            }
            "-n" | "-E" | "-r" | "-nE" | "-En" | "-nr" | "-i" | "-z" | "-s" | "-u" | "--" => {}
            "--quiet" | "--silent" | "--posix" | "--in-place" | "--regexp-extended" => {}
            _ if text.starts_with("-i") => {}
            _ if text.starts_with('-') => return None,
            _ => {
                first.get_or_insert(text);
            }
        }
    }
    if found.is_empty() {
        found.push(first?);
    }
    Some(found)
}

/// Parts of the form `ADDRESS p`, `ADDRESS d`, `ADDRESS q`, `ADDRESS s/…/…/flags`.
fn known(script: &str) -> bool {
    let mut rest = script.trim();
    while !rest.is_empty() {
        let Some(after) = one(rest) else {
            return false;
        };
        rest = after.trim_start();
        match rest.chars().next() {
            None => return true,
            Some(';' | '\n') => rest = rest[1..].trim_start(),
            Some(_) => return false,
        }
    }
    true
}

fn one(text: &str) -> Option<&str> {
    let mut rest = address(text)?;
    if let Some(second) = rest.strip_prefix(',') {
        rest = address(second)?;
    }
    rest = rest.trim_start_matches(['!', ' ']);
    let command = rest.chars().next()?;
    let after = &rest[command.len_utf8()..];
    match command {
        'p' | 'd' | 'q' | '=' | 'h' | 'H' | 'g' | 'G' | 'n' | 'N' | 'x' | 'D' | 'P' => Some(after),
        's' => {
            let mark = after
                .chars()
                .next()
                .filter(|mark| mark.is_ascii_punctuation() && *mark != '\\')?;
            let found = up_to(&after[1..], mark)?;
            let rest = up_to(found, mark)?;
            Some(
                rest.trim_start_matches(|flag: char| {
                    "gpIi".contains(flag) || flag.is_ascii_digit()
                }),
            )
        }
        _ => None,
    }
}

fn address(text: &str) -> Option<&str> {
    match text.chars().next()? {
        '$' => Some(&text[1..]),
        '/' => up_to(&text[1..], '/'),
        first if first.is_ascii_digit() => {
            Some(text.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        _ => Some(text),
    }
}

/// Past the next `mark` that no backslash stands before.
fn up_to(text: &str, mark: char) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            '\n' => return None,
            c if c == mark => return Some(&text[at + c.len_utf8()..]),
            _ => {}
        }
    }
    None
}
