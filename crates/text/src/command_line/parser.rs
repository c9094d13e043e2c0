//! The grammar: lists, compound commands, simple commands.

mod simple;

use super::redirection::is_operator;
use super::{
    Assignment, Command, CommandLine, MAX_BYTES, MAX_COMMANDS, MAX_DEPTH, MAX_STEPS_PER_BYTE,
    Unparsable, Word, WordKind, inside, variables,
};

/// Reads a line.
///
/// # Errors
/// [`Unparsable`] where a shell would refuse it, where shells differ, or where it is over a bound.
pub fn parse(line: &str) -> Result<CommandLine, Unparsable> {
    if line.len() > MAX_BYTES {
        return Err(Unparsable {
            at: MAX_BYTES,
            why: "it is too long",
        });
    }
    let mut budget = Budget {
        steps: 0,
        most: line.len() * MAX_STEPS_PER_BYTE + 4096,
        commands: 0,
    };
    let mut commands = Vec::new();
    read(line, 0, &mut budget, &mut commands)?;
    Ok(CommandLine {
        commands,
        steps: budget.steps,
    })
}

/// What is left to spend on a line and all texts in it.
pub(super) struct Budget {
    pub(super) steps: usize,
    pub(super) most: usize,
    pub(super) commands: usize,
}

/// Reads a text within the line, `depth` deep.
pub(super) fn read(
    text: &str,
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<Command>,
) -> Result<(), Unparsable> {
    let mut parser = Parser {
        text,
        at: 0,
        depth,
        budget,
        out,
        waiting: Vec::new(),
    };
    parser.spend(text.len() + 1)?;
    parser.list(&[])?;
    parser.blank();
    if parser.at < text.len() {
        return Err(parser.fault("something closes that was not opened"));
    }
    parser.bodies()
}

/// A here-document whose text comes after the line.
pub(super) struct Waiting {
    pub(super) end: String,
    /// Whether what stands in it is expanded.
    pub(super) expands: bool,
    pub(super) tabs: bool,
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) budget: &'a mut Budget,
    pub(super) out: &'a mut Vec<Command>,
    pub(super) waiting: Vec<Waiting>,
}

