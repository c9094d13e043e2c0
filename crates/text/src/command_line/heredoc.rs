//! The texts of here-documents.

use super::parser::Parser;
use super::{Unparsable, WordKind};

impl Parser<'_> {
    /// Past the texts of all here-documents that were announced on the line that has ended.
    pub(super) fn bodies(&mut self) -> Result<(), Unparsable> {
        for waiting in std::mem::take(&mut self.waiting) {
            let start = self.at;
            let end = loop {
                let rest = &self.text[self.at..];
                if rest.is_empty() {
                    break self.at;
                }
                let line = rest.split('\n').next().unwrap_or(rest);
                let plain = if waiting.tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                let here = self.at;
                self.at = (self.at + line.len() + 1).min(self.text.len());
                if plain == waiting.end {
                    break here;
                }
                if waiting.expands && line.ends_with('\\') {
                    return Err(Unparsable {
                        at: here,
                        why: "a line of a here-document goes on in the next",
                    });
                }
            };
            if waiting.expands {
                let after = self.at;
                self.body_of(start, end)?;
                self.at = after;
            }
        }
        Ok(())
    }

    /// What is expanded in a text.
    fn body_of(&mut self, start: usize, end: usize) -> Result<(), Unparsable> {
        self.spend(end - start)?;
        self.at = start;
        let (mut ignored, mut kind) = (String::new(), WordKind::Literal);
        while self.at < end {
            match self.raw() {
                Some(b'\\') => self.at += 2,
                Some(b'$') => self.dollar(true, &mut ignored, &mut kind)?,
                Some(b'`') => self.backquoted(false, &mut kind)?,
                _ => self.at += 1,
            }
            while self.at < end && !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
        }
        if self.at > end {
            return Err(self.fault("what a here-document expands goes beyond it"));
        }
        Ok(())
    }
}
