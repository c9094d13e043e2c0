//! `glob`: files by name.

use async_trait::async_trait;
use outfitter_core::{
    Effects, Facts, Glob, Outcome, Reply, Role, Tool, ToolContext, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::argument_error;
use super::{FileAccess, Limit, note_walk, path_schema, walk_schema, with_properties};
use crate::args::{self, to_usize, without_nul};
use crate::spec::{Words, object, spec};

const DEFAULT_LIMIT: u64 = 200;
const MAX_LIMIT: u64 = 2000;

const WORDS: Words<'static> = Words {
    name: "glob",
    description: "Finds files whose path matches a pattern, the last changed first. Use it when \
        you know a part of a name or an extension. `*` stays within one directory, `**` crosses \
        them: **/*.rs finds Rust files at any depth. What .gitignore leaves out is not found. To \
        search what is in files use grep; to look around use list_dir.",
    keywords: &[
        "glob",
        "find",
        "files",
        "pattern",
        "name",
        "extension",
        "wildcard",
        "查找文件",
        "文件名",
        "通配符",
        "匹配",
        "搜索文件",
        "扩展名",
    ],
};

/// Finds files by name.
#[derive(Debug)]
pub struct GlobFiles {
    spec: ToolSpec,
    access: FileAccess,
}

impl GlobFiles {
    /// The tool behind this gate.
    #[must_use]
    pub fn new(access: FileAccess) -> Self {
        let mut path = path_schema("The directory to look in");
        path["default"] = ".".into();
        let input = object(
            &["pattern"],
            json!({
                "pattern": {
                    "type": "string", "minLength": 1, "maxLength": 1000,
                    "description": "Relative to path: *, **, ?, [abc], {a,b}.",
                },
                "path": path,
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT,
                    "description": "At most this many files.",
                },
            }),
        );
        let output = with_properties(
            object(
                &["files", "count"],
                json!({
                    "files": {
                        "type": "array", "items": { "type": "string" },
                        "description": "Paths, the last changed first.",
                    },
                    "count": { "type": "integer", "description": "How many matched in all." },
                }),
            ),
            walk_schema(),
        );
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
    pattern: String,
    #[serde(default = "here")]
    path: String,
    #[serde(default = "default_limit", deserialize_with = "args::whole")]
    limit: u64,
}

fn here() -> String {
    ".".to_owned()
}

fn default_limit() -> u64 {
    DEFAULT_LIMIT
}

#[async_trait]
impl Tool for GlobFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        let pattern = args.get("pattern").and_then(Value::as_str).unwrap_or("");
        Ok(super::about_path(&self.spec, args).about(pattern))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let dir = self.access.file(cx, &args.path)?;
        without_nul(&args.pattern, "/pattern")?;
        let limit = args.limit.clamp(1, MAX_LIMIT);
        let glob = Glob {
            pattern: args.pattern.clone(),
            limit: to_usize(limit),
        };
        let found = cx
            .sandbox
            .files()
            .glob(dir, glob)
            .await
            .map_err(|error| argument_error(error, &[("/pattern", Some(&args.pattern))]))?;
        let mut result = Map::new();
        let paths: Value = found
            .files
            .iter()
            .map(|entry| entry.path.as_str())
            .collect();
        result.insert("files".to_owned(), paths);
        result.insert("count".to_owned(), found.count.into());
        let reached = Limit {
            said: format!("limit {limit}"),
            reached: found.files.len() >= to_usize(limit),
        };
        note_walk(&mut result, &found.walked, &reached);
        Ok(Outcome::json(Value::Object(result)).into())
    }
}
