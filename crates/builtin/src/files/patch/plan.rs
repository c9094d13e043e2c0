//! What a patch makes of the files as they are. Nothing is written here.

use std::collections::HashSet;

use bytes::Bytes;
use outfitter_core::{Becomes, Code, ErrorInfo, FileChange, Hash, NewMode, Reach, ToolError};
use outfitter_text::patch::{Applied, Change, FilePatch, Hunk, Misfit, Why, apply};
use serde_json::{Value, json};

use crate::files::charset::shown;
use crate::files::whole::WholeText;

/// How much of a line an error shows.
const MAX_LINE_CHARS: usize = 200;

/// What a file has before the patch.
pub(super) enum Before {
    /// It is to be made.
    Nothing,
    /// This.
    Bytes(Bytes),
}

/// What is to be done, and how it is told.
pub(super) struct Planned {
    pub(super) files: Vec<Value>,
    pub(super) changes: Vec<FileChange>,
}

pub(super) fn plan(work: Vec<(FilePatch, Before)>, reach: Reach) -> Result<Planned, ToolError> {
    let mut planned = Planned {
        files: Vec::with_capacity(work.len()),
        changes: Vec::new(),
    };
    let mut seen = HashSet::new();
    for (file, before) in work {
        for path in paths(&file.change) {
            if !seen.insert(path.to_owned()) {
                return Err(ToolError::invalid(
                    "/patch",
                    format!(
                        "line {} of the patch changes {path} a second time",
                        file.line
                    ),
                )
                .with_hint("put all changes of a file into one section"));
            }
        }
        planned.take(file.change, before, reach)?;
    }
    Ok(planned)
}

/// The files of a patch, where what it adds and then changes is added as it is then.
pub(super) fn joined(files: Vec<FilePatch>) -> Result<Vec<FilePatch>, ToolError> {
    let mut joined: Vec<FilePatch> = Vec::with_capacity(files.len());
    for file in files {
        let Change::Update {
            path: changed,
            to,
            hunks,
        } = &file.change
        else {
            joined.push(file);
            continue;
        };
        let added = joined.iter_mut().find_map(|file| match &mut file.change {
            Change::Create { path, text, .. } if path == changed => Some((path, text)),
            Change::Create { .. } | Change::Delete { .. } | Change::Update { .. } => None,
        });
        match added {
            None => joined.push(file),
            Some((path, text)) => {
                if !hunks.is_empty() {
                    *text = apply(text, hunks)
                        .map_err(|misfit| misfits(changed, misfit))?
                        .text;
                }
                if let Some(to) = to {
                    path.clone_from(to);
                }
            }
        }
    }
    Ok(joined)
}

fn paths(change: &Change) -> impl Iterator<Item = &str> {
    let (first, second) = match change {
        Change::Create { path, .. } | Change::Delete { path, .. } => (path, None),
        Change::Update { path, to, .. } => (path, to.as_ref().filter(|to| *to != path)),
    };
    std::iter::once(first).chain(second).map(String::as_str)
}

impl Planned {
    fn take(&mut self, change: Change, before: Before, reach: Reach) -> Result<(), ToolError> {
        let before = match before {
            Before::Bytes(bytes) => bytes,
            Before::Nothing => Bytes::new(),
        };
        let if_hash = Hash::of(&before);
        match change {
            Change::Create {
                path,
                text,
                executable,
            } => {
                let additions = text.lines().count() as u64;
                let mode = if executable {
                    NewMode::Executable
                } else {
                    NewMode::Plain
                };
                let bytes = text.into();
                self.tell(&path, "create", additions, 0);
                self.change(path, reach, Becomes::Created { bytes, mode });
            }
            Change::Delete { path, hunks } => {
                let deletions = deleted(&before, &path, &hunks)?;
                self.tell(&path, "delete", 0, deletions);
                self.change(path, reach, Becomes::Removed { if_hash });
            }
            Change::Update { path, to, hunks } => {
                let (bytes, additions, deletions) = changed(&before, &path, &hunks)?;
                match to.filter(|to| *to != path) {
                    None => {
                        self.tell(&path, "update", additions, deletions);
                        if bytes != before {
                            self.change(path, reach, Becomes::Replaced { bytes, if_hash });
                        }
                    }
                    Some(to) => {
                        self.tell(&to, "rename", additions, deletions);
                        let mode = NewMode::Of(path.clone());
                        self.change(to, reach, Becomes::Created { bytes, mode });
                        self.change(path, reach, Becomes::Removed { if_hash });
                    }
                }
            }
        }
        Ok(())
    }

