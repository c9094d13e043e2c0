//! What the commands of a session on this machine are shown. The lists are made here alone: for
//! whoever opens the sandbox, and for whoever only tells of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::environment::{Visible, build};
use crate::host::Host;
use crate::network::{self, Reach};
use crate::protected::by_both_names;
use crate::roots::ReadableRoots;
use crate::scratch::Layout;

/// What decides them.
pub(crate) struct Asked<'a> {
    pub(crate) host: &'a Host,
    pub(crate) workspace: &'a Path,
    pub(crate) scratch: Layout<'a>,
    /// More that may be read, and written.
    pub(crate) read: &'a [PathBuf],
    pub(crate) write: &'a [PathBuf],
    pub(crate) data_dir: &'a Path,
    pub(crate) passed: &'a [(OsString, OsString)],
    pub(crate) reach: &'a Reach,
}

/// The lists.
pub(crate) struct Lists {
    pub(crate) readable: ReadableRoots,
    /// What is written, and why.
    pub(crate) write: Vec<(PathBuf, &'static str)>,
    /// Our own data, by each of its names.
    pub(crate) private: Vec<PathBuf>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// What was asked for and left out, one sentence each.
    pub(crate) left_out: Vec<String>,
}

impl Lists {
    pub(crate) fn of(asked: &Asked<'_>) -> Self {
        let workspace = asked.workspace;
        let private = by_both_names(asked.data_dir);
        let mut left_out = Vec::new();
        let more_read = outside_of(&private, asked.read, &mut left_out);
        let more_write = outside_of(&private, asked.write, &mut left_out);
        let mut readable = ReadableRoots::of(asked.host, workspace, &more_read);
        // A virtual environment says itself what it is made of, and a command may have written that.
        readable
            .read
            .retain(|path| path.starts_with(workspace) || !is_ours(&private, path));
        let visible = Visible::Roots {
            readable: &readable,
            workspace,
        };
        let mut environment = build(asked.host, asked.scratch, &visible, asked.passed);
        if asked.reach.hosts().is_some() {
            network::announce(&mut environment.variables);
        }
        left_out.extend(readable.left_out.iter().cloned());
        left_out.extend(environment.left_out);
        let mut write = vec![
            (workspace.to_owned(), "the workspace"),
            (
                asked.scratch.0.to_owned(),
                "the scratch folder of the session",
            ),
        ];
        for path in more_write {
            if path.exists() {
                write.push((path, "[sandbox] write"));
            } else {
                left_out.push(format!(
                    "{} is not there and cannot be written",
                    path.display()
                ));
            }
        }
        Self {
            readable,
            write,
            private,
            variables: environment.variables,
            left_out,
        }
    }
}

/// What of the paths that the operator opens lies outside our own data. In it lie the sessions of
/// everybody, and no session may see another's, whatever is opened: a path above the data is opened
/// without it, one in it not at all.
fn outside_of(private: &[PathBuf], more: &[PathBuf], left_out: &mut Vec<String>) -> Vec<PathBuf> {
    let (inside, outside): (Vec<PathBuf>, Vec<PathBuf>) = more
        .iter()
        .cloned()
        .partition(|path| is_ours(private, path));
    left_out.extend(inside.iter().map(|path| {
        format!(
            "{} lies in our own data, which no command sees",
            path.display()
        )
    }));
    outside
}

fn is_ours(private: &[PathBuf], path: &Path) -> bool {
    by_both_names(path)
        .iter()
        .any(|path| private.iter().any(|ours| path.starts_with(ours)))
}
