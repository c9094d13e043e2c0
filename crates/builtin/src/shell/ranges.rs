//! The output of a job that has ended.

use std::time::Duration;

use outfitter_core::{JobId, Offset, OutputChunk, SandboxError, ToolContext};

use super::RANGE_BYTES;

/// It, range by range.
pub(super) struct Ranges<'a> {
    pub(super) cx: &'a ToolContext,
    pub(super) job: &'a JobId,
    /// The first byte of the next range; none behind the last.
    pub(super) from: Option<Offset>,
}

impl Ranges<'_> {
    /// The next range and where it begins.
    pub(super) async fn next(&mut self) -> Result<Option<(Offset, OutputChunk)>, SandboxError> {
        let Some(from) = self.from else {
            return Ok(None);
        };
        let chunk = self
            .cx
            .sandbox
            .output(self.job, from, RANGE_BYTES, Duration::ZERO)
            .await?;
        let last = chunk.ended || chunk.next == from;
        self.from = (!last).then_some(chunk.next);
        Ok(Some((from, chunk)))
    }
}
