//! From what a machine says to our errors.

use std::fmt;

use outfitter_core::FilesError;
use rustix::io::Errno;

/// Why a machine did not do it.
#[derive(Debug)]
pub(super) enum Failure {
    /// What its system says.
    System(Errno),
    /// The same in other words.
    Io(std::io::Error),
    /// It leads through what is protected.
    Protected(&'static str),
    /// It cannot do this, or cannot be asked.
    Unavailable(String),
}

impl Failure {
    pub(super) fn is(&self, errno: Errno) -> bool {
        matches!(self, Self::System(said) if *said == errno)
    }
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Errno::from_io_error(&error).map_or(Self::Io(error), Self::System)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(errno) => std::io::Error::from(*errno).fmt(f),
            Self::Io(error) => error.fmt(f),
            Self::Protected(why) => f.write_str(why),
            Self::Unavailable(why) => f.write_str(why),
        }
    }
}

/// What a failure means for a path, as the caller wrote it.
pub(super) fn failed(path: &str, failure: impl Into<Failure>) -> FilesError {
    let shown = path;
    let path = path.to_owned();
    let errno = match failure.into() {
        Failure::System(errno) => errno,
        Failure::Io(source) => return FilesError::Io { path, source },
        Failure::Protected(why) => return protected(&path, why),
        Failure::Unavailable(why) => return FilesError::Unavailable { why },
    };
    match errno {
        Errno::NOENT => FilesError::NotFound { path },
        Errno::XDEV => FilesError::Outside { path },
        Errno::ACCESS | Errno::PERM => FilesError::Denied { path },
        Errno::EXIST => FilesError::Exists { path },
        Errno::NOTDIR => FilesError::WrongKind {
            path,
            is: "a path through a file",
            wanted: "a path through directories",
        },
        Errno::NAMETOOLONG => invalid(shown, "a name in it, or all of it, is too long"),
        Errno::LOOP => invalid(
            shown,
            "it leads through too many symbolic links, or round in a circle",
        ),
        errno => FilesError::Io {
            path,
            source: errno.into(),
        },
    }
}

pub(super) fn too_large(path: &str, size: u64, limit: u64) -> FilesError {
    FilesError::TooLarge {
        path: path.to_owned(),
        size,
        limit,
    }
}

pub(super) fn invalid(what: &str, why: impl Into<String>) -> FilesError {
    FilesError::Invalid {
        what: shortened(what),
        why: why.into(),
    }
}

pub(super) fn protected(path: &str, why: &'static str) -> FilesError {
    FilesError::Protected {
        path: path.to_owned(),
        why,
    }
}

/// A name too long to be one is no help in a message either.
fn shortened(text: &str) -> String {
    const KEPT: usize = 120;
    match text.char_indices().nth(KEPT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
