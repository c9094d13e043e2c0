//! Secrets among the parameters of addresses.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::address::{
    Span, TRAILING, addresses, end_of, is_known, is_one_address, is_shown, percent_decoded, spans,
};
use super::names::{is_ordinary_parameter, is_secret_parameter};
use super::shape::is_token;

/// The longest name of a parameter, in bytes.
const MAX_NAME: usize = 64;

/// The longest path of a reference without a scheme, in bytes.
const MAX_PATH: usize = 2048;

/// Parameters whose names or values betray a secret. They are looked for in addresses only: in a
/// command, or in a program, what looks like one is an assignment.
pub(super) fn parameters(text: &str, whole: bool, nested: usize, found: &mut Vec<Span>) {
    if !text.contains('=') {
        return;
    }
    let variables = variables(text);
    for word in words(text, whole) {
        of_word(text, word, whole, nested, &variables, found);
    }
}

fn of_word(
    text: &str,
    word: Range<usize>,
    whole: bool,
    nested: usize,
    variables: &HashSet<&str>,
    found: &mut Vec<Span>,
) {
    let address = &text[word.clone()];
    let path = address.find(['?', '#']).unwrap_or(address.len());
    // The value of a parameter, which may be an address with parameters of its own.
    let mut outer = 0..0;
    for (at, _) in address.match_indices('=') {
        let Some(Name { mark, from, name }) = name_before(address, at) else {
            continue;
        };
        let of_path = mark == b';' && from < path;
        let of_query = match mark {
            // As HTML writes an ampersand.
            b';' => from > path && address[..from].ends_with("&amp"),
            _ => from >= path,
        };
        if !of_path && !of_query {
            continue;
        }
        let start = at + 1;
        let stops: &[char] = match of_path {
            // A parameter of a path ends with its part of the path.
            true => &['&', '#', ';', '?', '/'],
            false => &['&', '#', ';'],
        };
        let within = !of_path && outer.contains(&start);
        let rest = match within {
            true => &address[start..outer.end],
            false => &address[start..],
        };
        let mut value = &rest[..rest.find(stops).unwrap_or(rest.len())];
        value = value.split(r"\u0026").next().unwrap_or_default();
        if !within && !of_path {
            outer = start..start + value.len();
        }
        if !whole && !is_shown(value) {
            value = value.trim_end_matches(TRAILING);
        }
        if value.is_empty() || is_known(value) || is_shown(value) || variables.contains(name) {
            continue;
        }
        let name = percent_decoded(name);
        let secret = is_secret_parameter(&name);
        if secret || is_token(value) || !within && holds_an_address(value, nested) {
            found.push(Span {
                range: word.start + start..word.start + start + value.len(),
                ordinary: !secret || is_ordinary_parameter(&name),
            });
        }
    }
}

/// The names that a text uses as those of variables: what it gives one of them is no parameter.
fn variables(text: &str) -> HashSet<&str> {
    let dollars = text.match_indices('$');
    dollars
        .filter_map(|(at, _)| {
            let rest = text[at + 1..].trim_start_matches(['{', '!', '#', '(']);
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
            (!name.is_empty()).then_some(name)
        })
        .collect()
}

/// The addresses of a text from behind their slashes, and its references without a scheme, each
/// once and none within another.
fn words(text: &str, whole: bool) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for address in addresses(text, whole) {
        if words.last().is_none_or(|last| last.end <= address.start) {
            words.push(address.start..address.start + address.rest.len());
        }
    }
    let mut references = Vec::new();
    let mut ahead = words.iter().peekable();
    let mut until = 0;
    for (at, _) in text.match_indices('?') {
        while ahead.next_if(|word| word.end <= at).is_some() {}
        let known = ahead.peek().is_some_and(|word| word.contains(&at));
        if known || at < until {
            continue;
        }
        if let Some(from) = reference_before(text, at) {
            let end = at + end_of(&text[at..]);
            until = end;
            references.push(from..end);
        }
    }
    words.extend(references);
    words
}

/// Where a reference begins that has its query here: a path, or a host with one.
fn reference_before(text: &str, at: usize) -> Option<usize> {
    let is_path = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'/' | b'.' | b'_' | b'~' | b'%' | b'-' | b'+' | b'@' | b':' | b',' | b'\\'
            )
    };
    let bytes = &text.as_bytes()[..at];
    let least = at.saturating_sub(MAX_PATH);
    let from = match bytes[least..].iter().rposition(|byte| !is_path(*byte)) {
        Some(before) => least + before + 1,
        None if least == 0 => 0,
        None => return None,
    };
    let path = &text[from..at];
    let begins = match from.checked_sub(1).map(|before| bytes[before]) {
        None => true,
        Some(before) => {
            before.is_ascii_whitespace()
                || matches!(before, b'"' | b'\'' | b'(' | b'=' | b'<' | b'[')
        }
    };
    let host = || {
        let (host, _) = path.split_once('/').unwrap_or((path, ""));
        host.contains('.') && host.starts_with(|first: char| first.is_ascii_alphanumeric())
    };
    (begins && (path.starts_with(['/', '.']) || path.starts_with(r"\/") || host())).then_some(from)
}

/// The name of a parameter.
struct Name<'t> {
    /// What stands before it.
    mark: u8,
    /// Where that is.
    from: usize,
    name: &'t str,
}

/// The name before an equals sign, where it is that of a parameter.
fn name_before(text: &str, at: usize) -> Option<Name<'_>> {
    let is_name = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'-' | b'.' | b'[' | b']' | b'%' | b'$' | b'~' | b'+'
            )
    };
    let bytes = &text.as_bytes()[..at];
    let least = at.saturating_sub(MAX_NAME + 1);
    let from = least + bytes[least..].iter().rposition(|byte| !is_name(*byte))?;
    let name = &text[from + 1..at];
    let name = match bytes[from] {
        b'?' | b'&' | b'#' | b';' => name,
        // As JSON may write an ampersand.
        b'\\' => name.strip_prefix("u0026")?,
        _ => return None,
    };
    (!name.is_empty()).then_some(Name {
        mark: bytes[from],
        from,
        name,
    })
}

/// Whether a value, unpacked, has an address with a secret in it.
fn holds_an_address(value: &str, nested: usize) -> bool {
    let Some(nested) = nested.checked_sub(1) else {
        return false;
    };
    match percent_decoded(value) {
        Cow::Borrowed(_) => false,
        Cow::Owned(meant) => {
            !spans(&meant, is_one_address(&meant), nested).is_empty()
                || holds_an_address(&meant, nested)
        }
    }
}