/// What a list goes up to: these words, where a command could begin.
type Ends<'a> = &'a [&'static str];

impl Parser<'_> {
    pub(super) fn fault(&self, why: &'static str) -> Unparsable {
        Unparsable { at: self.at, why }
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Unparsable> {
        self.budget.steps += steps;
        if self.budget.steps > self.budget.most {
            return Err(self.fault("texts stand in texts too often"));
        }
        Ok(())
    }

    pub(super) fn deeper<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Unparsable>,
    ) -> Result<T, Unparsable> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault("it is nested too deep"));
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// The next byte, as it is.
    pub(super) fn raw(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte; a line that goes on in the next is one line.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while self.text.as_bytes()[self.at..].starts_with(b"\\\n") {
            self.at += 2;
        }
        self.raw()
    }

    /// Whether this comes next, and then past it.
    pub(super) fn eat(&mut self, what: &str) -> bool {
        self.peek();
        let next = self.text.as_bytes()[self.at..].starts_with(what.as_bytes());
        if next {
            self.at += what.len();
        }
        next
    }

    pub(super) fn expect(&mut self, what: &str, why: &'static str) -> Result<(), Unparsable> {
        if self.eat(what) {
            Ok(())
        } else {
            Err(self.fault(why))
        }
    }

    /// Past spaces and comments.
    pub(super) fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if self.raw() == Some(b'#') {
            let rest = &self.text[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Past spaces, comments and ends of lines.
    fn lines(&mut self) -> Result<(), Unparsable> {
        loop {
            self.blank();
            if self.raw() != Some(b'\n') {
                return Ok(());
            }
            self.at += 1;
            self.bodies()?;
        }
    }

    /// The word that comes next, where it is written plainly; it is not taken.
    fn plain(&mut self) -> &str {
        self.peek();
        let rest = &self.text.as_bytes()[self.at..];
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_{}![]".contains(byte);
        let len = rest.iter().take_while(|byte| plain(byte)).count();
        let ends = rest
            .get(len)
            .is_none_or(|byte| is_operator(*byte) || byte.is_ascii_whitespace());
        // A line that goes on inside a word: the word is another than the one that is seen.
        if ends {
            &self.text[self.at..self.at + len]
        } else {
            ""
        }
    }

    fn at_end(&mut self, ends: Ends<'_>) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => {
                self.text[self.at..].starts_with(";;") || self.text[self.at..].starts_with(";&")
            }
            Some(_) => {
                let word = self.plain();
                !word.is_empty() && ends.contains(&word)
            }
        }
    }

    /// Commands up to one of `ends`, a closing bracket, or the end of the text.
    fn list(&mut self, ends: Ends<'_>) -> Result<usize, Unparsable> {
        self.deeper(|parser| parser.list_here(ends))
    }

    fn list_here(&mut self, ends: Ends<'_>) -> Result<usize, Unparsable> {
        let mut commands = 0;
        loop {
            self.lines()?;
            if self.at_end(ends) {
                return Ok(commands);
            }
            self.pipeline()?;
            commands += 1;
            self.blank();
            match self.raw() {
                None | Some(b')' | b'\n') => {}
                Some(b';') if self.at_end(ends) => {}
                Some(b';') => self.at += 1,
                Some(b'&') if self.eat("&&") => self.another(ends)?,
                Some(b'&') => self.at += 1,
                Some(b'|') if self.eat("||") || self.eat("|&") || self.eat("|") => {
                    self.another(ends)?;
                }
                Some(_) if self.at_end(ends) => {}
                Some(_) => return Err(self.fault("a command goes on where it cannot")),
            }
        }
    }

    /// After `&&`, `||` and `|` a command must come.
    fn another(&mut self, ends: Ends<'_>) -> Result<(), Unparsable> {
        self.lines()?;
        if self.at_end(ends) {
            return Err(self.fault("a command is missing"));
        }
        Ok(())
    }

    fn pipeline(&mut self) -> Result<(), Unparsable> {
        while self.plain() == "!" {
            self.at += 1;
            self.blank();
        }
        self.command()
    }

    fn command(&mut self) -> Result<(), Unparsable> {
        if self.raw() == Some(b'(') {
            if self.text[self.at..].starts_with("((") {
                return Err(self.fault("shells differ on `((`"));
            }
            self.at += 1;
            self.some(&[])?;
            self.expect(")", "a `(` is not closed")?;
            return self.streams();
        }
        match self.plain() {
            "{" => {
                self.at += 1;
                self.some(&["}"])?;
                self.word_of("}")?;
            }
            "if" => self.branches()?,
            "while" | "until" => {
                self.at += 5;
                self.some(&["do"])?;
                self.body()?;
            }
            "for" | "select" => self.each()?,
            "case" => self.case()?,
            "function" => return self.function(),
            "coproc" => return Err(self.fault("shells differ on `coproc`")),
            "then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}" | "in" => {
                return match self.plain() {
                    "in" => self.simple(),
                    _ => Err(self.fault("a word of the shell stands where it cannot")),
                };
            }
            _ => return self.simple(),
        }
        self.streams()
    }

    /// A list with at least one command.
    fn some(&mut self, ends: Ends<'_>) -> Result<(), Unparsable> {
        if self.list(ends)? == 0 {
            return Err(self.fault("a command is missing"));
        }
        Ok(())
    }

    fn word_of(&mut self, word: &'static str) -> Result<(), Unparsable> {
        self.lines()?;
        if self.plain() != word {
            return Err(self.fault("a compound command is not ended"));
        }
        self.at += word.len();
        Ok(())
    }

    fn branches(&mut self) -> Result<(), Unparsable> {
        self.at += 2;
        loop {
            self.some(&["then"])?;
            self.word_of("then")?;
            self.some(&["elif", "else", "fi"])?;
            match self.plain() {
                "elif" => self.at += 4,
                "else" => {
                    self.at += 4;
                    self.some(&["fi"])?;
                    return self.word_of("fi");
                }
                _ => return self.word_of("fi"),
            }
        }
    }

    fn body(&mut self) -> Result<(), Unparsable> {
        self.word_of("do")?;
        self.some(&["done"])?;
        self.word_of("done")
    }

    fn each(&mut self) -> Result<(), Unparsable> {
        self.at += self.plain().len();
        self.blank();
        let name = self
            .word()?
            .ok_or_else(|| self.fault("a loop has no name"))?;
        if !name.is_literal() || variables::matters(&name.text) {
            self.sets(vec![variables::set(&name.text)])?;
        }
        self.lines()?;
        if self.plain() == "in" {
            self.at += 2;
            loop {
                self.blank();
                if self.word()?.is_none() {
                    break;
                }
            }
        }
        self.blank();
        self.eat(";");
        self.body()
    }

    fn case(&mut self) -> Result<(), Unparsable> {
        self.at += 4;
        self.blank();
        self.word()?
            .ok_or_else(|| self.fault("a case has no word"))?;
        self.word_of("in")?;
        loop {
            self.lines()?;
            if self.plain() == "esac" {
                return self.word_of("esac");
            }
            self.eat("(");
            loop {
                self.blank();
                self.word()?
                    .ok_or_else(|| self.fault("a case has no pattern"))?;
                self.blank();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")", "a pattern of a case is not ended")?;
            self.list(&["esac"])?;
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) {
                return self.word_of("esac");
            }
        }
    }

    fn function(&mut self) -> Result<(), Unparsable> {
        self.at += 8;
        self.blank();
        self.word()?
            .ok_or_else(|| self.fault("a function has no name"))?;
        self.blank();
        if self.eat("(") {
            self.blank();
            self.expect(")", "a function's brackets are not closed")?;
        }
        self.of_function()
    }

    fn of_function(&mut self) -> Result<(), Unparsable> {
        self.lines()?;
        if self.peek().is_none() {
            return Err(self.fault("a function has no body"));
        }
        self.deeper(Self::command)
    }
}

fn assignment(written: &str, word: &Word) -> Option<Assignment> {
    let (name, _) = written.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut bytes = name.bytes();
    let begins = bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if !begins || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    let (_, value) = word.text.split_once('=')?;
    Some(Assignment {
        name: name.to_owned(),
        value: Word {
            text: value.to_owned(),
            kind: word.kind,
        },
    })
}
