//! Expressions, by precedence climbing. The depth is bounded, so no expression overflows a stack.

use outfitter_core::ToolError;

use super::number::{self, Operation, Result as Computed};

/// How deep parentheses, signs and powers may nest.
const MAX_DEPTH: u32 = 64;

/// How tightly a sign binds: tighter than a product, looser than a power, so that -2^2 is -4.
const SIGN: u8 = 5;

pub(super) fn evaluate(expression: &str) -> Result<Computed, ToolError> {
    let mut reader = Reader {
        text: expression,
        at: 0,
    };
    reader.skip_space();
    if reader.rest().is_empty() {
        return Err(broken("nothing to compute"));
    }
    let value = reader.sum(0, 0)?;
    reader.skip_space();
    if reader.rest().is_empty() {
        Ok(value)
    } else {
        Err(reader.unexpected())
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    /// Everything from here that binds at least as tightly as `least`.
    fn sum(&mut self, least: u8, depth: u32) -> Result<Computed, ToolError> {
        let mut left = self.operand(depth)?;
        while let Some((operation, length, binds, right_binds)) = self.operator() {
            if binds < least {
                break;
            }
            self.at += length;
            let right = self.sum(right_binds, depth + 1)?;
            left = left.apply(operation, right)?;
        }
        Ok(left)
    }

    fn operand(&mut self, depth: u32) -> Result<Computed, ToolError> {
        if depth > MAX_DEPTH {
            return Err(broken(format!("it nests deeper than {MAX_DEPTH} levels")));
        }
        self.skip_space();
        match self.rest().chars().next() {
            None => Err(broken("the expression ends where a number is expected")),
            Some('(') => {
                self.at += 1;
                let inner = self.sum(0, depth + 1)?;
                self.skip_space();
                if !self.rest().starts_with(')') {
                    if self.rest().is_empty() {
                        return Err(broken("a closing parenthesis is missing"));
                    }
                    return Err(self.unexpected());
                }
                self.at += 1;
                Ok(inner)
            }
            Some(sign @ ('+' | '-' | '−')) => {
                self.at += sign.len_utf8();
                let operand = self.sum(SIGN, depth + 1)?;
                Ok(if sign == '+' {
                    operand
                } else {
                    operand.negated()
                })
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(_) => Err(self.unexpected()),
        }
    }

    fn number(&mut self) -> Result<Computed, ToolError> {
        let rest = self.rest().as_bytes();
        let digits = |from: usize| {
            rest[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let mut length = digits(0);
        if rest.get(length) == Some(&b'.') {
            length += 1 + digits(length + 1);
        }
        if let Some(b'e' | b'E') = rest.get(length) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        let text = &self.rest()[..length];
        let value = number::read(text).map_err(broken)?;
        self.at += length;
        Ok(Computed::exact(value))
    }

    /// The operator here, its length, how tightly it binds, and how tightly what follows must.
    fn operator(&mut self) -> Option<(Operation, usize, u8, u8)> {
        self.skip_space();
        let rest = self.rest();
        if rest.starts_with("**") {
            return Some((Operation::Power, 2, 7, SIGN));
        }
        let sign = rest.chars().next()?;
        let (operation, binds, right_binds) = match sign {
            '+' => (Operation::Add, 1, 2),
            '-' | '−' => (Operation::Subtract, 1, 2),
            '*' | '×' => (Operation::Multiply, 3, 4),
            '/' | '÷' => (Operation::Divide, 3, 4),
            '%' => (Operation::Modulo, 3, 4),
            // To the right: 2^3^2 is 2^9.
            '^' => (Operation::Power, 7, SIGN),
            _ => return None,
        };
        Some((operation, sign.len_utf8(), binds, right_binds))
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn unexpected(&self) -> ToolError {
        let shown: String = self.rest().chars().take(1).collect();
        let position = self.text[..self.at].chars().count() + 1;
        broken(format!(
            "{shown:?} at character {position} is not expected there"
        ))
    }
}

fn broken(message: impl Into<String>) -> ToolError {
    ToolError::invalid("/expression", message)
}
