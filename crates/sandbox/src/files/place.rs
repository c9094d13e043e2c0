//! From a path as a caller wrote it to a pinned file.

use std::path::PathBuf;

use outfitter_core::{FileRef, FilesError, Reach};
use rustix::io::Errno;

use super::error::{Failure, failed, invalid, protected};
use super::limits::MAX_PATH_BYTES;
use super::machine::{Machine, Pin};
use super::root::{LastLink, Root};
use super::session::Inner;
use crate::protected::Protected;

/// Spellings of the home directory at the start of a path.
const HOME_WORDS: [&str; 3] = ["~", "$HOME", "${HOME}"];

/// Where a path points by its text: a root and a path relative to it. Nothing is decided yet.
pub(super) struct Place<'a, M: Machine> {
    pub(super) files: &'a Inner<M>,
    pub(super) root: &'a Root<M>,
    /// Never empty, never absolute.
    pub(super) relative: String,
    /// As the caller wrote it, for messages.
    pub(super) shown: String,
    pub(super) reach: Reach,
}

impl<'a, M: Machine> Place<'a, M> {
    pub(super) fn of(files: &'a Inner<M>, file: FileRef<'_>) -> Result<Self, FilesError> {
        let (shown, reach) = (file.path, file.reach);
        let path = spelled(&files.protected, shown)?;
        if path.len() > MAX_PATH_BYTES {
            return Err(failed(shown, Errno::NAMETOOLONG));
        }
        // The first look, at the text: what is protected is said to be, even where it is also
        // outside or not there. The second look is at what was found.
        if let Some(why) = files.protected.covers(&files.workspace.path().join(&path)) {
            return Err(protected(shown, why));
        }
        let (root, mut relative) = if path.starts_with('/') {
            match (files.root_of(&path), reach) {
                (Some(found), _) => found,
                (None, Reach::Host) => (files.whole()?, path.trim_start_matches('/').to_owned()),
                (None, Reach::Workspace) => return Err(failed(shown, Errno::XDEV)),
            }
        } else {
            (&*files.workspace, path)
        };
        if std::ptr::eq(root, &*files.workspace) && files.machine.is_replaced(root) {
            return Err(replaced(root));
        }
        let leads = match reach {
            Reach::Workspace => None,
            Reach::Host => M::leads_into_protected(files, root, &relative),
        };
        if let Some(why) = leads {
            return Err(protected(shown, why));
        }
        if relative.is_empty() {
            ".".clone_into(&mut relative);
        }
        Ok(Self {
            files,
            root,
            relative,
            shown: shown.to_owned(),
            reach,
        })
    }

    pub(super) fn machine(&self) -> &'a M {
        &self.files.machine
    }

    /// Finds the file, and refuses what is protected.
    pub(super) fn pin(&self, last: LastLink) -> Result<Pin<M>, FilesError> {
        let pinned = M::resolve(self, &self.relative, last);
        let pinned = pinned.map_err(|failure| self.failed(failure))?;
        self.refuse_protected(&pinned)?;
        Ok(pinned)
    }

    /// Refuses a file that is protected by where it is or by what it is.
    pub(super) fn refuse_protected(&self, pinned: &Pin<M>) -> Result<PathBuf, FilesError> {
        let real = self.machine().real_path(&pinned.handle);
        let real = real.map_err(|failure| self.failed(failure))?;
        let list = &self.files.protected;
        let why = list
            .covers(&real)
            .or_else(|| M::identities(list).has(pinned.facts.identity));
        match why {
            Some(why) => Err(protected(&self.shown, why)),
            None => Ok(real),
        }
    }

    /// Where what is beneath the root counts from, for rules on names.
    pub(super) fn top(&self) -> PathBuf {
        match self.reach {
            Reach::Workspace => self.files.now_at(self.root),
            Reach::Host => PathBuf::from("/"),
        }
    }

    /// What the machine said, unless the whole root has gone: then that is the news.
    pub(super) fn failed(&self, failure: impl Into<Failure>) -> FilesError {
        let failure = failure.into();
        if failure.is(Errno::NOENT) && self.machine().is_gone(self.root) {
            return removed(self.root);
        }
        failed(&self.shown, failure)
    }
}

/// A root that has been removed.
pub(super) fn removed<M: Machine>(root: &Root<M>) -> FilesError {
    let (root, of) = (root.path().display(), M::OF);
    FilesError::Unavailable {
        why: format!("the directory {root}{of} has been removed"),
    }
}

/// A root whose name something else has.
pub(super) fn replaced<M: Machine>(root: &Root<M>) -> FilesError {
    let root = root.path().display();
    FilesError::Unavailable {
        why: format!(
            "{root} is no longer the directory that this session works in: another is in its place, \
             and nothing was done; put the old one back, or start a new session"
        ),
    }
}

/// The path that a caller's words mean, if they can mean one.
pub(super) fn spelled(protected: &Protected, shown: &str) -> Result<String, FilesError> {
    if shown.is_empty() {
        return Err(invalid(
            "an empty path",
            "it names nothing; the workspace is `.`",
        ));
    }
    if shown.contains('\0') {
        return Err(invalid(
            &shown.replace('\0', "\u{2400}"),
            "a path holds no NUL",
        ));
    }
    with_home(protected, shown)
}

fn with_home(protected: &Protected, path: &str) -> Result<String, FilesError> {
    let (first, rest) = path
        .split_once('/')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    if !HOME_WORDS.contains(&first) {
        return Ok(path.to_owned());
    }
    let home = protected
        .home()
        .and_then(|home| home.to_str())
        .ok_or_else(|| {
            invalid(
                path,
                format!("there is no home directory here; a directory of that name is ./{first}"),
            )
        })?;
    Ok(match rest {
        Some(rest) => format!("{}/{rest}", home.trim_end_matches('/')),
        None => home.to_owned(),
    })
}
