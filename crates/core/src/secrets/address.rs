//! What is secret in the addresses of a text: passwords before a host, parameters of the query and
//! of the fragment by their names and by how their values look, keys in paths.

use std::borrow::Cow;
use std::ops::Range;

use super::REDACTED;
use super::inert::is_inert;
use super::parameters::parameters;
use super::shape::{is_no_name, is_random, is_token, is_unmistakable};

/// How often an address within the value of a parameter of another is unpacked.
const MAX_NESTED: usize = 3;

/// Where all the rest of a path is the key.
const KEY_FOLLOWS: [&str; 4] = [
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/",
];

/// What ends a sentence or a bracket rather than a value.
pub(super) const TRAILING: [char; 8] = [')', ']', '}', ',', '.', '!', ':', '*'];

/// A text for showing: its addresses have no password, no secret parameter and no key in them. Any
/// other text, and any other address, is given as it is. What is given once comes out the same when
/// it is given again.
///
/// Nothing is taken out that a shell would take for more than part of a word: whoever approves a
/// command has to see what runs.
///
/// ```
/// use outfitter_core::redact_addresses;
///
/// let shown = redact_addresses("see https://me:pw@a.example/x?page=2&api_key=S3#top");
/// assert_eq!(shown, "see https://me:[redacted]@a.example/x?page=2&api_key=[redacted]#top");
/// ```
#[must_use]
pub fn redact_addresses(text: &str) -> Cow<'_, str> {
    if !may_betray(text) {
        return Cow::Borrowed(text);
    }
    settled(text, |text| spans(text, is_one_address(text), MAX_NESTED))
}

/// A text without the passwords of its addresses. Their parameters stay: for what a program prints,
/// where they may be what it was asked for.
#[must_use]
pub fn redact_passwords(text: &str) -> Cow<'_, str> {
    if !may_have_addresses(text) {
        return Cow::Borrowed(text);
    }
    settled(text, |text| {
        let mut found = Vec::new();
        passwords(text, is_one_address(text), &mut found);
        merged(found)
    })
}

/// The secrets in the addresses of a text that are nothing else wherever they stand, as they are
/// written and as they are meant.
#[must_use]
pub fn address_secrets(text: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    if !may_betray(text) {
        return secrets;
    }
    for span in spans(text, is_one_address(text), MAX_NESTED) {
        let written = &text[span.range];
        let meant = percent_decoded(written);
        for value in [written, &meant] {
            let counts = match span.ordinary {
                true => is_random(value),
                false => is_unmistakable(value),
            };
            if counts && !secrets.iter().any(|known| known == value) {
                secrets.push(value.to_owned());
            }
        }
    }
    secrets
}

/// Whether a closer look is worth its cost. Every text of every call comes by here.
fn may_betray(text: &str) -> bool {
    text.contains('=') || may_have_addresses(text)
}

fn may_have_addresses(text: &str) -> bool {
    // To look for one character costs a fraction of what it costs to look for two.
    text.contains('/') && (text.contains("//") || text.contains(r"\/\/"))
}

/// A secret in a text.
pub(super) struct Span {
    pub(super) range: Range<usize>,
    /// Whether what it is called by also names what is none.
    pub(super) ordinary: bool,
}

impl Span {
    fn new(range: Range<usize>) -> Self {
        Self {
            range,
            ordinary: false,
        }
    }
}

/// The text without the spans, looked through until there are none: what is left of one may stand
/// beside another as it did not before.
fn settled<'t>(text: &'t str, spans: impl Fn(&str) -> Vec<Span>) -> Cow<'t, str> {
    const MOST: usize = 4;
    let mut clean = Cow::Borrowed(text);
    for _ in 0..MOST {
        let found = spans(&clean);
        if found.is_empty() {
            break;
        }
        let mut shown = String::with_capacity(clean.len());
        let mut from = 0;
        for span in found {
            shown.push_str(&clean[from..span.range.start]);
            shown.push_str(REDACTED);
            from = span.range.end;
        }
        shown.push_str(&clean[from..]);
        clean = Cow::Owned(shown);
    }
    clean
}

