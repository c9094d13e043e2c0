//! `list_dir`: what is in a directory.

use async_trait::async_trait;
use outfitter_core::{
    Effects, Facts, FileEntry, FileKind, List, Reply, Role, Tool, ToolContext, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::tool_error;
use super::found::{Bound, Found, here, schema, start_schema};
use super::{FileAccess, about_path};
use crate::args;
use crate::spec::{Words, object, spec};

const DEFAULT_DEPTH: u64 = 2;
const MAX_DEPTH: u64 = 20;
const ITEMS: Bound = Bound {
    name: "max_items",
    default: 200,
    most: 2000,
};

const WORDS: Words<'static> = Words {
    name: "list_dir",
    description: "Lists what is in a directory, some levels deep. Use it to look around in a \
        project. Hidden files and what .gitignore leaves out are not shown unless include_hidden \
        is set. To find files by a name pattern anywhere use glob; to search their content use \
        grep.",
    keywords: &[
        "list",
        "ls",
        "dir",
        "directory",
        "folder",
        "tree",
        "files",
        "列出",
        "目录",
        "文件夹",
        "列表",
        "浏览",
        "文件列表",
    ],
};

/// Lists.
#[derive(Debug)]
pub struct ListDir {
    spec: ToolSpec,
    access: FileAccess,
}

impl ListDir {
    /// The tool behind this gate.
    #[must_use]
    pub fn new(access: FileAccess) -> Self {
        let input = object(
            &[],
            json!({
                "path": start_schema("The directory"),
                "depth": {
                    "type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "default": DEFAULT_DEPTH,
                    "description": "How many levels; 1 is the directory's own entries.",
                },
                "max_items": ITEMS.schema("At most this many entries."),
                "include_hidden": {
                    "type": "boolean", "default": false,
                    "description": "Also names that begin with a dot and what .gitignore leaves out.",
                },
            }),
        );
        let entries = json!({
            "type": "array",
            "items": object(&["path", "kind"], json!({
                "path": { "type": "string" },
                "kind": { "enum": ["file", "directory", "symlink", "special"] },
                "size": { "type": "integer", "description": "Of a file, in bytes." },
            })),
        });
        let output = schema("entries", entries, None);
        Self {
            spec: ToolSpec {
                min_role: Role::User,
                effects: Effects::READ,
                idempotent: true,
                ..spec(&WORDS, input, output)
            },
            access,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "here")]
    path: String,
    #[serde(default = "default_depth", deserialize_with = "args::whole")]
    depth: u64,
    #[serde(default, deserialize_with = "args::maybe_whole")]
    max_items: Option<u64>,
    #[serde(default)]
    include_hidden: bool,
}

fn default_depth() -> u64 {
    DEFAULT_DEPTH
}

#[async_trait]
impl Tool for ListDir {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        Ok(about_path(&self.spec, args))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let dir = self.access.file(cx, &args.path)?;
        let depth = args.depth.clamp(1, MAX_DEPTH);
        let limit = ITEMS.of(args.max_items);
        let list = List {
            depth: u32::try_from(depth).unwrap_or(u32::MAX),
            max_items: limit.most,
            hidden: args.include_hidden,
            ignored: args.include_hidden,
        };
        let listed = cx
            .sandbox
            .files()
            .list(dir, list)
            .await
            .map_err(tool_error)?;
        Ok(Found {
            items: ("entries", entries_json(&listed.entries)),
            count: None,
            walked: &listed.walked,
            limit: &limit,
        }
        .reply())
    }
}

/// Entries as they stand in results.
pub(super) fn entries_json(entries: &[FileEntry]) -> Vec<Value> {
    entries
        .iter()
        .map(|entry| match entry.kind {
            FileKind::File => json!({ "path": entry.path, "kind": entry.kind, "size": entry.size }),
            FileKind::Directory | FileKind::Symlink | FileKind::Special => {
                json!({ "path": entry.path, "kind": entry.kind })
            }
        })
        .collect()
}
