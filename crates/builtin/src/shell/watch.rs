//! Looking for a pattern in what a job prints, from its first byte on.

use std::time::Duration;

use outfitter_core::{JobId, Offset, OutputChunk, SandboxError, Stream, ToolContext, ToolError};
use outfitter_text::stream_pattern::{StreamMatch, StreamPattern};

use super::RANGE_BYTES;
use super::tail::Tails;

/// A pattern as the call gave it.
pub(super) fn compile(pattern: &str) -> Result<StreamPattern, ToolError> {
    StreamPattern::new(pattern).map_err(|error| ToolError::invalid("/pattern", error.to_string()))
}

/// Looks in each of the two streams for itself, so that the one does not come between the words of
/// the other. It keeps nothing of them.
pub(super) struct Watch<'p> {
    stdout: StreamMatch<'p>,
    stderr: StreamMatch<'p>,
    /// Up to where it has looked.
    at: Offset,
    /// For a backend without ranges.
    tails: Tails,
}

impl<'p> Watch<'p> {
    pub(super) fn new(pattern: &'p StreamPattern) -> Self {
        Self {
            stdout: pattern.stream(),
            stderr: pattern.stream(),
            at: Offset(0),
            tails: Tails::default(),
        }
    }

    /// Looks at what was printed before `to`, which others may have been shown already.
    pub(super) async fn catch_up(
        &mut self,
        cx: &ToolContext,
        job: &JobId,
        to: Offset,
    ) -> Result<(), SandboxError> {
        while self.at < to && !self.has_matched() && !cx.cancel.is_cancelled() {
            let left = usize::try_from(to.0 - self.at.0).unwrap_or(usize::MAX);
            let most = left.min(RANGE_BYTES);
            let chunk = cx
                .sandbox
                .output(job, self.at, most, Duration::ZERO)
                .await?;
            let next = chunk.next;
            self.take(self.at, &chunk);
            if next == self.at && chunk.pieces.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Looks at a chunk that was read from `from` on, if it is the next.
    pub(super) fn take(&mut self, from: Offset, chunk: &OutputChunk) {
        if from == self.at {
            for (stream, bytes) in &chunk.pieces {
                self.push(*stream, bytes);
            }
            self.at = chunk.next;
        }
    }

    /// Looks at what a look at the end of the output has that the one before had not.
    pub(super) fn take_tail(&mut self, look: &OutputChunk) {
        for (stream, new) in self.tails.take(look).pieces {
            self.push(stream, &new);
        }
    }

    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stdout => self.stdout.push(bytes),
            Stream::Stderr => self.stderr.push(bytes),
            Stream::Info => {}
        }
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self) {
        self.stdout.end();
        self.stderr.end();
    }

    pub(super) fn has_matched(&self) -> bool {
        self.stdout.has_matched() || self.stderr.has_matched()
    }
}