/// All secrets of a text that may be taken out, in order, none within another.
pub(super) fn spans(text: &str, whole: bool, nested: usize) -> Vec<Span> {
    let mut found = Vec::new();
    passwords(text, whole, &mut found);
    parameters(text, whole, nested, &mut found);
    keys(text, whole, &mut found);
    found.retain(|span| is_inert(&text[span.range.clone()], whole));
    merged(found)
}

fn merged(mut found: Vec<Span>) -> Vec<Span> {
    found.sort_by_key(|span| (span.range.start, span.range.end));
    let mut merged: Vec<Span> = Vec::with_capacity(found.len());
    for span in found {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// Whether a text is an address and nothing else: then no quote and no bracket ends it.
pub(super) fn is_one_address(text: &str) -> bool {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    is_scheme(scheme) && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_scheme_byte)
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// An address in a text.
pub(super) struct Address<'t> {
    scheme: &'t str,
    /// Where what follows the slashes begins.
    pub(super) start: usize,
    /// All that follows them.
    pub(super) rest: &'t str,
}

/// The addresses of a text, also those without a scheme and those with the slashes of JSON.
pub(super) fn addresses(text: &str, whole: bool) -> impl Iterator<Item = Address<'_>> {
    let slashes = text.match_indices("//").chain(text.match_indices(r"\/\/"));
    // Of a text without a break, however many addresses there are in it.
    let mut word = 0..0;
    slashes.filter_map(move |(at, slashes)| {
        let before = &text[..at];
        let scheme = match before.strip_suffix(':') {
            Some(before) => {
                let from = before.bytes().rposition(|byte| !is_scheme_byte(byte));
                let scheme = before[from.map_or(0, |from| from + 1)..]
                    .trim_start_matches(|c: char| !c.is_ascii_alphabetic());
                is_scheme(scheme).then_some(scheme)?
            }
            None => {
                let begins = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | '=');
                (before.is_empty() || before.ends_with(begins)).then_some("")?
            }
        };
        let start = at + slashes.len();
        if !word.contains(&start) {
            let rest = &text[start..];
            let end = if whole { rest.len() } else { end_of(rest) };
            word = start..start + end;
        }
        Some(Address {
            scheme,
            start,
            rest: &text[start..word.end],
        })
    })
}

/// Where an address ends that begins a text.
pub(super) fn end_of(text: &str) -> usize {
    let ends = |(at, c): &(usize, char)| match c {
        // As JSON may write a slash and an ampersand.
        '\\' => !text[at + 1..].starts_with('/') && !text[at + 1..].starts_with("u0026"),
        '"' | '\'' | '<' | '>' | '`' => true,
        '，' | '。' | '；' | '！' | '？' | '、' | '（' | '）' | '「' | '」' | '》' | '”' => {
            true
        }
        c => c.is_whitespace() || c.is_control(),
    };
    let mut chars = text.char_indices();
    chars.find(ends).map_or(text.len(), |(at, _)| at)
}

/// Passwords, and names that are keys, before the host.
fn passwords(text: &str, whole: bool, found: &mut Vec<Span>) {
    for Address {
        scheme,
        start,
        rest,
    } in addresses(text, whole)
    {
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let authority = &rest[..end];
        match authority.rfind('@') {
            Some(at) if is_host(scheme, &authority[at + 1..], &rest[end..]) => {
                userinfo(scheme, start, &authority[..at], found);
            }
            // Those of `ssh` go on with a path behind the colon.
            None if scheme.contains("ssh") => {}
            Some(_) => {}
            None => {
                // What should have been escaped in a password ends the host instead.
                let slashed = authority.split_once(':').filter(|(user, port)| {
                    is_user(user) && !port.is_empty() && !port.bytes().all(|b| b.is_ascii_digit())
                });
                let until = rest[end..]
                    .split("//")
                    .next()
                    .and_then(|more| more.find('@'));
                if let Some(((user, port), at)) = slashed.zip(until)
                    && !port.starts_with(['$', '{', '<', '%', '*', ':'])
                    && rest[user.len() + 1..end + at] != *REDACTED
                {
                    found.push(Span::new(start + user.len() + 1..start + end + at));
                }
            }
        }
    }
}

