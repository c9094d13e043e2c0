//! A unified diff as lines.

use super::budget::{Budget, CELL, CELL_BYTES, Lines};
use super::schema::{DiffLine, DiffOp};

/// Lines of one diff.
const LINES: usize = 400;

/// The lines that are shown, and how many are not.
pub(super) fn lines(text: &str, budget: &mut Budget) -> (Vec<DiffLine>, u64) {
    let mut reader = Reader::default();
    let mut lines = Vec::new();
    let mut rest = text.lines();
    while lines.len() < LINES {
        let Some(line) = rest.next() else {
            return (lines, 0);
        };
        if !budget.pay(CELL) {
            return (lines, 1 + rest.count() as u64);
        }
        let (op, text) = reader.line(line);
        let text = budget.short(text, CELL_BYTES, Lines::Many);
        if budget.starved() {
            return (lines, 1 + rest.count() as u64);
        }
        lines.push(DiffLine { op, text });
    }
    (lines, rest.count() as u64)
}

/// What is left of the hunk, so that a removed `-- x` is not taken for the name of a file.
#[derive(Default)]
struct Reader {
    before: u64,
    after: u64,
}

impl Reader {
    fn line<'a>(&mut self, line: &'a str) -> (DiffOp, &'a str) {
        if self.before == 0 && self.after == 0 {
            let Some((before, after)) = hunk(line) else {
                return (DiffOp::Meta, line);
            };
            (self.before, self.after) = (before, after);
            return (DiffOp::Hunk, line);
        }
        if let Some(text) = line.strip_prefix('+') {
            self.after = self.after.saturating_sub(1);
            (DiffOp::Add, text)
        } else if let Some(text) = line.strip_prefix('-') {
            self.before = self.before.saturating_sub(1);
            (DiffOp::Remove, text)
        } else if line.starts_with('\\') {
            (DiffOp::Meta, line)
        } else {
            self.before = self.before.saturating_sub(1);
            self.after = self.after.saturating_sub(1);
            (DiffOp::Context, line.strip_prefix(' ').unwrap_or(line))
        }
    }
}

/// How many lines of before and of after come: `@@ -3,7 +3,8 @@`.
fn hunk(line: &str) -> Option<(u64, u64)> {
    let mut words = line.strip_prefix("@@ -")?.split(' ');
    let before = words.next()?;
    let after = words.next()?.strip_prefix('+')?;
    Some((length(before)?, length(after)?))
}

fn length(range: &str) -> Option<u64> {
    match range.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => Some(1),
    }
}
