//! From a path as a caller wrote it to a pinned file.

use std::path::PathBuf;

use outfitter_core::{FileRef, FilesError, Reach};
use rustix::io::Errno;

use super::error::{failed, invalid, protected};
use super::handle::Pinned;
use super::leads::into_protected;
use super::local::Inner;
use super::root::{Bounds, LastLink, Root};
use crate::protected::{Identities, Protected};

/// Spellings of the home directory at the start of a path.
const HOME_WORDS: [&str; 3] = ["~", "$HOME", "${HOME}"];

/// Where a path points by its text: a root and a path relative to it. Nothing is decided yet.
pub(super) struct Place<'a> {
    pub(super) files: &'a Inner,
    pub(super) root: &'a Root,
    /// Never empty, never absolute.
    pub(super) relative: String,
    /// As the caller wrote it, for messages.
    pub(super) shown: String,
    pub(super) bounds: Bounds,
}

impl<'a> Place<'a> {
    pub(super) fn of(files: &'a Inner, file: FileRef<'_>) -> Result<Self, FilesError> {
        let shown = file.path;
        let path = spelled(&files.protected, shown)?;
        let absolute = if path.starts_with('/') {
            PathBuf::from(&path)
        } else {
            files.workspace.path().join(&path)
        };
        // The first look, at the text: what is protected is said to be, even where it is also
        // outside or not there. The second look is at what was found.
        if let Some(why) = files.protected.covers(&absolute) {
            return Err(protected(shown, why));
        }
        let bounds = match file.reach {
            Reach::Workspace => Bounds::Beneath,
            Reach::Host => Bounds::Anywhere,
        };
        let (root, relative) = if path.starts_with('/') {
            match (files.root_of(&path), file.reach) {
                (Some(found), _) => found,
                (None, Reach::Host) => (files.machine()?, path.trim_start_matches('/').to_owned()),
                (None, Reach::Workspace) => {
                    return Err(FilesError::Outside {
                        path: shown.to_owned(),
                    });
                }
            }
        } else {
            (&*files.workspace, path)
        };
        let leads = match bounds {
            Bounds::Beneath => None,
            Bounds::Anywhere => into_protected(files, root, &relative),
        };
        if let Some(why) = leads {
            return Err(protected(shown, why));
        }
        Ok(Self {
            files,
            root,
            relative: if relative.is_empty() {
                ".".to_owned()
            } else {
                relative
            },
            shown: shown.to_owned(),
            bounds,
        })
    }

    /// Finds the file, and refuses what is protected.
    pub(super) fn pin(&self, last: LastLink) -> Result<Pinned, FilesError> {
        let pinned = self
            .root
            .pin(&self.relative, last, self.bounds)
            .and_then(Pinned::new)
            .map_err(|errno| self.failed(errno))?;
        self.refuse_protected(&pinned)?;
        Ok(pinned)
    }

    /// Refuses a file that is protected by where it is or by what it is.
    pub(super) fn refuse_protected(&self, pinned: &Pinned) -> Result<PathBuf, FilesError> {
        let real = pinned.real_path().map_err(|errno| self.failed(errno))?;
        let why = self
            .files
            .protected
            .covers(&real)
            .or_else(|| self.identities().has(&pinned.stat));
        match why {
            Some(why) => Err(protected(&self.shown, why)),
            None => Ok(real),
        }
    }

    pub(super) fn identities(&self) -> Identities {
        self.files.protected.identities()
    }

    /// What may be read and not written, by identity.
    pub(super) fn fixed_identities(&self) -> Identities {
        let workspace = self.files.workspace.path();
        self.files.protected.fixed_identities(workspace)
    }

    /// What the system said, unless the whole root has gone: then that is the news.
    pub(super) fn failed(&self, errno: Errno) -> FilesError {
        if errno == Errno::NOENT && self.root.is_gone() {
            return FilesError::Unavailable {
                why: format!(
                    "the directory {} has been removed",
                    self.root.path().display()
                ),
            };
        }
        failed(&self.shown, errno)
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
