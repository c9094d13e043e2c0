//! `glob`: files by name.

use async_trait::async_trait;
use outfitter_core::{Effects, Facts, Glob, Reply, Role, Tool, ToolContext, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileAccess;
use super::error::argument_error;
use super::found::{Bound, Found, here, schema, start_schema};
use crate::args::{self, without_nul};
use crate::spec::{Words, object, spec};

const LIMIT: Bound = Bound {
    name: "limit",
    default: 200,
    most: 2000,
};

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
        let input = object(
            &["pattern"],
            json!({
                "pattern": {
                    "type": "string", "minLength": 1, "maxLength": 1000,
                    "description": "Relative to path: *, **, ?, [abc], {a,b}.",
                },
                "path": start_schema("The directory to look in"),
                "limit": LIMIT.schema("At most this many files."),
            }),
        );
        let files = json!({
            "type": "array", "items": { "type": "string" },
            "description": "Paths, the last changed first.",
        });
        let output = schema("files", files, Some("How many matched in all."));
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
    #[serde(default, deserialize_with = "args::maybe_whole")]
    limit: Option<u64>,
}

#[async_trait]
impl Tool for GlobFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        Ok(super::about_pattern(&self.spec, args))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let dir = self.access.file(cx, &args.path)?;
        without_nul(&args.pattern, "/pattern")?;
        let limit = LIMIT.of(args.limit);
        let glob = Glob {
            pattern: args.pattern.clone(),
            limit: limit.most,
        };
        let found = cx
            .sandbox
            .files()
            .glob(dir, glob)
            .await
            .map_err(|error| argument_error(error, &[("/pattern", Some(&args.pattern))]))?;
        let files = found.files.into_iter().map(|entry| entry.path.into());
        Ok(Found {
            items: ("files", files.collect()),
            count: Some(found.count),
            walked: &found.walked,
            limit: &limit,
        }
        .reply())
    }
}
