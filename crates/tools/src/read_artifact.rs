//! `read_artifact`: any part of what was too long to show.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    ArtifactChunk, ArtifactError, ArtifactId, Code, Outcome, Reply, Scope, Tool, ToolContext,
    ToolError, ToolSpec, canonical,
};
use outfitter_text::binary::{Content, describe, sniff};
use outfitter_text::tokens::{Fit, fits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::__private::{native_name, read_arguments};
use crate::input_schema;

/// Bytes given when no limit is asked for.
const DEFAULT_LIMIT: u64 = 16 * 1024;

/// The most bytes given at once.
const MAX_LIMIT: u64 = 64 * 1024;

/// The longest character in UTF-8.
const MAX_CHARACTER_BYTES: usize = 4;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the artifact, as a result names it.
    id: String,
    /// The byte to begin at. `next_offset` of the last answer goes on from there.
    #[serde(default)]
    offset: u64,
    /// The most bytes to give: 16384 unless told, 65536 at most.
    #[schemars(range(min = 1, max = 65_536))]
    limit: Option<u64>,
}

/// What is given. Offsets are bytes.
#[derive(Debug, Serialize)]
struct Part {
    text: String,
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    total_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<String>,
}

struct ReadArtifact {
    spec: ToolSpec,
    max_result_tokens: usize,
}

/// The tool `read_artifact`. Its own answers keep to `max_result_tokens`, so that reading an
/// artifact never makes another one.
#[must_use]
pub fn read_artifact(max_result_tokens: usize) -> Arc<dyn Tool> {
    let spec = ToolSpec {
        idempotent: true,
        keywords: ["artifact", "excerpt", "truncated", "spill", "产物", "截断"]
            .map(Into::into)
            .to_vec(),
        ..ToolSpec::new(
            native_name("read_artifact"),
            "Reads a part of an artifact of this session: a result or an output that was too long \
             to show. Use it with the id that a result names when the excerpt is not enough. Not \
             for files of the workspace: use file_read.",
            input_schema::<Args>(),
        )
    };
    Arc::new(ReadArtifact {
        spec,
        max_result_tokens,
    })
}

#[async_trait]
impl Tool for ReadArtifact {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = read_arguments(args)?;
        let id = ArtifactId::new(args.id.as_str())
            .map_err(|_| ToolError::not_found(format!("there is no artifact {:?}", args.id)))?;
        let limit = args.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        // A character that the limit cuts is given whole.
        let reach = limit + MAX_CHARACTER_BYTES as u64;
        let chunk = cx
            .artifacts
            .read(&Scope::from(&*cx.who), &cx.session, &id, args.offset, reach)
            .await
            .map_err(refused)?;
        let result = self.fitting(&chunk, args.offset, limit)?;
        Ok(Outcome::json(result).into())
    }
}

impl ReadArtifact {
    /// As much of the chunk as the model may read.
    fn fitting(&self, chunk: &ArtifactChunk, offset: u64, limit: u64) -> Result<Value, ToolError> {
        let mut limit = usize::try_from(limit).unwrap_or(usize::MAX);
        loop {
            let part = part(chunk, offset, limit);
            let result = serde_json::to_value(part).map_err(|error| {
                ToolError::internal("the part cannot be written as JSON").with_source(error)
            })?;
            let over = fits(&canonical(&result), self.max_result_tokens) == Fit::Over;
            if !over || limit <= MAX_CHARACTER_BYTES {
                return Ok(result);
            }
            limit /= 2;
        }
    }
}

/// The characters that begin within `limit` bytes of the offset.
fn part(chunk: &ArtifactChunk, offset: u64, limit: usize) -> Part {
    let bytes = &chunk.bytes;
    let total_bytes = chunk.info.size;
    if sniff(bytes) == Content::Binary {
        return Part {
            text: describe(total_bytes, &chunk.info.mime),
            offset,
            next_offset: None,
            total_bytes,
            binary: Some(true),
            mime: Some(chunk.info.mime.clone()),
        };
    }
    let start = if offset == 0 { 0 } else { boundary(bytes, 0) };
    let end = boundary(bytes, limit.max(start + 1));
    let text = String::from_utf8_lossy(&bytes[start..end]).into_owned();
    let next = offset + end as u64;
    Part {
        text,
        offset: offset + start as u64,
        next_offset: (next < total_bytes && end > start).then_some(next),
        total_bytes,
        binary: None,
        mime: None,
    }
}

/// The first place from `at` on where a character can begin. Bytes that are no UTF-8 at all are not
/// searched further than a character is long.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    let in_character = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    at + bytes[at..]
        .iter()
        .take(MAX_CHARACTER_BYTES - 1)
        .take_while(in_character)
        .count()
}

fn refused(error: ArtifactError) -> ToolError {
    match &error {
        ArtifactError::NotFound(id) => ToolError::not_found(format!("there is no artifact {id}"))
            .with_hint("use an id that a result of this session names"),
        ArtifactError::Unavailable { .. } => {
            ToolError::not_set_up("artifacts are not kept here").with_source(error)
        }
        ArtifactError::TooLarge { .. } | ArtifactError::Io { .. } => {
            ToolError::new(Code::Internal, "the artifact cannot be read").with_source(error)
        }
    }
}
