//! `apply_patch`: changes in several files, all of them or none.

mod plan;

use async_trait::async_trait;
use outfitter_core::{
    Effect, Effects, ErrorInfo, Facts, FilesError, Outcome, Reply, Role, Targets, Tool,
    ToolContext, ToolError, ToolSpec,
};
use outfitter_text::patch::{Change, FilePatch, Patch, PatchError, parse};
use serde::Deserialize;
use serde_json::{Value, json};

use self::plan::{Before, Planned, joined, plan};
use super::FileAccess;
use super::error::tool_error;
use super::whole::load;
use crate::args::{self, without_nul};
use crate::spec::{Words, object, spec};

/// How long a patch may be, in characters.
const MAX_PATCH_CHARS: usize = 2_000_000;

/// How many files one patch may change.
const MAX_FILES: usize = 100;

/// How many paths say what a call is about.
const MAX_NAMED: usize = 5;

const WORDS: Words<'static> = Words {
    name: "apply_patch",
    description: "Applies a patch to text files: creates, changes, renames and deletes them, all or \
        nothing over all its files. Use it for changes in several places or several files at once. \
        Two forms are read. A unified diff, as of git diff. Or the envelope: `*** Begin Patch`, \
        then `*** Add File: PATH` with every line after a `+`, `*** Update File: PATH` (with \
        `*** Move to: PATH` to rename) with lines that begin with a space, `-` or `+`, or \
        `*** Delete File: PATH`, and `*** End Patch`. Copy context exactly from file_read without \
        the line numbers; a hunk that fits nowhere or in more than one place is an error, so give \
        enough lines, or `@@ LINE` with a line that stands before. Encoding, byte order mark and \
        line endings stay. To change one file by text or line numbers prefer file_update; to write \
        a whole file use file_write.",
    keywords: &[
        "patch",
        "diff",
        "apply",
        "edit",
        "multi-file",
        "rename",
        "delete file",
        "hunk",
        "补丁",
        "应用补丁",
        "差异",
        "批量修改",
        "重命名",
        "删除文件",
    ],
};

/// Patches.
#[derive(Debug)]
pub struct ApplyPatch {
    spec: ToolSpec,
    access: FileAccess,
}

impl ApplyPatch {
    /// The tool behind this gate.
    #[must_use]
    pub fn new(access: FileAccess) -> Self {
        let input = object(
            &["patch"],
            json!({
                "patch": {
                    "type": "string", "minLength": 1, "maxLength": MAX_PATCH_CHARS,
                    "description": format!("The whole patch, for at most {MAX_FILES} files."),
                },
            }),
        );
        let output = object(
            &["files"],
            json!({
                "files": {
                    "type": "array",
                    "items": object(&["path", "action", "additions", "deletions"], json!({
                        "path": { "type": "string", "description": "The new path where it was renamed." },
                        "action": { "enum": ["create", "update", "rename", "delete"] },
                        "additions": { "type": "integer", "description": "Lines added." },
                        "deletions": { "type": "integer", "description": "Lines removed." },
                    })),
                },
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
    patch: String,
}

#[async_trait]
impl Tool for ApplyPatch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        let text = args.get("patch").and_then(Value::as_str).unwrap_or("");
        // The call itself says what is wrong with a patch that cannot be read.
        let patch = parse(text).ok();
        let paths = patch.as_ref().map(paths).unwrap_or_default();
        let targets = paths.iter().map(|path| (*path).to_owned()).collect();
        Ok(Facts::of(&self.spec)
            .about(about(&paths))
            .on(Targets::Paths(targets)))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let Args { patch } = args::parse(args)?;
        let reach = self.access.reach(cx.who.role)?;
        without_nul(&patch, "/patch")?;
        let patch = parse(&patch).map_err(unreadable)?;
        if patch.files.len() > MAX_FILES {
            return Err(ToolError::invalid(
                "/patch",
                format!(
                    "it changes {} files; at most {MAX_FILES} go together",
                    patch.files.len()
                ),
            ));
        }
        let files = joined(patch.files)?;
        let mut work = Vec::with_capacity(files.len());
        for file in files {
            let before = self.before(cx, &file).await?;
            work.push((file, before));
        }
        // Comparing megabytes takes a while; other calls go on meanwhile.
        let Planned { files, changes } = tokio::task::spawn_blocking(move || plan(work, reach))
            .await
            .map_err(|error| {
                ToolError::internal("the patch could not be applied").with_source(error)
            })??;
        if !changes.is_empty() {
            let committed = cx.sandbox.files().commit(changes).await;
            committed.map_err(|error| in_patch(error, "nothing was changed"))?;
        }
        Ok(Outcome::json(json!({ "files": files })).into())
    }
}

impl ApplyPatch {
    /// What a file has now that is to be changed.
    async fn before(&self, cx: &ToolContext, file: &FilePatch) -> Result<Before, ToolError> {
        let path = match &file.change {
            Change::Create { path, .. } => {
                self.access.file(cx, path)?;
                return Ok(Before::Nothing);
            }
            Change::Delete { path, .. } => path,
            Change::Update { path, to, .. } => {
                if let Some(to) = to {
                    self.access.file(cx, to)?;
                }
                path
            }
        };
        let named = self.access.file(cx, path)?;
        let bytes = load(cx, named).await;
        Ok(Before::Bytes(bytes.map_err(|error| {
            in_patch(error, &format!("line {} of the patch names it", file.line))
        })?))
    }
}

fn paths(patch: &Patch) -> Vec<&str> {
    patch
        .files
        .iter()
        .flat_map(|file| match &file.change {
            Change::Create { path, .. } | Change::Delete { path, .. } => [Some(path), None],
            Change::Update { path, to, .. } => [Some(path), to.as_ref()],
        })
        .flatten()
        .map(String::as_str)
        .collect()
}

fn about(paths: &[&str]) -> String {
    let mut about = paths[..paths.len().min(MAX_NAMED)].join(", ");
    if paths.len() > MAX_NAMED {
        about.push_str(&format!(" and {} more", paths.len() - MAX_NAMED));
    }
    about
}

fn unreadable(error: PatchError) -> ToolError {
    ToolError::invalid("/patch", error.to_string()).with_source(error)
}

/// An error about a file that the patch names.
fn in_patch(error: FilesError, hint: &str) -> ToolError {
    let own_hint = match &error {
        FilesError::Exists { .. } => Some(
            "a file that is there is changed by `*** Update File`, or by a diff of what it has",
        ),
        _ => None,
    };
    let mut info: ErrorInfo = tool_error(error).into_info().at("/patch");
    if info.hint.is_none() || own_hint.is_some() {
        info = info.with_hint(own_hint.unwrap_or(hint));
    }
    info.into()
}
