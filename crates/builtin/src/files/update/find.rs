//! Where a text or an expression occurs, and what is said when it occurs too seldom or too often.

use std::ops::Range;

use memchr::memmem;
use outfitter_core::{Code, ErrorInfo, ToolError};
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::super::charset::shown;
use super::MAX_FILE_BYTES;

/// How many places an error names.
const MAX_PLACES: usize = 3;

/// How much of a line an error shows.
const MAX_LINE_CHARS: usize = 200;

/// How many places are counted where there must be one.
const MAX_COUNTED: usize = 1000;

/// How many places one operation changes at most.
const MAX_FOUND: usize = 100_000;

/// The compiled size an expression may have.
const MAX_REGEX_BYTES: usize = 4 << 20;

/// A match and what takes its place.
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) new: String,
}

/// Every place of exact text; without `all` there must be one.
pub(super) fn literal(
    text: &str,
    old: &str,
    new: &str,
    count: Count,
    at: &str,
) -> Result<Vec<Found>, ToolError> {
    let places: Vec<usize> = match count {
        Count::All => memmem::find_iter(text.as_bytes(), old.as_bytes())
            .take(MAX_FOUND + 1)
            .collect(),
        // "aa" stands in "aaa" twice: which one is meant would be a guess.
        Count::One => overlapping(text, old),
    };
    check(text, &places, count, at, || Missing::of(text, old))?;
    let mut room = Room::new(at);
    for _ in &places {
        room.take(new.len())?;
    }
    let found = places.into_iter().map(|start| Found {
        range: start..start + old.len(),
        new: new.to_owned(),
    });
    Ok(found.collect())
}

/// Every match of an expression; without `all` there must be one.
pub(super) fn expression(
    text: &str,
    pattern: &str,
    new: &str,
    count: Count,
    at: &str,
) -> Result<Vec<Found>, ToolError> {
    let regex = compile(pattern, at)?;
    let most = match count {
        Count::One => MAX_COUNTED,
        Count::All => MAX_FOUND,
    };
    let mut room = Room::new(at);
    let mut found = Vec::new();
    for captures in regex.captures_iter(text).take(most + 1) {
        let mut expanded = String::new();
        captures.expand(new, &mut expanded);
        room.take(expanded.len())?;
        if let Some(whole) = captures.get(0) {
            found.push(Found {
                range: whole.range(),
                new: expanded,
            });
        }
    }
    let places: Vec<usize> = found.iter().map(|found| found.range.start).collect();
    check(text, &places, count, at, || Missing {
        similar: Vec::new(),
        hint: "read the file again; the expression is matched against the text without line numbers",
    })?;
    Ok(found)
}

/// What may still be put into a file.
struct Room<'a> {
    bytes: u64,
    at: &'a str,
}

impl<'a> Room<'a> {
    fn new(at: &'a str) -> Self {
        Self {
            bytes: MAX_FILE_BYTES,
            at,
        }
    }

    fn take(&mut self, bytes: usize) -> Result<(), ToolError> {
        self.bytes = self.bytes.checked_sub(bytes as u64).ok_or_else(|| {
            let message = format!("what is put in has more than {MAX_FILE_BYTES} bytes");
            ToolError::from(ErrorInfo::new(Code::TooLarge, message).at(self.at))
        })?;
        Ok(())
    }
}

/// How many matches are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// Exactly one.
    One,
    /// At least one.
    All,
}

fn compile(pattern: &str, at: &str) -> Result<Regex, ToolError> {
    RegexBuilder::new(pattern)
        .multi_line(true)
        .size_limit(MAX_REGEX_BYTES)
        .build()
        .map_err(|error| ToolError::invalid(at, error.to_string()))
}

fn overlapping(text: &str, old: &str) -> Vec<usize> {
    let finder = memmem::Finder::new(old);
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut places = Vec::new();
    let mut from = 0;
    while places.len() <= MAX_COUNTED
        && let Some(at) = finder.find(&text.as_bytes()[from..])
    {
        places.push(from + at);
        from += at + step;
    }
    places
}

fn check(
    text: &str,
    places: &[usize],
    count: Count,
    at: &str,
    missing: impl FnOnce() -> Missing,
) -> Result<(), ToolError> {
    match (places.len(), count) {
        (0, _) => {
            let Missing { similar, hint } = missing();
            let message = "it does not occur in the file";
            Err(refusal(text, message, 0, &similar, at, hint))
        }
        (many, Count::All) if many > MAX_FOUND => {
            let message = format!("it occurs more than {MAX_FOUND} times in the file");
            Err(ErrorInfo::new(Code::TooLarge, message).at(at).into())
        }
        (1, _) | (_, Count::All) => Ok(()),
        (many, Count::One) => {
            let times = if many > MAX_COUNTED {
                format!("more than {MAX_COUNTED}")
            } else {
                many.to_string()
            };
            Err(refusal(
                text,
                &format!("it occurs {times} times in the file"),
                many,
                places,
                at,
                "give more of the text around it, or set all",
            ))
        }
    }
}

fn refusal(
    text: &str,
    message: &str,
    matches: usize,
    places: &[usize],
    at: &str,
    hint: &str,
) -> ToolError {
    let mut info = ErrorInfo::new(Code::Failed, message).at(at).with_hint(hint);
    let told: Vec<Value> = places
        .iter()
        .take(MAX_PLACES)
        .map(|at| place(text, *at))
        .collect();
    info.got = Some(json!({ "matches": matches, "places": told }));
    info.into()
}

fn place(text: &str, at: usize) -> Value {
    let start = text[..at].rfind('\n').map_or(0, |feed| feed + 1);
    let end = text[at..].find('\n').map_or(text.len(), |feed| at + feed);
    let line: String = text[start..end].chars().take(MAX_LINE_CHARS).collect();
    json!({
        "line": text[..start].matches('\n').count() + 1,
        "column": text[start..at].chars().count() + 1,
        "text": shown(&line),
    })
}

/// What is said of a text that does not occur.
struct Missing {
    /// Where lines begin that may be meant.
    similar: Vec<usize>,
    hint: &'static str,
}

impl Missing {
    fn of(text: &str, old: &str) -> Self {
        if old.lines().all(is_numbered) {
            return Self {
                similar: Vec::new(),
                hint: "leave out the line numbers that file_read puts in front",
            };
        }
        let similar = similar_lines(text, old);
        let hint = if similar.is_empty() {
            "read the file again and copy the text exactly, without line numbers"
        } else {
            "similar lines are listed; white space and the lines around must match exactly"
        };
        Self { similar, hint }
    }
}

/// Whether a line looks as `file_read` prints it.
fn is_numbered(line: &str) -> bool {
    line.split_once('|').is_some_and(|(number, _)| {
        let number = number.trim_start();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Lines that are the first line of `old` but for the space around it.
fn similar_lines(text: &str, old: &str) -> Vec<usize> {
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return Vec::new();
    };
    let mut places = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed == wanted || trimmed.eq_ignore_ascii_case(wanted) {
            places.push(start + line.len() - line.trim_start().len());
            if places.len() == MAX_PLACES {
                break;
            }
        }
        start += line.len();
    }
    places
}
