//! `grep`: what is in files.

use async_trait::async_trait;
use outfitter_core::{
    Effects, Facts, Reply, Role, Search, SearchHit, SearchMode, Tool, ToolContext, ToolError,
    ToolSpec,
};
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
const MAX_CONTEXT: u64 = 50;

/// How much of one match is shown, whatever the backend gives.
const MAX_LINE_CHARS: usize = 4000;

const WORDS: Words<'static> = Words {
    name: "grep",
    description: "Searches the content of files for a regular expression (ripgrep's syntax, linear \
        time). Use it to find where something is defined or used. Binary files and what .gitignore \
        leaves out are skipped; UTF-16, GBK, Latin-1 and other encodings are detected. To find files by name use glob; to read around a match use \
        file_read with its line. Escape literal dots, brackets and parentheses.",
    keywords: &[
        "grep",
        "search",
        "find",
        "regex",
        "text",
        "content",
        "ripgrep",
        "rg",
        "搜索",
        "查找",
        "正则",
        "内容搜索",
        "全文搜索",
        "代码搜索",
    ],
};

/// Searches.
#[derive(Debug)]
pub struct Grep {
    spec: ToolSpec,
    access: FileAccess,
}

impl Grep {
    /// The tool behind this gate.
    #[must_use]
    pub fn new(access: FileAccess) -> Self {
        Self {
            spec: ToolSpec {
                min_role: Role::User,
                effects: Effects::READ,
                idempotent: true,
                ..spec(&WORDS, input(), output())
            },
            access,
        }
    }
}

fn input() -> Value {
    object(
        &["pattern"],
        json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 4000,
                "description": "A regular expression.",
            },
            "path": start_schema("The file or directory to search"),
            "glob": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Only files whose path matches this, for example *.py or src/**.",
            },
            "type": {
                "type": "string", "minLength": 1, "maxLength": 64,
                "description": "Only files of this type, by ripgrep's names: rust, py, js, ts, go, md, ...",
            },
            "mode": {
                "type": "string", "enum": ["content", "files", "count"], "default": "content",
                "description": "content: the lines. files: only which files. count: how many matches each file has.",
            },
            "case_insensitive": {
                "type": "boolean", "default": false, "description": "Ignore case.",
            },
            "multiline": {
                "type": "boolean", "default": false, "description": "Let a match cross lines (write the line end as \\n; a dot does not match it).",
            },
            "before": {
                "type": "integer", "minimum": 0, "maximum": MAX_CONTEXT, "default": 0,
                "description": "Lines of context before each match.",
            },
            "after": {
                "type": "integer", "minimum": 0, "maximum": MAX_CONTEXT, "default": 0,
                "description": "Lines of context after each match.",
            },
            "limit": LIMIT.schema("At most this many matches (files, in the modes that give files)."),
        }),
    )
}

fn output() -> Value {
    let lines = json!({ "type": "array", "items": { "type": "string" } });
    let matches = json!({
        "type": "array",
        "items": object(&["path"], json!({
            "path": { "type": "string" },
            "line": { "type": "integer", "description": "From 1; in mode content." },
            "column": { "type": "integer", "description": "In characters, from 1; in mode content." },
            "text": { "type": "string", "description": "The matching line or lines; in mode content." },
            "before": lines,
            "after": lines,
            "count": { "type": "integer", "description": "Matches of the file; in mode count." },
            "encoding": { "type": "string", "description": "Of the file, where it is not UTF-8." },
        })),
    });
    schema(
        "matches",
        matches,
        Some("How many there are, as far as was searched."),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    pattern: String,
    #[serde(default = "here")]
    path: String,
    glob: Option<String>,
    r#type: Option<String>,
    #[serde(default)]
    mode: SearchMode,
    #[serde(default)]
    case_insensitive: bool,
    #[serde(default)]
    multiline: bool,
    #[serde(default, deserialize_with = "args::whole")]
    before: u64,
    #[serde(default, deserialize_with = "args::whole")]
    after: u64,
    #[serde(default, deserialize_with = "args::maybe_whole")]
    limit: Option<u64>,
}

#[async_trait]
impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        Ok(super::about_pattern(&self.spec, args))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let at = self.access.file(cx, &args.path)?;
        without_nul(&args.pattern, "/pattern")?;
        let limit = LIMIT.of(args.limit);
        let context = |lines: u64| u32::try_from(lines.min(MAX_CONTEXT)).unwrap_or(u32::MAX);
        let search = Search {
            pattern: args.pattern.clone(),
            glob: args.glob.clone(),
            file_type: args.r#type.clone(),
            mode: args.mode,
            case_insensitive: args.case_insensitive,
            multiline: args.multiline,
            before: context(args.before),
            after: context(args.after),
            limit: limit.most,
        };
        let found = cx
            .sandbox
            .files()
            .search(at, search)
            .await
            .map_err(|error| {
                let texts = [
                    ("/pattern", Some(&*args.pattern)),
                    ("/glob", args.glob.as_deref()),
                    ("/type", args.r#type.as_deref()),
                ];
                argument_error(error, &texts)
            })?;
        let matches = found.hits.iter().map(|hit| hit_json(hit, args.mode));
        Ok(Found {
            items: ("matches", matches.collect()),
            count: Some(found.count),
            walked: &found.walked,
            limit: &limit,
        }
        .reply())
    }
}

fn hit_json(hit: &SearchHit, mode: SearchMode) -> Value {
    let mut shown = match mode {
        SearchMode::Files => json!({ "path": hit.path }),
        SearchMode::Count => json!({ "path": hit.path, "count": hit.count }),
        SearchMode::Content => {
            let lines = |lines: &[String]| -> Value {
                lines.iter().map(|line| bounded_line(line)).collect()
            };
            let mut shown = json!({
                "path": hit.path,
                "line": hit.line,
                "column": hit.column,
                "text": bounded_line(&hit.text),
            });
            if !hit.before.is_empty() {
                shown["before"] = lines(&hit.before);
            }
            if !hit.after.is_empty() {
                shown["after"] = lines(&hit.after);
            }
            shown
        }
    };
    if let Some(encoding) = hit.encoding {
        shown["encoding"] = encoding.into();
    }
    shown
}

fn bounded_line(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        None => line.to_owned(),
        Some((end, _)) => format!("{} [... {} bytes more]", &line[..end], line.len() - end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_very_long_line_says_that_it_is_cut() {
        let line = format!("{}尾", "x".repeat(MAX_LINE_CHARS));
        let cut = bounded_line(&line);
        assert!(cut.ends_with("x [... 3 bytes more]"), "{cut}");
        assert_eq!(bounded_line("short"), "short");
    }
}
