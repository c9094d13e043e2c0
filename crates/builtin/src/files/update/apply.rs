//! All operations, or none.

use std::ops::Range;

use outfitter_core::ToolError;

use super::Operation;
use super::draft::{Draft, Edit};
use super::find::{self, Count, Found};
use crate::files::endings::{Ending, View};

/// What the operations made of a text.
pub(super) struct Applied {
    pub(super) text: String,
    pub(super) replacements: u64,
}

/// Applies operations in order. A replacement sees what the earlier ones left; lines are always
/// those of the text as it came, and may not be touched twice.
pub(super) fn apply(original: &str, operations: &[Operation]) -> Result<Applied, ToolError> {
    let lines = LineStarts::of(original);
    let mut draft = Draft::of(original);
    let mut replacements = 0;
    for (index, operation) in operations.iter().enumerate() {
        let text = draft.text();
        let edits = match operation {
            Operation::Replace { old, new, all } => {
                let at = format!("/operations/{index}/old");
                if old.is_empty() {
                    return Err(ToolError::invalid(at, "there is nothing to look for"));
                }
                if old == new {
                    return Err(ToolError::invalid(at, "old and new are the same"));
                }
                let view = View::of(&text);
                let old = old.replace("\r\n", "\n");
                let found = find::literal(&view.text, &old, new, count(*all), &at)?;
                to_edits(&text, &view, found)
            }
            Operation::Regex { pattern, new, all } => {
                let at = format!("/operations/{index}/pattern");
                let view = View::of(&text);
                let found = find::expression(&view.text, pattern, new, count(*all), &at)?;
                to_edits(&text, &view, found)
            }
            Operation::Lines { start, end, new } => {
                let at = format!("/operations/{index}");
                let part = lines.part(*start, *end, &at)?;
                let new = line_text(original, &part, new);
                let range = draft.locate(&part).ok_or_else(|| {
                    ToolError::invalid(
                        at,
                        "an earlier operation of this call has already changed these lines",
                    )
                    .with_hint("change them in one operation, or in a second call")
                })?;
                vec![Edit { range, new }]
            }
        };
        replacements += edits.len() as u64;
        draft.edit(edits);
    }
    Ok(Applied {
        text: draft.text(),
        replacements,
    })
}

fn count(all: bool) -> Count {
    if all { Count::All } else { Count::One }
}

fn to_edits(text: &str, view: &View<'_>, found: Vec<Found>) -> Vec<Edit> {
    found
        .into_iter()
        .map(|Found { range, new }| {
            let range = view.real(range);
            let new = Ending::around(text, &range).write(&new);
            Edit { range, new }
        })
        .collect()
}

/// What stands in place of whole lines: it ends in a line break where they did.
fn line_text(original: &str, part: &Range<usize>, new: &str) -> String {
    if new.is_empty() {
        return String::new();
    }
    let ending = Ending::around(original, part);
    let mut text = ending.write(new);
    let at_end = part.end == original.len();
    let unfinished_before = part.start > 0 && !original[..part.start].ends_with('\n');
    if unfinished_before {
        // Put behind a last line that has no line break.
        text.insert_str(0, ending.as_str());
        return text;
    }
    let ends_in_break = !at_end || original[part.clone()].ends_with('\n') || part.is_empty();
    if ends_in_break && !text.ends_with('\n') {
        text.push_str(ending.as_str());
    }
    text
}

/// Where the lines of a text begin.
struct LineStarts {
    starts: Vec<usize>,
    length: usize,
}

impl LineStarts {
    fn of(text: &str) -> Self {
        let mut starts = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            starts.push(at);
            at += line.len();
        }
        Self {
            starts,
            length: text.len(),
        }
    }

    /// The part from line `start` to line `end`; nothing before `start` when `end` is one less.
    fn part(&self, start: u64, end: u64, at: &str) -> Result<Range<usize>, ToolError> {
        let total = self.starts.len() as u64;
        if start == 0 {
            return Err(ToolError::invalid(
                format!("{at}/start"),
                "lines are counted from 1",
            ));
        }
        if end < start - 1 {
            return Err(ToolError::invalid(
                format!("{at}/end"),
                format!(
                    "end {end} lies before start {start}; to insert before a line give end = start - 1"
                ),
            ));
        }
        let refuse = |field: &str, line: u64| {
            ToolError::invalid(
                format!("{at}/{field}"),
                format!("line {line} does not exist: the file has {total} lines"),
            )
        };
        if start > total + 1 || (start > total && end >= start) {
            return Err(refuse("start", start));
        }
        if end > total {
            return Err(refuse("end", end));
        }
        Ok(self.begin_of(start)..self.begin_of(end + 1))
    }

    fn begin_of(&self, line: u64) -> usize {
        usize::try_from(line - 1)
            .ok()
            .and_then(|index| self.starts.get(index).copied())
            .unwrap_or(self.length)
    }
}
