//! Pieces of text on their way to a reader, and the space between blocks.

/// Which stream a piece is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// stdout.
    Data,
    /// stderr.
    People,
}

/// A piece of text, ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where.
    pub to: To,
    /// What.
    pub text: String,
}

/// What stands above what is written next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Above {
    Nothing,
    /// Text of the model or a person; its line may still be open.
    Text(To, Line),
    /// Lines about calls.
    Calls,
    /// A line about the run.
    Note,
}

/// Whether a line has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    Open,
    Ended,
}

/// Collects pieces; those for one stream that follow each other are one.
#[derive(Debug)]
pub(super) struct Pieces {
    pieces: Vec<Piece>,
    above: Above,
    streams: Streams,
}

/// Whether there are two streams or all is data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Streams {
    Apart,
    Together,
}

impl Pieces {
    /// Pieces for both streams.
    pub(super) fn apart() -> Self {
        Self {
            pieces: Vec::new(),
            above: Above::Nothing,
            streams: Streams::Apart,
        }
    }

    /// Pieces for stdout only, whomever they are meant for.
    pub(super) fn together() -> Self {
        Self {
            streams: Streams::Together,
            ..Self::apart()
        }
    }

    pub(super) fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }

    pub(super) fn push(&mut self, to: To, text: &str) {
        if text.is_empty() {
            return;
        }
        let to = match self.streams {
            Streams::Apart => to,
            Streams::Together => To::Data,
        };
        match self.pieces.last_mut() {
            Some(last) if last.to == to => last.text.push_str(text),
            _ => self.pieces.push(Piece {
                to,
                text: text.to_owned(),
            }),
        }
    }

    /// Ends an open line and leaves a line free where another sort of thing begins.
    pub(super) fn begin(&mut self, next: Above) {
        self.end_line();
        let free = match (self.above, next) {
            (Above::Nothing, _) | (Above::Calls, Above::Calls) | (Above::Note, Above::Note) => {
                false
            }
            (Above::Text(..) | Above::Calls | Above::Note, _) => true,
        };
        if free {
            self.push(To::People, "\n");
        }
        self.above = next;
    }

    /// Ends the line that text left open.
    pub(super) fn end_line(&mut self) {
        if let Above::Text(to, Line::Open) = self.above {
            self.push(to, "\n");
            self.above = Above::Text(to, Line::Ended);
        }
    }

    /// Says that the line now written is open.
    pub(super) fn leave_open(&mut self, to: To) {
        self.above = Above::Text(to, Line::Open);
    }
}
