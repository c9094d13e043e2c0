//! Words and their quotes.

use super::parser::Parser;
use super::redirection::is_operator;
use super::{Unparsable, Word, WordKind};

impl Parser<'_> {
    /// A word, where one comes next.
    pub(super) fn word(&mut self) -> Result<Option<Word>, Unparsable> {
        let start = self.at;
        let (mut text, mut kind) = (String::new(), WordKind::Literal);
        let (mut brace, mut any) = (false, false);
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' => break,
                b'<' | b'>' if self.text.as_bytes().get(self.at + 1) == Some(&b'(') => {
                    self.at += 2;
                    self.substituted()?;
                    text.push_str("<()");
                    kind = WordKind::Dynamic;
                }
                byte if is_operator(byte) => break,
                b'\\' => {
                    self.at += 1;
                    match self.text[self.at..].chars().next() {
                        Some(c) => self.take(c, &mut text),
                        None => return Err(self.fault("it ends with a backslash")),
                    }
                }
                b'\'' => self.single(&mut text)?,
                b'"' => self.double(&mut text, &mut kind)?,
                b'$' => self.dollar(false, &mut text, &mut kind)?,
                b'`' => self.backquoted(false, &mut kind)?,
                0 => return Err(self.fault("it holds a zero byte")),
                _ => {
                    match byte {
                        b'*' | b'?' | b'[' => kind = kind.max(WordKind::Pattern),
                        b'~' if self.at == start => kind = kind.max(WordKind::Pattern),
                        b'{' => brace = true,
                        b',' if brace => kind = WordKind::Dynamic,
                        b'.' if brace && text.ends_with('.') => kind = WordKind::Dynamic,
                        _ => {}
                    }
                    if let Some(c) = self.text[self.at..].chars().next() {
                        self.take(c, &mut text);
                    }
                }
            }
            any = true;
        }
        Ok(any.then_some(Word { text, kind }))
    }

    fn take(&mut self, c: char, text: &mut String) {
        self.at += c.len_utf8();
        text.push(c);
    }

    /// A quoted text must not go on in the next line while a here-document waits there.
    fn in_quotes(&self, piece: &str) -> Result<(), Unparsable> {
        if !self.waiting.is_empty() && piece.contains('\n') {
            return Err(self.fault("a here-document waits while a text in quotes goes on"));
        }
        if piece.contains('\0') {
            return Err(self.fault("it holds a zero byte"));
        }
        Ok(())
    }

    fn single(&mut self, text: &mut String) -> Result<(), Unparsable> {
        self.at += 1;
        let rest = &self.text[self.at..];
        let len = rest
            .find('\'')
            .ok_or_else(|| self.fault("a quote is not closed"))?;
        self.in_quotes(&rest[..len])?;
        text.push_str(&rest[..len]);
        self.at += len + 1;
        Ok(())
    }

    pub(super) fn double(
        &mut self,
        text: &mut String,
        kind: &mut WordKind,
    ) -> Result<(), Unparsable> {
        self.at += 1;
        loop {
            let Some(byte) = self.peek() else {
                return Err(self.fault("a quote is not closed"));
            };
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'$' => self.dollar(true, text, kind)?,
                b'`' => self.backquoted(true, kind)?,
                b'\\' => {
                    self.at += 1;
                    match self.text[self.at..].chars().next() {
                        Some(c @ ('$' | '`' | '"' | '\\')) => self.take(c, text),
                        Some(_) => text.push('\\'),
                        None => return Err(self.fault("a quote is not closed")),
                    }
                }
                _ => {
                    let c = self.text[self.at..].chars().next().unwrap_or('\0');
                    self.in_quotes(c.encode_utf8(&mut [0; 4]))?;
                    self.take(c, text);
                }
            }
        }
    }
}
