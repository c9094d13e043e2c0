//! One reading of a file, piece by piece.

use std::ops::ControlFlow;

use outfitter_core::{Code, FileChunk, FileRef, Range, ToolContext, ToolError};

use super::CHUNK_BYTES;
use super::error::tool_error;

/// A file that has grown by more than this since the reading began is left there.
pub(super) const MAX_GROWTH_BYTES: u64 = 64 << 20;

/// The first piece of a file.
pub(super) const FIRST: Range = Range {
    from: 0,
    max: CHUNK_BYTES,
};

/// How far a reading came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// To the end of the file.
    Through,
    /// To where who reads it has enough.
    Enough,
    /// To where it began to chase a file that grows.
    Behind,
}

/// Gives the pieces of a file in order, the one that was read already among them. `take` is also
/// told how large the file is by then.
pub(super) async fn each_chunk(
    cx: &ToolContext,
    file: FileRef<'_>,
    first: FileChunk,
    mut take: impl FnMut(&[u8], u64) -> ControlFlow<()> + Send,
) -> Result<Came, ToolError> {
    let furthest = first.size.saturating_add(MAX_GROWTH_BYTES);
    let mut chunk = first;
    let mut from = 0;
    loop {
        from += chunk.bytes.len() as u64;
        let flow = take(&chunk.bytes, chunk.size);
        if chunk.bytes.is_empty() || from >= chunk.size {
            return Ok(Came::Through);
        }
        if flow.is_break() {
            return Ok(Came::Enough);
        }
        if from >= furthest {
            return Ok(Came::Behind);
        }
        if cx.cancel.is_cancelled() {
            return Err(ToolError::new(Code::Cancelled, "reading was stopped"));
        }
        let next = Range {
            from,
            max: CHUNK_BYTES,
        };
        let read = cx.sandbox.files().read(file, next).await;
        chunk = read.map_err(tool_error)?;
    }
}
