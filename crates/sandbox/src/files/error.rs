//! From the system's errors to ours.

use outfitter_core::FilesError;
use rustix::io::Errno;

/// What the system's refusal means for a path, as the caller wrote it.
pub(super) fn failed(path: &str, errno: Errno) -> FilesError {
    let path = path.to_owned();
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
        Errno::NAMETOOLONG => FilesError::Invalid {
            what: shortened(&path),
            why: "a name in it, or all of it, is too long".to_owned(),
        },
        Errno::LOOP => FilesError::Invalid {
            what: shortened(&path),
            why: "it leads through too many symbolic links, or round in a circle".to_owned(),
        },
        errno => FilesError::Io {
            path,
            source: errno.into(),
        },
    }
}

/// The same for errors of the standard library.
pub(super) fn failed_io(path: &str, error: std::io::Error) -> FilesError {
    match Errno::from_io_error(&error) {
        Some(errno) => failed(path, errno),
        None => FilesError::Io {
            path: path.to_owned(),
            source: error,
        },
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
