//! `file_write`: a whole file, or more at the end of one.

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{
    Effect, Effects, Facts, FileRef, Files, Outcome, Put, PutMode, Range, Reply, Role, Tool,
    ToolContext, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::charset::Charset;
use super::error::tool_error;
use super::sniff::{Sniffer, Start, judge};
use super::{FileAccess, about_path, parse_hash, path_schema};
use crate::args;
use crate::spec::{Words, object, spec};

/// How much of a file is looked at to say that appended text differs from it.
const COMPARED_BYTES: u64 = 64 << 10;

const WORDS: Words<'static> = Words {
    name: "file_write",
    description: "Writes a whole text file, or adds to the end of one (mode append), atomically; \
        missing directories are made. The content lands as UTF-8 exactly as given. Use it for new \
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
                    "description": "overwrite: the file has this content then. append: the content goes to the end of what is there, whose bytes stay. create: only if there is no such file.",
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
                "notice": { "type": "string", "description": "There when what was appended is in another encoding than the file." },
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
        let files = cx.sandbox.files();
        let notice = match args.mode {
            Mode::Append => differing_encoding(files, file, &args.content).await,
            Mode::Overwrite | Mode::Create => None,
        };
        let put = Put {
            bytes: Bytes::from(args.content),
            mode: match args.mode {
                Mode::Overwrite => PutMode::Replace,
                Mode::Append => PutMode::Append,
                Mode::Create => PutMode::Create,
            },
            if_hash,
        };
        let written = files.put(file, put).await.map_err(tool_error)?;
        let mut result = json!({
            "bytes_written": written.bytes,
            "hash": written.hash,
            "created": written.created,
        });
        if let Some(notice) = notice {
            result["notice"] = notice.into();
        }
        Ok(Outcome::json(result).into())
    }
}

/// What to say where UTF-8 goes to the end of a file that is something else.
async fn differing_encoding(files: &dyn Files, file: FileRef<'_>, text: &str) -> Option<String> {
    let range = Range {
        from: 0,
        max: COMPARED_BYTES,
    };
    // A file that cannot be read is new, or the write says what is wrong with it.
    let there = files.read(file, range).await.ok()?;
    let charset = match judge(&there.bytes) {
        Start::Binary { mime } => return Some(format!("the file was not text before: {mime}")),
        Start::Known { charset, .. } => charset,
        Start::Open => {
            let mut sniffer = Sniffer::new();
            sniffer.push(&there.bytes);
            sniffer.finish()
        }
    };
    let same = match charset {
        Charset::Utf8 | Charset::BrokenUtf8 => true,
        Charset::Utf16Le | Charset::Utf16Be => false,
        Charset::Legacy(_) => text.is_ascii(),
    };
    (!same).then(|| {
        format!(
            "the file is {}, what was appended is utf-8; file_update writes in the file's encoding",
            charset.name()
        )
    })
}
