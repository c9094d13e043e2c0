//! `file_write`: a whole file, or more at the end of one.

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{
    Effect, Effects, Facts, FileRef, FilesError, Hash, Outcome, Put, PutMode, Reply, Role, Tool,
    ToolContext, ToolError, ToolSpec, Written,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::append::{Appendix, appendix};
use super::error::tool_error;
use super::{FileAccess, about_path, parse_hash, path_schema};
use crate::args;
use crate::spec::{Words, object, spec};

/// How often a file that somebody else changes is looked at, to add to it.
const MAX_TRIES: u32 = 16;

const WORDS: Words<'static> = Words {
    name: "file_write",
    description: "Writes a whole text file, or adds to the end of one (mode append), atomically; \
        missing directories are made. The content lands as UTF-8 exactly as given; what is appended, \
        in the encoding and with the line endings that the file has. Use it for new \
        files and full rewrites; to change a part of a file use file_update, which keeps the rest, \
        its encoding and its line endings. Mode create refuses to replace. Give if_hash (from \
        file_read) so that a change made meanwhile is not lost. Symbolic links are not written \
        through, and nothing below .git and no configuration of Outfitter is written.",
    keywords: &[
        "write",
        "create",
        "save",
        "append",
        "overwrite",
        "file",
        "new file",
        "写入",
        "写文件",
        "创建文件",
        "新建",
        "保存",
        "追加",
        "覆盖",
    ],
};

/// Writes.
#[derive(Debug)]
pub struct FileWrite {
    spec: ToolSpec,
    access: FileAccess,
}

impl FileWrite {
    /// The tool behind this gate.
    #[must_use]
    pub fn new(access: FileAccess) -> Self {
        let input = object(
            &["path", "content"],
            json!({
                "path": path_schema("The file"),
                "content": { "type": "string", "description": "What to write, without line numbers." },
                "mode": {
                    "enum": ["overwrite", "append", "create"], "type": "string", "default": "overwrite",
                    "description": "overwrite: the file has this content then. append: the content goes to the end of what is there, whose bytes stay, in its encoding. create: only if there is no such file.",
                },
                "if_hash": {
                    "type": "string",
                    "description": "Write only if the file still has this hash, else it is a conflict.",
                },
            }),
        );
        let output = object(
            &["bytes_written", "hash", "created"],
            json!({
                "bytes_written": { "type": "integer" },
                "hash": { "type": "string", "description": "Of the whole file now." },
                "created": { "type": "boolean", "description": "Whether the file is new." },
            }),
        );
        Self {
            spec: ToolSpec {
                min_role: Role::User,
                effects: Effects::of(&[Effect::Write]),
                ..spec(&WORDS, input, output)
            },
            access,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    content: String,
    #[serde(default)]
    mode: Mode,
    if_hash: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Overwrite,
    Append,
    Create,
}

#[async_trait]
impl Tool for FileWrite {
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
        let written = match args.mode {
            Mode::Append => append(cx, file, &args.content, if_hash).await?,
            Mode::Overwrite | Mode::Create => {
                let put = Put {
                    bytes: Bytes::from(args.content),
                    mode: if args.mode == Mode::Create {
                        PutMode::Create
                    } else {
                        PutMode::Replace
                    },
                    if_hash,
                };
                cx.sandbox
                    .files()
                    .put(file, put)
                    .await
                    .map_err(tool_error)?
            }
        };
        Ok(Outcome::json(json!({
            "bytes_written": written.bytes,
            "hash": written.hash,
            "created": written.created,
        }))
        .into())
    }
}

/// Adds to the end of a file in its own encoding. Where that is not UTF-8, it is the file that was
/// looked at or none: what somebody changed meanwhile is looked at again.
async fn append(
    cx: &ToolContext,
    file: FileRef<'_>,
    text: &str,
    if_hash: Option<Hash>,
) -> Result<Written, ToolError> {
    let mut tries = 1;
    loop {
        let Appendix { bytes, of } = appendix(cx, file, text.to_owned()).await?;
        let put = Put {
            bytes,
            mode: PutMode::Append,
            if_hash: if_hash.or(of),
        };
        match cx.sandbox.files().put(file, put).await {
            Err(FilesError::Changed { .. }) if if_hash.is_none() && tries < MAX_TRIES => tries += 1,
            written => return written.map_err(tool_error),
        }
    }
}
