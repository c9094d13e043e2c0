//! `file_read`: lines of a file, with what is needed to change them.

use async_trait::async_trait;
use encoding_rs::Decoder;
use outfitter_core::{
    Effects, Facts, FileChunk, FileRef, Files, FilesError, Hashing, List, Outcome, Range, Reply,
    Role, Tool, ToolContext, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::charset::Charset;
use super::error::tool_error;
use super::list_dir::entries_json;
use super::scan::{Cut, LineScan, Pick, Picked};
use super::sniff::{Sniffer, Start, judge};
use super::{CHUNK_BYTES, FileAccess, about_path, note_walk, path_schema};
use crate::FilesOptions;
use crate::args::{self, to_usize};
use crate::spec::{Words, object, spec};

/// A file over this size is not read to its end for `total_lines` and `hash`.
const MAX_COUNTED_BYTES: u64 = 256 << 20;

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
            "notice": { "type": "string", "description": "Which limit it was and how to go on." },
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
        let first = Range {
            from: 0,
            max: CHUNK_BYTES,
        };
        let result = match files.read(file, first).await {
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
    let mut result = Map::new();
    result.insert("directory".to_owned(), Value::Bool(true));
    result.insert("entries".to_owned(), entries_json(&listed.entries));
    note_walk(
        &mut result,
        &listed.walked,
        &format!("{MAX_ENTRIES} entries; list_dir gives more"),
    );
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
    let mut chunk = first;
    let mut from = 0;
    let complete = loop {
        pass.push(&chunk.bytes);
        from += chunk.bytes.len() as u64;
        if chunk.bytes.is_empty() || from >= chunk.size {
            break true;
        }
        if chunk.size > MAX_COUNTED_BYTES && pass.lines.has_all() {
            break false;
        }
        if cx.cancel.is_cancelled() {
            return Err(ToolError::new(
                outfitter_core::Code::Cancelled,
                "reading was stopped",
            ));
        }
        let next = Range {
            from,
            max: CHUNK_BYTES,
        };
        chunk = cx
            .sandbox
            .files()
            .read(file, next)
            .await
            .map_err(tool_error)?;
    };
    pass.finish(complete)
}

/// One pass over a file: hashed, sniffed, counted and picked as it goes by.
struct Pass {
    pick: Pick,
    hash: Hashing,
    sniffer: Sniffer,
    /// What is known from a mark at the start.
    known: Option<Charset>,
    bom: usize,
    /// UTF-16 is counted and picked as UTF-8: its line feeds are not single bytes.
    transcoder: Option<Decoder>,
    lines: LineScan,
    skip: usize,
}

impl Pass {
    fn new(pick: Pick, known: Option<Charset>, bom: usize) -> Self {
        let wide = known.filter(|charset| matches!(charset, Charset::Utf16Le | Charset::Utf16Be));
        Self {
            pick,
            hash: Hashing::new(),
            sniffer: Sniffer::new(),
            known,
            bom,
            transcoder: wide
                .and_then(Charset::decoder)
                .map(encoding_rs::Encoding::new_decoder_without_bom_handling),
            lines: LineScan::new(pick),
            skip: bom,
        }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.hash.update(chunk);
        let text = &chunk[self.skip.min(chunk.len())..];
        self.skip -= chunk.len() - text.len();
        if self.transcoder.is_some() {
            self.transcode(text, false);
        } else {
            self.sniffer.push(text);
            self.lines.push(text);
        }
    }

    fn transcode(&mut self, mut wide: &[u8], last: bool) {
        const STEP: usize = 64 << 10;
        let Some(decoder) = &mut self.transcoder else {
            return;
        };
        let mut narrow = vec![0; STEP];
        loop {
            let (state, read, written, _) = decoder.decode_to_utf8(wide, &mut narrow, last);
            self.lines.push(&narrow[..written]);
            wide = &wide[read..];
            if state == encoding_rs::CoderResult::InputEmpty {
                break;
            }
        }
    }

    fn finish(mut self, complete: bool) -> Result<Value, ToolError> {
        self.transcode(b"", true);
        let total = self.lines.lines();
        let first = self.pick.first;
        if complete && first > total.max(1) {
            let lines = if total == 1 { "line" } else { "lines" };
            return Err(ToolError::invalid(
                "/start_line",
                format!("line {first} does not exist: the file has {total} {lines}"),
            ));
        }
        let sniffed = self.sniffer.finish();
        let charset = match self.known {
            Some(Charset::Utf8) | None => sniffed,
            Some(known) => known,
        };
        let endings = self.lines.endings().name();
        let picked = self.lines.finish();
        let text = if self.transcoder.is_some() {
            String::from_utf8_lossy(&picked.bytes).into_owned()
        } else {
            charset.show(&picked.bytes)
        };

        let mut result = Map::new();
        let mut put = |name: &str, value: Value| result.insert(name.to_owned(), value);
        put("content", number(&text, first, picked.cut).into());
        if complete {
            put("total_lines", total.into());
        }
        put("start_line", first.into());
        put("end_line", picked.last.into());
        put("encoding", charset.name().into());
        put("eol", endings.into());
        put("bom", (self.bom > 0).into());
        if complete {
            put("hash", json!(self.hash.finish()));
        }
        let notices = notices(&picked, self.pick.max_bytes, complete);
        if picked.cut.is_some() {
            put("truncated", Value::Bool(true));
        }
        if !notices.is_empty() {
            put("notice", notices.join("; ").into());
        }
        Ok(Value::Object(result))
    }
}

fn notices(picked: &Picked, max_bytes: usize, complete: bool) -> Vec<String> {
    let mut notices = Vec::new();
    match picked.cut {
        Some(Cut::BetweenLines) => notices.push(format!(
            "cut at {max_bytes} bytes; go on with start_line {}",
            picked.last + 1
        )),
        Some(Cut::InsideLine) => notices.push(format!(
            "line {} is longer than {max_bytes} bytes and is cut; go on with start_line {}",
            picked.last,
            picked.last + 1
        )),
        None => {}
    }
    if !complete {
        notices.push(format!(
            "the file has more than {MAX_COUNTED_BYTES} bytes, so total_lines and hash are left out"
        ));
    }
    notices
}

/// The lines with their numbers in front.
fn number(text: &str, first: u64, cut: Option<Cut>) -> String {
    use std::fmt::Write as _;
    let text = match cut {
        // The cut may have left half a character.
        Some(Cut::InsideLine) => text.trim_end_matches(char::REPLACEMENT_CHARACTER),
        Some(Cut::BetweenLines) | None => text,
    };
    let mut numbered = String::with_capacity(text.len() + text.len() / 4);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if index > 0 {
            numbered.push('\n');
        }
        // Writing to a String cannot fail.
        let _ = write!(numbered, "{:>4}| {line}", first + index as u64);
    }
    numbered
}
