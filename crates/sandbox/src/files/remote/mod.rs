//! The files of another machine, by SFTP.
//!
//! SFTP knows names and no directory handles. So a path is resolved here, part by part: each is
//! looked at without being followed, and a link is read and followed only as far as it stays beneath
//! the root. Between that look and the use a program of the same account there can exchange a
//! directory for a link; nothing in SFTP closes that gap. It opens nothing to whoever can run
//! programs in that account already.
//!
//! - `machine`: what SFTP can do
//! - `resolve`: from a path to a name there
//! - `leads`: what a path leads to, for rules
//! - `reader`: a file that is searched, fetched in pieces
//!
//! Files have no identity that SFTP shows: what is protected is known by its path alone, and a hard
//! link to it under another name is not.

mod leads;
mod machine;
mod reader;
mod resolve;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    Deadline, FileChange, FileChunk, FileRef, FileStat, Files, FilesError, Glob, GlobFound, Hash,
    LeadsTo, List, Listed, Put, Range, Search, SearchFound, Written,
};

use super::cancel::{Gone, blocking};
use super::limits::FileLimits;
use super::machine::Machine as _;
use super::place::Place;
use super::root::{Rights, Root};
use super::session::{Inner, answer_files};
use super::{commit, copy, find, list, read, search, write};
use crate::protected::Protected;
use crate::ssh::sftp::Sftp as On;

/// The files of a session there. Clones are the same files.
#[derive(Clone)]
pub(crate) struct RemoteFiles(Arc<Inner<On>>);

/// Which files they are.
pub(crate) struct Workspace {
    /// Where it really is.
    pub(crate) real: PathBuf,
    /// What it is called.
    pub(crate) given: PathBuf,
    pub(crate) protected: Protected,
    /// Other directories there too, for reading.
    pub(crate) read_only: Vec<PathBuf>,
    pub(crate) limits: FileLimits,
}

impl RemoteFiles {
    /// The files beneath a directory there.
    pub(crate) fn new(sftp: On, workspace: Workspace) -> Self {
        let root = |path: PathBuf, rights: Rights, given: &Path| {
            let handle = path.to_string_lossy().into_owned();
            Root::new(handle, rights, path, given)
        };
        let Workspace { real, given, .. } = workspace;
        let main = root(real, Rights::ReadWrite, &given);
        // Writers of a session take turns: nobody else waits for its machine.
        let mut inner = Inner::new(sftp, main, workspace.protected, Arc::default());
        let laid = workspace.read_only.into_iter();
        inner.read_only = laid
            .map(|path| Arc::new(root(path.clone(), Rights::ReadOnly, &path)))
            .collect();
        inner.limits = workspace.limits;
        Self(Arc::new(inner))
    }
}

answer_files!(RemoteFiles);

/// Copies a tree of ours into a directory there, for reading, under a name that nothing has yet.
/// Gives what of it is not copied and why.
pub(crate) fn lay(
    sftp: &On,
    from: &Path,
    directory: &str,
    name: &str,
) -> Result<Vec<FilesError>, FilesError> {
    copy::lay(from, sftp, (&directory.to_owned(), name))
}
