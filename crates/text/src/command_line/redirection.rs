//! Redirections.

use super::parser::{Parser, Waiting};
use super::{Flow, Redirection, Unparsable, Word, WordKind};

/// Whether a byte ends a word.
pub(super) fn is_operator(byte: u8) -> bool {
    matches!(byte, b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

impl Parser<'_> {
    /// A redirection, where one comes next.
    pub(super) fn redirection(&mut self) -> Result<Option<Redirection>, Unparsable> {
        let start = self.at;
        self.peek();
        let rest = &self.text.as_bytes()[self.at..];
        if rest.starts_with(b"&>") {
            return self.both().map(Some);
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        match rest.get(digits) {
            Some(b'<' | b'>') => self.at += digits,
            _ => return Ok(None),
        }
        if self.text[self.at..].starts_with("<(") || self.text[self.at..].starts_with(">(") {
            // A substitution, which is a word.
            self.at = start;
            return Ok(None);
        }
        let flow = if self.eat("<<<") {
            Flow::Here
        } else if self.eat("<<-") {
            return self.here(true).map(Some);
        } else if self.eat("<<") {
            return self.here(false).map(Some);
        } else if self.eat("<&") || self.eat(">&") {
            Flow::Duplicate
        } else if self.eat("<>") || self.eat(">>") || self.eat(">|") || self.eat(">") {
            Flow::Write
        } else if self.eat("<") {
            Flow::Read
        } else {
            return Err(self.fault("a redirection cannot be read"));
        };
        let target = self.target()?;
        let stream = target.is_literal()
            && (target.text == "-"
                || target
                    .text
                    .trim_end_matches('-')
                    .bytes()
                    .all(|byte| byte.is_ascii_digit())
                    && !target.text.is_empty());
        let flow = match flow {
            Flow::Duplicate if !stream => Flow::Write,
            other => other,
        };
        Ok(Some(Redirection { flow, target }))
    }

    /// `&>`: to the one shell both streams, to the other the end of a command. It is the same only
    /// where nothing follows.
    fn both(&mut self) -> Result<Redirection, Unparsable> {
        if !self.eat("&>>") {
            self.eat("&>");
        }
        let target = self.target()?;
        self.blank();
        match self.raw() {
            None | Some(b';' | b'\n' | b')') => Ok(Redirection {
                flow: Flow::Write,
                target,
            }),
            Some(_) => Err(self.fault("shells differ on `&>` before more words")),
        }
    }

    fn target(&mut self) -> Result<Word, Unparsable> {
        self.blank();
        self.word()?
            .ok_or_else(|| self.fault("a redirection has no target"))
    }

    fn here(&mut self, tabs: bool) -> Result<Redirection, Unparsable> {
        self.blank();
        let start = self.at;
        let word = self.target()?;
        let written = &self.text[start..self.at];
        if word.kind == WordKind::Dynamic {
            return Err(self.fault("where a here-document ends is not plain"));
        }
        self.waiting.push(Waiting {
            end: word.text.clone(),
            expands: !written.contains(['\'', '"', '\\']),
            tabs,
        });
        Ok(Redirection {
            flow: Flow::Here,
            target: word,
        })
    }
}
