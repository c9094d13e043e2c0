//! A command line, read as a shell reads it: every simple command in it, also those inside
//! substitutions, compound commands and the programs that run other programs.
//!
//! * [`parse`]: a line to its [`CommandLine`], or [`Unparsable`].
//! * [`Reading`]: whether a line only reads, and whether it stays below where it runs.
//! * [`reads_of`]: what one that only reads opens, where nothing holds it.
//!
//! The grammar is that of the POSIX shell (XCU 2) with what bash adds where it is common. `/bin/sh`
//! is one shell here and another there: what the two read differently is refused rather than
//! guessed. The work is linear in the text ([`MAX_STEPS_PER_BYTE`]), nesting is bounded
//! ([`MAX_DEPTH`]), and no text makes it panic.
//!
//! What stands in a line is a help for people. It is no wall: a program does what it does, and the
//! sandbox is what holds it.

mod expansion;
mod find;
mod git;
mod heredoc;
mod inside;
mod parser;
mod quote;
mod read_only;
mod redirection;
mod sed;
mod tries;
mod unheld;
mod variables;
mod words;
mod wrappers;

#[cfg(test)]
mod tests;

pub use parser::parse;
pub use quote::quoted;
pub use read_only::Reading;
pub use unheld::{MAX_READS, reads_of};
pub use wrappers::is_harmless_variable;

/// The longest line that is read, in bytes.
pub const MAX_BYTES: usize = 400_000;

/// How deep what is in a line may nest.
pub const MAX_DEPTH: usize = 48;

/// The most commands in a line.
pub const MAX_COMMANDS: usize = 4096;

/// How often a byte of the line is looked at, at most: texts within texts are read again.
pub const MAX_STEPS_PER_BYTE: usize = 24;

/// Why a line could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the command line at byte {at}: {why}")]
pub struct Unparsable {
    /// Where, in bytes; in a text within the line, there.
    pub at: usize,
    /// Why, one fragment.
    pub why: &'static str,
}

/// A line: every simple command in it, in the order of their beginnings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandLine {
    /// The commands.
    pub commands: Vec<Command>,
    /// How many bytes were looked at.
    pub steps: usize,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// The program and its arguments. Empty where there is only an assignment or a redirection.
    pub words: Vec<Word>,
    /// `NAME=value` before the program.
    pub assignments: Vec<Assignment>,
    /// Where its streams go.
    pub redirections: Vec<Redirection>,
    /// Why it may do more than can be seen: it runs what is not in the line.
    pub opaque: Option<&'static str>,
}

impl Command {
    /// The program as it is written, where that is plain.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let first = self.words.first()?;
        (first.kind == WordKind::Literal).then_some(first.text.as_str())
    }
}

/// One word, without its quotes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// The text; in place of what is expanded stands what was written.
    pub text: String,
    /// Whether the text is what the program gets.
    pub kind: WordKind,
}

impl Word {
    /// A word that is just this.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            kind: WordKind::Literal,
        }
    }

    /// Whether the program gets just this text.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.kind == WordKind::Literal
    }
}

/// Whether a word is what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum WordKind {
    /// It is.
    #[default]
    Literal,
    /// The names of files that fit it.
    Pattern,
    /// Anything, and perhaps several words or none.
    Dynamic,
}

/// `NAME=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Word,
}

/// Where a stream goes to or comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Which way.
    pub flow: Flow,
    /// The file, or the number of the other stream.
    pub target: Word,
}

/// Which way a redirection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// From a file.
    Read,
    /// Into a file.
    Write,
    /// To or from another stream.
    Duplicate,
    /// From the line itself.
    Here,
}

impl Redirection {
    /// Whether it may change a file.
    #[must_use]
    pub fn writes(&self) -> bool {
        let nowhere = self.target.is_literal() && self.target.text == "/dev/null";
        self.flow == Flow::Write && !nowhere
    }
}
