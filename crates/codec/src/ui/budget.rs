//! How much may be shown, and what of a text may be shown at all.

use super::schema::{Diagnostic, DiagnosticCode};

/// Bytes of JSON for everything but the diagnostics. With them a schema stays below 64 KiB.
const BYTES: usize = 48 * 1024;

/// Nodes of one schema.
const NODES: usize = 128;

/// Diagnostics of one schema; those beyond it are not told.
const DIAGNOSTICS: usize = 16;

/// Bytes of a diagnostic's path, and of its message.
const DIAGNOSTIC_BYTES: usize = 240;

/// The largest bytes of JSON that stand around a node's texts, or around a cell's.
pub(super) const NODE: usize = 160;
pub(super) const CELL: usize = 64;

/// Bytes of one heading or label, of one cell, of a block of words, of a block of code.
pub(super) const LABEL_BYTES: usize = 200;
pub(super) const CELL_BYTES: usize = 1_000;
pub(super) const TEXT_BYTES: usize = 16 * 1024;
pub(super) const CODE_BYTES: usize = 32 * 1024;

/// What is left to be shown.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: usize,
    nodes: usize,
    starved: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            bytes: BYTES,
            nodes: NODES,
            starved: false,
            diagnostics: Vec::new(),
        }
    }

    /// Pays for something around texts. When it cannot, nothing more is shown.
    pub(super) fn pay(&mut self, bytes: usize) -> bool {
        match self.bytes.checked_sub(bytes) {
            Some(left) => {
                self.bytes = left;
                true
            }
            None => {
                self.bytes = 0;
                self.starved = true;
                false
            }
        }
    }

    /// Whether something was left out because all of it together is too much.
    pub(super) fn starved(&self) -> bool {
        self.starved
    }

    pub(super) fn node(&mut self) -> bool {
        match self.nodes.checked_sub(1) {
            Some(left) => {
                self.nodes = left;
                self.pay(NODE)
            }
            None => false,
        }
    }

    /// Takes as much of a text as may be shown, and says how many bytes of it are not.
    pub(super) fn block(&mut self, text: &str, most: usize) -> (String, u64) {
        let (shown, cost, omitted) = clean(text, most.min(self.bytes), Lines::Many);
        self.bytes -= cost;
        self.starved |= omitted > 0 && self.bytes < most;
        (shown, omitted)
    }

    /// Takes a short text; one that is too long ends in an ellipsis.
    pub(super) fn short(&mut self, text: &str, most: usize, lines: Lines) -> String {
        let limit = most.min(self.bytes);
        let (mut shown, mut cost, omitted) = clean(text, limit, lines);
        if omitted > 0 {
            let mark = '…';
            (shown, cost, _) = clean(text, limit.saturating_sub(mark.len_utf8()), lines);
            if limit >= mark.len_utf8() {
                shown.push(mark);
                cost += mark.len_utf8();
            }
            self.starved |= limit < most;
        }
        self.bytes -= cost;
        shown
    }

    /// A heading or a label: one line.
    pub(super) fn label(&mut self, text: &str) -> String {
        self.short(text, LABEL_BYTES, Lines::One)
    }

    pub(super) fn fault(&mut self, code: DiagnosticCode, path: &str, message: &str) {
        if self.diagnostics.len() == DIAGNOSTICS {
            return;
        }
        let (path, ..) = clean(path, DIAGNOSTIC_BYTES, Lines::One);
        let (message, ..) = clean(message, DIAGNOSTIC_BYTES, Lines::One);
        let fault = Diagnostic {
            code,
            path,
            message,
        };
        if !self.diagnostics.contains(&fault) {
            self.diagnostics.push(fault);
        }
    }
}

/// Whether a text keeps its line feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// They become blanks.
    One,
    /// They stay.
    Many,
}

/// The text without what a reader cannot see, its cost in bytes of JSON, and how many bytes did not
/// fit. Control characters drive terminals, and characters that turn or hide text make it say
/// something else than it is.
fn clean(text: &str, most: usize, lines: Lines) -> (String, usize, u64) {
    let mut out = String::with_capacity(text.len().min(most));
    let mut cost = 0;
    for (at, c) in text.char_indices() {
        let c = match c {
            '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => match lines {
                Lines::One => ' ',
                Lines::Many => '\n',
            },
            '\t' if lines == Lines::One => ' ',
            '\t' => '\t',
            c if hidden(c) => continue,
            c => c,
        };
        let bytes = match c {
            '"' | '\\' | '\n' | '\t' => 2,
            c => c.len_utf8(),
        };
        if cost + bytes > most {
            return (out, cost, (text.len() - at) as u64);
        }
        cost += bytes;
        out.push(c);
    }
    (out, cost, 0)
}

fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_a_terminal_or_turns_text_around_is_gone() {
        let hostile = "a\u{1b}[31mb\u{7}\r\n\u{202e}c\u{9b}2Jd\u{e0041}\u{2028}e\0";
        assert_eq!(clean(hostile, 100, Lines::Many).0, "a[31mb\nc2Jd\ne");
        assert_eq!(clean(hostile, 100, Lines::One).0, "a[31mb c2Jd e");
    }

    #[test]
    fn a_cut_is_between_characters_and_is_counted() {
        assert_eq!(clean("aéb", 2, Lines::One), ("a".to_owned(), 1, 3));
        assert_eq!(clean("\"\"", 3, Lines::One), ("\"".to_owned(), 2, 1));
    }
}
