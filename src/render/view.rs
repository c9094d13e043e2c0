//! How a run is shown.

use super::Face;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What a person wants to follow.
    Calm,
    /// Also arguments and results, as they are.
    Full,
}

/// When the answer is written to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Word by word, with all else that the model says: for a terminal.
    Streamed,
    /// Once, alone, when it is known to be the answer: for a pipe or a file. What the model says
    /// before goes to stderr.
    AtEnd,
}

/// Whether the run happens now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It does; the person who watches wrote the prompt.
    Live,
    /// It is told again.
    Replay,
}

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// How stdout looks.
    pub stdout: Face,
    /// How stderr looks.
    pub stderr: Face,
    /// How much is shown.
    pub detail: Detail,
    /// When the answer is written.
    pub answer: Answer,
    /// Whether it happens now.
    pub kind: Kind,
}

impl View {
    /// The usual view of a run that happens now.
    #[must_use]
    pub fn live(stdout: Face, stderr: Face, detail: Detail) -> Self {
        let answer = if stdout.terminal {
            Answer::Streamed
        } else {
            Answer::AtEnd
        };
        Self {
            stdout,
            stderr,
            detail,
            answer,
            kind: Kind::Live,
        }
    }

    /// The usual view of a run that is told again: all of it is data.
    #[must_use]
    pub fn replay(stdout: Face, detail: Detail) -> Self {
        Self {
            stdout,
            stderr: stdout,
            detail,
            answer: Answer::Streamed,
            kind: Kind::Replay,
        }
    }

    /// Whether what is beside the point is shown: to a person who watches, or asks for it.
    pub(super) fn watched(&self) -> bool {
        self.stderr.terminal || self.detail == Detail::Full || self.kind == Kind::Replay
    }
}