/// Whether what stands behind an at sign, and goes on so, can be a host: no digest of an image, no
/// version of a package, and in what may be a comment no address of mail.
fn is_host(scheme: &str, text: &str, then: &str) -> bool {
    let text = text.trim_end_matches(TRAILING);
    let digest = text.split_once(':').is_some_and(|(algorithm, digest)| {
        const SHORTEST: usize = 32;
        !algorithm.is_empty()
            && algorithm.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && digest.len() >= SHORTEST
            && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let number = text.trim_start_matches(['v', '^', '~']);
    let numbers = number
        .split(['-', '+'])
        .next()
        .unwrap_or_default()
        .split('.');
    let digits = |part: &str| part.starts_with(|first: char| first.is_ascii_digit());
    let version = numbers.clone().all(digits) && numbers.count() == 3;
    let mail = scheme.is_empty() && then.is_empty();
    !digest && !version && !mail
}

/// Whether what stands before a colon is somebody's name rather than a host's.
fn is_user(name: &str) -> bool {
    !name.is_empty() && name != "localhost" && !name.contains(['.', '[', '$', '{', ','])
}

fn userinfo(scheme: &str, start: usize, info: &str, found: &mut Vec<Span>) {
    let (user, password) = match info.split_once(':') {
        // An address ended before, and something else goes on with a colon.
        Some((user, _)) if user.contains([',', '(', ')', '[', ']', '|']) => return,
        Some((user, password)) => (user, Some(password)),
        None => (info, None),
    };
    let web = scheme.to_ascii_lowercase().starts_with("http");
    let user_is_key = match password {
        // The key of an API is often the name, with nothing behind it.
        Some("") => web && !user.is_empty(),
        Some(_) => false,
        None => web && is_no_name(user),
    };
    if is_token(user) || user_is_key && !is_known(user) {
        found.push(Span::new(start..start + user.len()));
    }
    if let Some(password) = password
        && !password.is_empty()
        && !is_known(password)
    {
        found.push(Span::new(start + user.len() + 1..start + info.len()));
    }
}

/// Keys in the paths of addresses.
fn keys(text: &str, whole: bool, found: &mut Vec<Span>) {
    let mut seen = 0..0;
    for Address { start, rest, .. } in addresses(text, whole) {
        // Those within another have been looked at with it.
        if seen.contains(&start) {
            continue;
        }
        seen = start..start + rest.len();
        let path = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
        for place in KEY_FOLLOWS {
            let Some(at) = path.find(place) else { continue };
            let at = at + place.len();
            let key = path[at..].split([';', '&']).next().unwrap_or_default();
            let key = key.trim_end_matches(TRAILING);
            if !key.is_empty() && !is_shown(&path[at..]) {
                found.push(Span::new(start + at..start + at + key.len()));
            }
        }
        let mut from = start;
        for part in rest.split(['/', '?', '&', '#', '=', '@', ';', ',']) {
            let key = if whole {
                part
            } else {
                part.trim_end_matches(TRAILING)
            };
            if is_token(key) {
                found.push(Span::new(from..from + key.len()));
            }
            // Each of them is one byte.
            from += part.len() + 1;
        }
    }
}

/// Whether a value has been taken out already, whatever the sentence goes on with.
pub(super) fn is_shown(value: &str) -> bool {
    value
        .strip_prefix(REDACTED)
        .is_some_and(|rest| rest.trim_start_matches(TRAILING).is_empty())
}

/// Whether a value stands for one that is not there: taken out, or to be filled in.
pub(super) fn is_known(value: &str) -> bool {
    let word =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
    let filled_in = value
        .strip_prefix("${")
        .or_else(|| value.strip_prefix('{'))
        .and_then(|name| name.strip_suffix('}').or(Some(name)));
    let variable = value
        .strip_prefix('$')
        .is_some_and(|name| word(name) && !name.contains(|c: char| c.is_ascii_lowercase()));
    value == REDACTED
        || value == "…"
        || variable
        || filled_in.is_some_and(word)
        || value.bytes().all(|b| b == b'*')
}

/// A text with its escapes of addresses undone, as far as it is UTF-8 then.
pub(super) fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(meant) => {
                plain.push(meant);
                at += 3;
            }
            None => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    match String::from_utf8(plain) {
        Ok(plain) if plain != text => Cow::Owned(plain),
        Ok(_) | Err(_) => Cow::Borrowed(text),
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
