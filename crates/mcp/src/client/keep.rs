//! What is no text and no picture that goes along is kept as artifacts: sound, blobs of resources,
//! pictures too large to show.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use outfitter_core::{
    ArtifactError, ArtifactId, Bytes, NewArtifact, Scope, ToolContext, redact_addresses,
};
use serde_json::Value;

use super::content::MAX_IMAGE_BYTES;

/// How many blocks of one result are kept.
const MAX_KEPT: usize = 32;

/// The longest name that is kept.
const MAX_NAME_CHARS: usize = 200;

/// What became of blocks that were to be kept, by their place in the result.
pub(crate) type Kept = BTreeMap<usize, Fate>;

/// What became of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept(ArtifactId),
    /// The store failed, which is in the log.
    NotKept,
}

impl Fate {
    pub(crate) fn id(&self) -> Option<&ArtifactId> {
        match self {
            Self::Kept(id) => Some(id),
            Self::NotKept => None,
        }
    }
}

/// Keeps what has to be. What cannot be is left where it is, for the result to say so.
pub(crate) async fn keep(cx: &ToolContext, result: &Value) -> Kept {
    let mut kept = Kept::new();
    let blocks = result["content"].as_array().into_iter().flatten();
    for (place, block) in blocks.enumerate() {
        let Some(held) = held(block).filter(|_| kept.len() < MAX_KEPT) else {
            continue;
        };
        let Some(bytes) = held.bytes() else {
            continue;
        };
        let fate = match one(cx, &held, bytes).await {
            Ok(id) => Fate::Kept(id),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a part of a result could not be kept"
                );
                Fate::NotKept
            }
        };
        kept.insert(place, fate);
    }
    kept
}

/// Bytes that a block holds, as they came.
struct Held<'b> {
    base64: &'b str,
    mime: &'b str,
    name: &'b str,
}

fn held(block: &Value) -> Option<Held<'_>> {
    let resource = &block["resource"];
    let (of, data) = match block["type"].as_str()? {
        "audio" => (block, "data"),
        "image" if block["data"].as_str()?.len() > MAX_IMAGE_BYTES => (block, "data"),
        "resource" if resource["text"].is_null() => (resource, "blob"),
        _ => return None,
    };
    let text = |key: &str| of[key].as_str().unwrap_or_default();
    Some(Held {
        base64: of[data].as_str()?,
        mime: text("mimeType"),
        name: text("uri"),
    })
}

impl Held<'_> {
    /// What came, where it is base64.
    fn bytes(&self) -> Option<Vec<u8>> {
        let text = self.base64.trim_end_matches('=');
        STANDARD_NO_PAD
            .decode(text)
            .or_else(|_| STANDARD.decode(self.base64))
            .ok()
    }
}

async fn one(
    cx: &ToolContext,
    held: &Held<'_>,
    bytes: Vec<u8>,
) -> Result<ArtifactId, ArtifactError> {
    let scope = Scope::from(&*cx.who);
    let mime = match held.mime {
        "" => "application/octet-stream",
        mime => mime,
    };
    let uri = redact_addresses(held.name);
    let name = uri.rsplit('/').next().unwrap_or_default();
    let new = NewArtifact {
        mime: mime.chars().take(MAX_NAME_CHARS).collect(),
        name: name.chars().take(MAX_NAME_CHARS).collect(),
    };
    let id = cx.artifacts.create(&scope, &cx.session, new).await?;
    let bytes = Bytes::from(bytes);
    cx.artifacts.append(&scope, &cx.session, &id, bytes).await?;
    Ok(id)
}
