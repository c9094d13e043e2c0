//! `file_update`: changes in a text file that leave every other byte as it is.

mod apply;
mod diff;
mod draft;
mod find;

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{
    Effect, Effects, Facts, Hash, Outcome, Put, PutMode, Reply, Role, Tool, ToolContext, ToolError,
    ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::tool_error;
use super::whole::{MAX_FILE_BYTES, WholeText, load};
use super::{FileAccess, about_path, parse_hash, path_schema};
use crate::args;
use crate::spec::{Words, object, spec};

/// How many operations one call may have.
const MAX_OPERATIONS: usize = 100;

const WORDS: Words<'static> = Words {
    name: "file_update",
    description: "Changes parts of a text file: replace exact text, replace by regular expression, \
        or replace a range of lines. All operations succeed or nothing is written. Use it instead \
        of file_write for any change to an existing file: encoding, byte order mark and line \
        endings stay. Text is literal and must occur exactly once unless all is set; copy it from \
        file_read without the line numbers and with enough context to be unique. Operations run in \
        order, each on what the one before left; line numbers always are those that file_read \
        showed, before any operation.",
    keywords: &[
        "edit",
        "update",
        "replace",
        "change",
        "modify",
        "patch",
        "substitute",
        "regex",
        "lines",
        "修改",
        "编辑",
        "替换",
        "更新文件",
        "改代码",
        "正则替换",
    ],
};

/// Changes.
#[derive(Debug)]
pub struct FileUpdate {
    spec: ToolSpec,
    access: FileAccess,
}

impl FileUpdate {
    /// The tool behind this gate.
    #[must_use]
    pub fn new(access: FileAccess) -> Self {
        Self {
            spec: ToolSpec {
                min_role: Role::User,
                effects: Effects::of(&[Effect::Write]),
                ..spec(&WORDS, input(), output())
            },
            access,
        }
    }
}

fn input() -> Value {
    let kind = |word: &str| json!({ "const": word, "type": "string" });
    let all = json!({
        "type": "boolean", "default": false,
        "description": "Replace every occurrence instead of requiring exactly one.",
    });
    let replace = object(
        &["kind", "old", "new"],
        json!({
            "kind": kind("replace"),
            "old": { "type": "string", "minLength": 1, "description": "The exact text, line breaks included; a line break matches LF and CRLF." },
            "new": { "type": "string", "description": "What stands there then, literally." },
            "all": all,
        }),
    );
    let regex = object(
        &["kind", "pattern", "new"],
        json!({
            "kind": kind("regex"),
            "pattern": { "type": "string", "minLength": 1, "maxLength": 10_000, "description": "A regular expression (linear time; ^ and $ match at lines, \\n matches LF and CRLF)." },
            "new": { "type": "string", "description": "What stands there then; $1 or ${name} is what a group matched, $$ is a dollar sign." },
            "all": all,
        }),
    );
    let lines = object(
        &["kind", "start", "end", "new"],
        json!({
            "kind": kind("lines"),
            "start": { "type": "integer", "minimum": 1, "description": "The first line, as file_read numbers it." },
            "end": { "type": "integer", "minimum": 0, "description": "The last line, itself included; start - 1 inserts before start." },
            "new": { "type": "string", "description": "The lines that stand there then; empty deletes. A missing final line break is added." },
        }),
    );
    object(
        &["path", "operations"],
        json!({
            "path": path_schema("The file"),
            "operations": {
                "type": "array", "minItems": 1, "maxItems": MAX_OPERATIONS,
                "items": { "anyOf": [replace, regex, lines] },
                "description": "What to change, in order.",
            },
            "if_hash": {
                "type": "string",
                "description": "Change only if the file still has this hash, else it is a conflict.",
            },
        }),
    )
}

fn output() -> Value {
    object(
        &["replacements", "hash", "diff"],
        json!({
            "replacements": { "type": "integer", "description": "How many places were changed." },
            "hash": { "type": "string", "description": "Of the whole file now." },
            "diff": { "type": "string", "description": "What changed, as a unified diff; cut with a marker where it is long." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    operations: Vec<Operation>,
    if_hash: Option<String>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Operation {
    /// Exact text.
    Replace {
        old: String,
        new: String,
        #[serde(default)]
        all: bool,
    },
    /// What a regular expression matches.
    Regex {
        pattern: String,
        new: String,
        #[serde(default)]
        all: bool,
    },
    /// A range of lines.
    Lines {
        #[serde(deserialize_with = "args::whole")]
        start: u64,
        #[serde(deserialize_with = "args::whole")]
        end: u64,
        new: String,
    },
}

#[async_trait]
impl Tool for FileUpdate {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        Ok(about_path(&self.spec, args))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let file = self.access.file(cx, &args.path)?;
        let if_hash = parse_hash(args.if_hash.as_deref())?;
        if args.operations.is_empty() || args.operations.len() > MAX_OPERATIONS {
            return Err(ToolError::invalid(
                "/operations",
                format!("give 1 to {MAX_OPERATIONS} operations"),
            ));
        }
        let before = load(cx, file).await.map_err(tool_error)?;
        let hash = Hash::of(&before);
        if if_hash.is_some_and(|wanted| wanted != hash) {
            return Err(tool_error(outfitter_core::FilesError::Changed {
                path: args.path,
                hash,
            }));
        }
        let path = args.path.clone();
        let operations = args.operations;
        // Searching and comparing megabytes takes a while; other calls go on meanwhile.
        let updated = tokio::task::spawn_blocking(move || update(&before, &path, &operations))
            .await
            .map_err(|error| {
                ToolError::internal("the change could not be computed").with_source(error)
            })??;
        let hash = if updated.changed {
            let put = Put {
                bytes: updated.bytes,
                mode: PutMode::Replace,
                // Whoever wrote in between is not overwritten.
                if_hash: Some(hash),
            };
            cx.sandbox
                .files()
                .put(file, put)
                .await
                .map_err(tool_error)?
                .hash
        } else {
            hash
        };
        Ok(Outcome::json(json!({
            "replacements": updated.replacements,
            "hash": hash,
            "diff": updated.diff,
        }))
        .into())
    }
}

/// What a file becomes.
struct Updated {
    bytes: Bytes,
    changed: bool,
    replacements: u64,
    diff: String,
}

fn update(before: &[u8], path: &str, operations: &[Operation]) -> Result<Updated, ToolError> {
    let whole = WholeText::of(before, path)?;
    let applied = apply::apply(&whole.text, operations)?;
    let bytes = whole.with(&applied.text, "/operations")?;
    Ok(Updated {
        changed: bytes != before,
        bytes,
        replacements: applied.replacements,
        diff: diff::unified(path, &whole.text, &applied.text),
    })
}

#[cfg(test)]
mod tests;
