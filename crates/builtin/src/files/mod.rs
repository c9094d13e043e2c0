//! The tools on files. Each goes through the session's `Files`; none opens a path by itself.

mod access;
mod append;
mod charset;
mod chunks;
mod endings;
mod error;
mod found;
mod glob;
mod grep;
mod list_dir;
mod pass;
mod patch;
mod read;
mod scan;
mod sniff;
mod update;
mod whole;
mod write;

pub use access::FileAccess;
pub(crate) use error::tool_error;
pub use glob::GlobFiles;
pub use grep::Grep;
pub use list_dir::ListDir;
pub use patch::ApplyPatch;
pub use read::FileRead;
pub(crate) use sniff::mime_of;
pub use update::FileUpdate;
pub use write::FileWrite;

use outfitter_core::{Facts, Hash, ToolError, ToolSpec};
use serde_json::{Value, json};

/// How many bytes are asked for at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// The schema of a `path` that has to be given.
fn path_schema(what: &str) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 4096,
        "description": format!("{what}; relative to the workspace, or absolute inside it."),
    })
}

/// A call is about its path.
fn about_path(spec: &ToolSpec, args: &Value) -> Facts {
    let path = args.get("path").and_then(Value::as_str).unwrap_or(".");
    Facts::of(spec)
        .about(path)
        .on(outfitter_core::Targets::Paths(vec![path.to_owned()]))
}

/// A search is about its pattern, in its path.
fn about_pattern(spec: &ToolSpec, args: &Value) -> Facts {
    let pattern = args.get("pattern").and_then(Value::as_str).unwrap_or("");
    about_path(spec, args).about(pattern)
}

/// A hash as a result of another call gave it.
fn parse_hash(text: Option<&str>) -> Result<Option<Hash>, ToolError> {
    text.map(|text| {
        Hash::parse(text).ok_or_else(|| {
            ToolError::invalid("/if_hash", "it is not a hash")
                .with_hint("give the hash of file_read, file_write or file_update as it is")
        })
    })
    .transpose()
}
