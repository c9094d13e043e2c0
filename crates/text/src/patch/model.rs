//! What a patch says.

/// A patch, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The files it changes, in its order.
    pub files: Vec<FilePatch>,
}

/// What it does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// What.
    pub change: Change,
    /// Where the patch says so: a line of the patch, from 1.
    pub line: usize,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is made.
    Create {
        /// Its path.
        path: String,
        /// Its content.
        text: String,
        /// Whether it may be run.
        executable: bool,
    },
    /// It goes.
    Delete {
        /// Its path.
        path: String,
        /// What it has to have in it, where the patch says.
        hunks: Vec<Hunk>,
    },
    /// It is changed, and perhaps renamed.
    Update {
        /// Its path.
        path: String,
        /// Its path then.
        to: Option<String>,
        /// The changes in the order of its lines.
        hunks: Vec<Hunk>,
    },
}

/// Some lines that stand together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// The first of them in the text by number, from 1; in a hunk that only adds, the line it adds
    /// behind.
    pub at: Option<u64>,
    /// Lines that stand before it, each somewhere behind the one before.
    pub anchors: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
    /// Whether it reaches the end of the text.
    pub at_end: bool,
    /// Where it begins in the patch, from 1.
    pub line: usize,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Whose it is.
    pub kind: Kind,
    /// The line without its end.
    pub text: String,
    /// Whether it ends in a line break.
    pub ends: bool,
}

/// On which side a line of a hunk stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Before and after.
    Keep,
    /// Only before.
    Remove,
    /// Only after.
    Add,
}

impl Kind {
    /// Whether it stands in the text as it is before.
    #[must_use]
    pub fn is_old(self) -> bool {
        match self {
            Self::Keep | Self::Remove => true,
            Self::Add => false,
        }
    }
}

impl Hunk {
    /// How many lines it adds.
    #[must_use]
    pub fn additions(&self) -> u64 {
        self.count(Kind::Add)
    }

    /// How many lines it removes.
    #[must_use]
    pub fn deletions(&self) -> u64 {
        self.count(Kind::Remove)
    }

    fn count(&self, kind: Kind) -> u64 {
        self.lines.iter().filter(|line| line.kind == kind).count() as u64
    }

    pub(super) fn push(&mut self, kind: Kind, text: &str) {
        self.lines.push(Line {
            kind,
            text: text.to_owned(),
            ends: true,
        });
    }

    /// Takes a line of the body. False when it is none.
    pub(super) fn take(&mut self, line: &str) -> bool {
        match line.as_bytes().first() {
            // An editor has taken the space of an empty line of context.
            None => self.push(Kind::Keep, ""),
            Some(b'\r') if line.len() == 1 => self.push(Kind::Keep, "\r"),
            Some(b' ') => self.push(Kind::Keep, &line[1..]),
            Some(b'-') => self.push(Kind::Remove, &line[1..]),
            Some(b'+') => self.push(Kind::Add, &line[1..]),
            Some(_) => return false,
        }
        true
    }

    /// Takes empty lines off the end that stand there to divide the patch, not as context.
    pub(super) fn trim(&mut self) {
        let divides = |line: &Line| line.kind == Kind::Keep && line.text.trim().is_empty();
        while self.lines.len() > 1 && self.lines.last().is_some_and(divides) {
            self.lines.pop();
        }
    }
}

/// Why a patch cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {what}")]
pub struct PatchError {
    /// The line of the patch, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl PatchError {
    pub(super) fn new(line: usize, what: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
        }
    }
}

/// The lines of a patch without their ends; what follows the last line break is one only where
/// there is something.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}
