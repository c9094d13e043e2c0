//! `file_read`: lines of a file, with what is needed to change them.

use std::ops::ControlFlow;

use async_trait::async_trait;
use outfitter_core::{
    Effects, Facts, FileChunk, FileRef, Files, FilesError, List, Outcome, Reply, Role, Tool,
    ToolContext, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::chunks::{FIRST, each_chunk};
use super::error::tool_error;
use super::found::{Found, Limit};
use super::list_dir::entries_json;
use super::pass::{MAX_COUNTED_BYTES, Pass};
use super::scan::Pick;
use super::sniff::{Start, judge};
use super::{FileAccess, about_path, path_schema};
use crate::FilesOptions;
use crate::args::{self, to_usize};
use crate::spec::{Words, object, spec};

/// How many entries a directory is told by.
const MAX_ENTRIES: usize = 200;

/// Reads. Text in any common encoding comes as numbered lines; a directory as its entries.
#[derive(Debug)]
pub struct FileRead {
    spec: ToolSpec,
    access: FileAccess,
    max_read_bytes: u64,
}

impl FileRead {
    /// The tool as the configuration has it.
    #[must_use]
    pub fn new(access: FileAccess, options: &FilesOptions) -> Self {
        let max = options.max_read_bytes.max(1);
        let words = Words {
            name: "file_read",
            description: &format!(
                "Reads a text file, or a range of its lines, numbered as they are in the file. Use \
                 it before changing a file and whenever its content matters. UTF-8, UTF-16, GBK, \
                 Latin-1 and other encodings are detected; a binary file is only named, a \
                 directory gives its entries. At most {max} bytes at once: for more, go on with \
                 start_line. To find text in many files use grep; to find files by name use glob. \
                 The line numbers in front are not part of the file. Keep hash for if_hash of \
                 file_write and file_update."
            ),
            keywords: &[
                "read",
                "open",
                "view",
                "cat",
                "show",
                "file",
                "content",
                "lines",
                "head",
                "tail",
                "读取",
                "读文件",
                "打开文件",
                "查看",
                "文件内容",
                "显示",
            ],
        };
        Self {
            spec: ToolSpec {
                min_role: Role::User,
                effects: Effects::READ,
                idempotent: true,
                ..spec(&words, input(max), output())
            },
            access,
            max_read_bytes: max,
        }
    }
}

fn input(max: u64) -> Value {
    object(
        &["path"],
        json!({
            "path": path_schema("The file"),
            "start_line": {
                "type": "integer", "minimum": 1, "default": 1,
                "description": "The first line, counted from 1.",
            },
            "end_line": {
                "type": "integer", "minimum": 1,
                "description": "The last line, itself included; to the end of the file unless given.",
            },
            "max_bytes": {
                "type": "integer", "minimum": 1, "default": max,
                "description": format!("At most this many bytes of the file; never more than {max}."),
            },
        }),
    )
}

fn output() -> Value {
    object(
        &[],
        json!({
            "content": { "type": "string", "description": "The lines, each as its number, a bar and its text." },
            "total_lines": { "type": "integer", "description": "Lines of the whole file. Left out for a file too large to count." },
            "start_line": { "type": "integer" },
            "end_line": { "type": "integer", "description": "The last line in content; one less than start_line when there is none." },
            "encoding": { "type": "string" },
            "eol": { "enum": ["lf", "crlf", "mixed", "none"] },
            "bom": { "type": "boolean", "description": "Whether it begins with a byte order mark." },
            "hash": { "type": "string", "description": "Of the whole file, for if_hash. Left out for a file too large to count." },
            "truncated": { "const": true, "description": "There when a limit cut the content." },
            "notice": { "type": "string", "description": "Which limit it was and how to go on, and whether the encoding is in doubt." },
            "binary": { "const": true, "description": "There for a file that is not text." },
            "mime": { "type": "string" },
            "size": { "type": "integer", "description": "In bytes." },
            "directory": { "const": true, "description": "There for a directory." },
            "entries": { "type": "array", "items": { "type": "object" } },
            "skipped": { "type": "array", "items": { "type": "string" } },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    #[serde(default = "first_line", deserialize_with = "args::whole")]
    start_line: u64,
    #[serde(default, deserialize_with = "args::maybe_whole")]
    end_line: Option<u64>,
    #[serde(default, deserialize_with = "args::maybe_whole")]
    max_bytes: Option<u64>,
}

fn first_line() -> u64 {
    1
}

#[async_trait]
impl Tool for FileRead {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        Ok(about_path(&self.spec, args))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let file = self.access.file(cx, &args.path)?;
        let pick = self.pick(&args)?;
        let files = cx.sandbox.files();
        let result = match files.read(file, FIRST).await {
            Ok(first) => read(cx, file, first, pick).await?,
            Err(error @ FilesError::WrongKind { .. }) => directory(files, file, error).await?,
            Err(error) => return Err(tool_error(error)),
        };
        Ok(Outcome::json(result).into())
    }
}

impl FileRead {
    fn pick(&self, args: &Args) -> Result<Pick, ToolError> {
        let refuse = |at: &str, why: &str| Err(ToolError::invalid(at, why));
        if args.start_line == 0 {
            return refuse("/start_line", "lines are counted from 1");
        }
        let last = args.end_line.unwrap_or(u64::MAX);
        if last < args.start_line {
            return refuse("/end_line", "end_line comes before start_line");
        }
        if args.max_bytes == Some(0) {
            return refuse("/max_bytes", "max_bytes must be at least 1");
        }
        let max_bytes = args.max_bytes.unwrap_or(u64::MAX).min(self.max_read_bytes);
        Ok(Pick {
            first: args.start_line,
            last,
            max_bytes: to_usize(max_bytes),
        })
    }
}

async fn directory(
    files: &dyn Files,
    dir: FileRef<'_>,
    not_a_file: FilesError,
) -> Result<Value, ToolError> {
    let list = List {
        depth: 1,
        max_items: MAX_ENTRIES,
        hidden: true,
        ignored: true,
    };
    let Ok(listed) = files.list(dir, list).await else {
        return Err(tool_error(not_a_file));
    };
    let limit = Limit {
        said: format!("{MAX_ENTRIES} entries; list_dir gives more"),
        most: MAX_ENTRIES,
    };
    let mut result = Found {
        items: ("entries", entries_json(&listed.entries)),
        count: None,
        walked: &listed.walked,
        limit: &limit,
    }
    .result();
    result.insert("directory".to_owned(), Value::Bool(true));
    Ok(Value::Object(result))
}

async fn read(
    cx: &ToolContext,
    file: FileRef<'_>,
    first: FileChunk,
    pick: Pick,
) -> Result<Value, ToolError> {
    let (charset, bom) = match judge(&first.bytes) {
        Start::Binary { mime } => {
            return Ok(json!({ "binary": true, "mime": mime, "size": first.size }));
        }
        Start::Known { charset, bom } => (Some(charset), bom),
        Start::Open => (None, 0),
    };
    let mut pass = Pass::new(pick, charset, bom);
    let came = each_chunk(cx, file, first, |chunk, size| {
        pass.push(chunk);
        if size > MAX_COUNTED_BYTES && pass.has_all() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .await?;
    pass.finish(came)
}
