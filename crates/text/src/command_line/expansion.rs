//! What a shell puts in place of something: parameters, substitutions, arithmetic.

use super::parser::{Parser, read};
use super::{Unparsable, WordKind, variables};

impl Parser<'_> {
    /// What begins with a dollar sign. `quoted`: between double quotes or in a here-document.
    pub(super) fn dollar(
        &mut self,
        quoted: bool,
        text: &mut String,
        kind: &mut WordKind,
    ) -> Result<(), Unparsable> {
        self.at += 1;
        text.push('$');
        if self.text.as_bytes()[self.at..].starts_with(b"\\\n") {
            return Err(self.fault("a line goes on after a dollar sign"));
        }
        match self.raw() {
            Some(b'(') => {
                *kind = WordKind::Dynamic;
                if self.text[self.at..].starts_with("((") {
                    return self.deeper(Self::arithmetic);
                }
                self.at += 1;
                self.substituted()
            }
            Some(b'{') => {
                *kind = WordKind::Dynamic;
                self.deeper(|parser| parser.parameter(quoted))
            }
            Some(b'\'' | b'"') if !quoted => {
                // To one shell it is a quote of its own, to the other a dollar sign before one.
                *kind = WordKind::Dynamic;
                let rest = &self.text[self.at..];
                let quote = &rest[..1];
                let len = rest[1..].find(quote).unwrap_or(rest.len() - 1);
                if rest[1..=len].contains('\\') {
                    return Err(self.fault("shells differ on a quote after a dollar sign"));
                }
                Ok(())
            }
            Some(b'[') => Err(self.fault("shells differ on `$[`")),
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                *kind = WordKind::Dynamic;
                while let Some(byte) = self
                    .raw()
                    .filter(|b| b.is_ascii_alphanumeric() || *b == b'_')
                {
                    text.push(char::from(byte));
                    self.at += 1;
                }
                Ok(())
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                *kind = WordKind::Dynamic;
                text.push(char::from(byte));
                self.at += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `$(( … ))`: the inner bracket must close just before the outer one, else shells differ.
    fn arithmetic(&mut self) -> Result<(), Unparsable> {
        self.at += 2;
        let (mut open, start) = (2_usize, self.at);
        loop {
            let Some(byte) = self.peek() else {
                return Err(self.fault("an arithmetic expression is not closed"));
            };
            match byte {
                b'(' => open += 1,
                b')' if open == 2 => {
                    self.at += 1;
                    return match self.raw() {
                        Some(b')') => {
                            let expression = self.text[start..self.at].to_owned();
                            self.at += 1;
                            self.sets(variables::set_in(&expression))?;
                            // What a variable holds is an expression again, which may run commands.
                            if variables::names(&expression).next().is_some() {
                                self.evaluates()?;
                            }
                            Ok(())
                        }
                        _ => Err(self.fault("shells differ on what begins with `$((`")),
                    };
                }
                b')' => open -= 1,
                b'$' => {
                    let (mut text, mut kind) = (String::new(), WordKind::Literal);
                    self.dollar(true, &mut text, &mut kind)?;
                    continue;
                }
                b'`' => {
                    self.backquoted(false, &mut WordKind::Literal)?;
                    continue;
                }
                byte if byte.is_ascii_alphanumeric()
                    || b" \t_+-*/%<>=!&|^~?:,#".contains(&byte) => {}
                _ => return Err(self.fault("an arithmetic expression cannot be read")),
            }
            self.at += 1;
        }
    }

    /// `${ … }`.
    fn parameter(&mut self, quoted: bool) -> Result<(), Unparsable> {
        self.at += 1;
        let start = self.at;
        let (mut text, mut kind) = (String::new(), WordKind::Literal);
        loop {
            let Some(byte) = self.peek() else {
                return Err(self.fault("a parameter is not closed"));
            };
            match byte {
                b'}' => {
                    let written = self.text[start..self.at].replace("\\\n", "");
                    self.at += 1;
                    return self.of_parameter(&written);
                }
                b'@' if !text.is_empty() && !text.ends_with('[') => {
                    return Err(self.fault("shells differ on `@` in a parameter"));
                }
                b'\'' | b'"' if quoted => {
                    return Err(self.fault("shells differ on quotes in a parameter in quotes"));
                }
                b'\'' => {
                    let rest = &self.text[self.at + 1..];
                    let len = rest
                        .find('\'')
                        .ok_or_else(|| self.fault("a quote is not closed"))?;
                    self.at += len + 2;
                }
                b'"' => self.double(&mut text, &mut kind)?,
                b'$' => self.dollar(quoted, &mut text, &mut kind)?,
                b'`' => self.backquoted(quoted, &mut kind)?,
                b'<' | b'>' if self.text.as_bytes().get(self.at + 1) == Some(&b'(') => {
                    return Err(self.fault("shells differ on a substitution in a parameter"));
                }
                b'{' if !text.is_empty() => {
                    return Err(self.fault("a brace stands in a parameter"));
                }
                b'\\' => {
                    self.at += 1;
                    let next = self.text[self.at..].chars().next();
                    self.at += next.map_or(0, char::len_utf8);
                    text.push('\\');
                }
                b'\n' if !self.waiting.is_empty() => {
                    return Err(self.fault("a here-document waits while a parameter goes on"));
                }
                _ => {
                    if let Some(c) = self.text[self.at..].chars().next() {
                        self.at += c.len_utf8();
                        text.push(c);
                    }
                }
            }
        }
    }

    /// What a parameter sets, and whether it evaluates the value of another.
    fn of_parameter(&mut self, written: &str) -> Result<(), Unparsable> {
        let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let rest = written.trim_start_matches(named);
        let name = &written[..written.len() - rest.len()];
        let sets = rest.starts_with('=') || rest.starts_with(":=");
        if sets && variables::matters(name) {
            self.sets(vec![variables::set(name)])?;
        }
        let part = rest.strip_prefix(':');
        let slice = part.is_some_and(|part| {
            !part.starts_with(['-', '=', '+', '?'])
                && !part
                    .trim()
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b':')
        });
        let indirect = name.is_empty() && rest.len() > 1 && rest.starts_with('!');
        if slice || indirect || rest.starts_with('[') {
            self.evaluates()?;
        }
        Ok(())
    }

    /// `` `…` ``: a text within the text, with one layer of backslashes taken off.
    pub(super) fn backquoted(
        &mut self,
        quoted: bool,
        kind: &mut WordKind,
    ) -> Result<(), Unparsable> {
        *kind = WordKind::Dynamic;
        self.at += 1;
        let mut inner = String::new();
        loop {
            let Some(c) = self.text[self.at..].chars().next() else {
                return Err(self.fault("a backquote is not closed"));
            };
            self.at += c.len_utf8();
            match c {
                '`' => break,
                '\\' => match self.text[self.at..].chars().next() {
                    Some(next @ ('`' | '\\' | '$')) => {
                        self.at += 1;
                        inner.push(next);
                    }
                    Some('"') if quoted => {
                        self.at += 1;
                        inner.push('"');
                    }
                    _ => inner.push('\\'),
                },
                _ => inner.push(c),
            }
        }
        if !self.waiting.is_empty() && inner.contains('\n') {
            return Err(self.fault("a here-document waits while a substitution goes on"));
        }
        self.deeper(|parser| read(&inner, parser.depth, parser.budget, parser.out))
    }
}