    fn tell(&mut self, path: &str, action: &str, additions: u64, deletions: u64) {
        self.files.push(json!({
            "path": path, "action": action, "additions": additions, "deletions": deletions,
        }));
    }

    fn change(&mut self, path: String, reach: Reach, to: Becomes) {
        self.changes.push(FileChange { path, reach, to });
    }
}

/// The bytes of a file after its hunks. Without any it is moved as it is, text or not.
fn changed(before: &Bytes, path: &str, hunks: &[Hunk]) -> Result<(Bytes, u64, u64), ToolError> {
    if hunks.is_empty() {
        return Ok((before.clone(), 0, 0));
    }
    let whole = WholeText::of(before, path).map_err(in_patch)?;
    let applied = apply(&whole.text, hunks).map_err(|misfit| misfits(path, misfit))?;
    let Applied {
        text,
        additions,
        deletions,
    } = applied;
    let bytes = whole.with(&text, "/patch").map_err(in_patch)?;
    Ok((bytes, additions, deletions))
}

/// The patch is the argument that named the file.
fn in_patch(error: ToolError) -> ToolError {
    error.into_info().at("/patch").into()
}

/// How many lines go with a file. A patch that says what is in it has to be right.
fn deleted(before: &Bytes, path: &str, hunks: &[Hunk]) -> Result<u64, ToolError> {
    if hunks.is_empty() {
        let lines = WholeText::of(before, path).map(|whole| whole.text.lines().count() as u64);
        // What is no text has no lines.
        return Ok(lines.unwrap_or(0));
    }
    let whole = WholeText::of(before, path).map_err(in_patch)?;
    let applied = apply(&whole.text, hunks).map_err(|misfit| misfits(path, misfit))?;
    if !applied.text.is_empty() {
        let message = format!("{path} has more in it than the patch deletes");
        return Err(in_patch(ToolError::failed(message))
            .with_hint("read it; `*** Delete File` deletes whatever is in it"));
    }
    Ok(applied.deletions)
}

fn misfits(path: &str, misfit: Misfit) -> ToolError {
    let message = format!("{path}: {misfit}");
    let info = ErrorInfo::new(Code::Failed, message).at("/patch");
    let (got, hint) = match &misfit.why {
        Why::NotFound { nearest } => (
            nearest.as_ref().map(|(line, wanted, has)| {
                json!({ "line": line, "wanted": bounded(wanted), "has": bounded(has) })
            }),
            "read the file again and copy the lines as they are, without the line numbers",
        ),
        Why::OutOfOrder { line } => (
            Some(json!({ "line": line })),
            "give the hunks in the order of the file",
        ),
        Why::Ambiguous { places, count } => (
            Some(json!({ "lines": places, "count": count })),
            "give more lines around it, or `@@ LINE` with a line that stands before it",
        ),
        Why::NoAnchor { .. } => (
            None,
            "what stands after `@@` is a whole line of the file before the hunk; leave it out where there is none",
        ),
    };
    let mut info = info.with_hint(hint);
    info.got = got;
    ToolError::from(info).with_source(misfit)
}

fn bounded(line: &str) -> String {
    shown(&line.chars().take(MAX_LINE_CHARS).collect::<String>())
}
