//! Where a value comes from.

use std::fmt;
use std::path::PathBuf;

/// A place in a file. Lines and columns count from 1; columns count characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column } = self;
        write!(f, "{}:{line}:{column}", file.display())
    }
}

/// Where the value of a key comes from. The order of the variants is the order of precedence, the
/// strongest last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nobody said anything.
    Default,
    /// It follows from something else, which the text names.
    Found(String),
    /// The configuration file.
    File(Position),
    /// A name from another system.
    Alias(String),
    /// `OUTFITTER_SECTION__KEY`.
    Variable(String),
    /// A flag of the command line.
    Flag(String),
}

impl Source {
    /// How strong it is; the stronger one wins.
    #[must_use]
    pub fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::Found(_) => 1,
            Self::File(_) => 2,
            Self::Alias(_) => 3,
            Self::Variable(_) => 4,
            Self::Flag(_) => 5,
        }
    }

    /// The order in which people read of it: by strength, in a file from top to bottom.
    pub(crate) fn order(&self) -> (u8, usize, usize) {
        match self {
            Self::File(position) => (self.rank(), position.line, position.column),
            _ => (self.rank(), 0, 0),
        }
    }

    /// The kind, for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Found(_) => "found",
            Self::File(_) => "file",
            Self::Alias(_) => "alias",
            Self::Variable(_) => "variable",
            Self::Flag(_) => "flag",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(position) => position.fmt(f),
            Self::Found(name) | Self::Alias(name) | Self::Variable(name) | Self::Flag(name) => {
                f.write_str(name)
            }
        }
    }
}
