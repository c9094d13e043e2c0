//! From a path as a caller wrote it to a name on the other machine.

use std::path::{Path, PathBuf};

use outfitter_core::{FileKind, FileRef, FilesError, Reach};
use rustix::io::Errno;

use super::Inner;
use crate::files::error::{failed, invalid, protected};
use crate::files::limits::MAX_LINKS;
use crate::files::place::spelled;
use crate::files::root::{LastLink, relative_to};
use crate::ssh::sftp::{Attrs, Fault, Sftp};

/// Linux takes no longer path.
const MAX_PATH_BYTES: usize = 4095;

/// Where a path points by its text: a directory and a path relative to it.
pub(super) struct Place<'a> {
    pub(super) files: &'a Inner,
    /// The directory that the path is relative to, as it really is.
    pub(super) root: PathBuf,
    /// Its names, for links that name it.
    names: Vec<PathBuf>,
    /// Whether what lies there may be written.
    pub(super) is_writable: bool,
    /// Never empty, never absolute.
    pub(super) relative: String,
    /// As the caller wrote it, for messages.
    pub(super) shown: String,
    pub(super) reach: Reach,
}

/// What a name there stands for.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// Where it really is: absolute, without links and dots.
    pub(super) real: String,
    pub(super) attrs: Attrs,
}

impl<'a> Place<'a> {
    pub(super) fn of(files: &'a Inner, file: FileRef<'_>) -> Result<Self, FilesError> {
        let shown = file.path;
        let path = spelled(&files.protected, shown)?;
        if path.len() > MAX_PATH_BYTES {
            return Err(failed(shown, Errno::NAMETOOLONG));
        }
        // What is protected is said to be, even where it is also outside or not there.
        let absolute = files.workspace().join(&path);
        if let Some(why) = files.protected.covers(&absolute) {
            return Err(protected(shown, why));
        }
        let mut place = Self {
            files,
            root: files.workspace().to_owned(),
            names: files.names.clone(),
            is_writable: true,
            relative: path,
            shown: shown.to_owned(),
            reach: file.reach,
        };
        if place.relative.starts_with('/') {
            place.relative = place.meet_root(&absolute.to_string_lossy())?;
        }
        Ok(place)
    }

    /// Takes the root that an absolute path lies in by its text, the nearest one; gives its path
    /// there.
    fn meet_root(&mut self, absolute: &str) -> Result<String, FilesError> {
        let workspace = relative_to(&self.names, absolute);
        let laid = self.files.laid.iter().filter_map(|directory| {
            let (length, below) = relative_to(std::slice::from_ref(directory), absolute)?;
            Some((length, below, directory.clone()))
        });
        let laid = laid.max_by_key(|(length, _, _)| *length);
        match (workspace, laid) {
            (Some((length, below)), None) => Ok((length, below).1),
            (Some((length, below)), Some((other, _, _))) if length >= other => Ok(below),
            (_, Some((_, below, directory))) => {
                self.names = vec![directory.clone()];
                self.root = directory;
                self.is_writable = false;
                Ok(below)
            }
            (None, None) if self.reach == Reach::Host => {
                self.root = PathBuf::from("/");
                self.names = vec![self.root.clone()];
                let below = absolute.trim_start_matches('/');
                Ok(if below.is_empty() { "." } else { below }.to_owned())
            }
            (None, None) => Err(FilesError::Outside {
                path: self.shown.clone(),
            }),
        }
    }

    pub(super) fn sftp(&self) -> &'a Sftp {
        &self.files.sftp
    }

    /// Finds what the path names.
    pub(super) fn find(&self, last: LastLink) -> Result<Seen, FilesError> {
        self.find_at(&self.relative, last)
    }

    /// The same of another path beneath the same root.
    pub(super) fn find_at(&self, relative: &str, last: LastLink) -> Result<Seen, FilesError> {
        if let Some(seen) = self.find_plain(relative)? {
            self.refuse_protected(&seen.real)?;
            return Ok(seen);
        }
        self.find_slowly(relative, last)
    }

    /// In one step, where the path is what most are: names of directories, and one of something
    /// that is no link.
    fn find_plain(&self, relative: &str) -> Result<Option<Seen>, FilesError> {
        let parts = parts_of(relative);
        if parts.contains(&"..") || relative.ends_with('/') {
            return Ok(None);
        }
        let mut path = self.root.to_string_lossy().trim_end_matches('/').to_owned();
        let mut paths = Vec::with_capacity(parts.len().max(1));
        for part in &parts {
            path = format!("{path}/{part}");
            paths.push(path.clone());
        }
        if paths.is_empty() {
            paths.push(self.root.to_string_lossy().into_owned());
        }
        let seen = self.sftp().lstat_all(&paths);
        let mut seen = seen.map_err(|fault| self.fault(fault))?;
        let Some(Ok(attrs)) = seen.pop() else {
            return Ok(None);
        };
        let is_plain = seen
            .iter()
            .all(|above| matches!(above, Ok(attrs) if attrs.kind() == FileKind::Directory))
            && attrs.kind() != FileKind::Symlink;
        let real = paths.pop().unwrap_or_default();
        Ok(is_plain.then_some(Seen { real, attrs }))
    }

    /// Part by part.
    fn find_slowly(&self, relative: &str, last: LastLink) -> Result<Seen, FilesError> {
        let root: Vec<String> = parts_of(&self.root.to_string_lossy())
            .into_iter()
            .map(ToOwned::to_owned)
            .collect();
        let floor = match self.reach {
            Reach::Workspace => root.len(),
            Reach::Host => 0,
        };
        let mut real = root;
        // What is still to be met, the last first.
        let mut ahead: Vec<String> = turned(relative);
        // `a/` is a directory, or nothing.
        let must_be_directory = relative.ends_with('/') || relative.ends_with("/.");
        let mut links = 0;
        let mut attrs = self.look(&joined(&real))?;
        while let Some(part) = ahead.pop() {
            if attrs.kind() != FileKind::Directory {
                return Err(self.failed(Errno::NOTDIR));
            }
            if part == ".." {
                if real.len() <= floor {
                    // Above the top of the machine is the top.
                    if floor == 0 {
                        continue;
                    }
                    return Err(self.failed(Errno::XDEV));
                }
                real.pop();
                attrs = self.look(&joined(&real))?;
                continue;
            }
            real.push(part);
            let path = joined(&real);
            self.refuse_protected(&path)?;
            attrs = self.look(&path)?;
            let stays = ahead.is_empty() && last == LastLink::Keep && !must_be_directory;
            if attrs.kind() != FileKind::Symlink || stays {
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(self.failed(Errno::LOOP));
            }
            let target = self.sftp().readlink(&path);
            let target = target.map_err(|fault| self.fault(fault))?;
            real.pop();
            if target.starts_with('/') {
                let below = match self.reach {
                    Reach::Host => target.clone(),
                    Reach::Workspace => match relative_to(&self.names, &target) {
                        Some((_, below)) => below,
                        None => return Err(self.failed(Errno::XDEV)),
                    },
                };
                real.truncate(floor);
                ahead.extend(turned(&below));
            } else {
                ahead.extend(turned(&target));
            }
            attrs = self.look(&joined(&real))?;
        }
        if must_be_directory && attrs.kind() != FileKind::Directory {
            return Err(self.failed(Errno::NOTDIR));
        }
        Ok(Seen {
            real: joined(&real),
            attrs,
        })
    }

    fn look(&self, path: &str) -> Result<Attrs, FilesError> {
        self.sftp().lstat(path).map_err(|fault| self.fault(fault))
    }

    pub(super) fn refuse_protected(&self, real: &str) -> Result<(), FilesError> {
        match self.files.protected.covers(Path::new(real)) {
            Some(why) => Err(protected(&self.shown, why)),
            None => Ok(()),
        }
    }

    /// What the other machine said, unless the whole root has gone: then that is the news.
    pub(super) fn fault(&self, fault: Fault) -> FilesError {
        if fault == Fault::NotFound {
            return self.failed(Errno::NOENT);
        }
        said(&self.shown, fault)
    }

    pub(super) fn failed(&self, errno: Errno) -> FilesError {
        if errno == Errno::NOENT
            && self.sftp().lstat(&self.root.to_string_lossy()) == Err(Fault::NotFound)
        {
            return FilesError::Unavailable {
                why: format!(
                    "the directory {} of the other machine has been removed",
                    self.root.display()
                ),
            };
        }
        failed(&self.shown, errno)
    }
}

/// What the other machine said, of a path.
pub(super) fn said(path: &str, fault: Fault) -> FilesError {
    match fault {
        Fault::NotFound => failed(path, Errno::NOENT),
        Fault::Denied => failed(path, Errno::ACCESS),
        Fault::BadPath => failed(path, Errno::NAMETOOLONG),
        Fault::Failed(words) => FilesError::Io {
            path: path.to_owned(),
            source: std::io::Error::other(format!("the other machine says: {words}")),
        },
        Fault::Unsupported => FilesError::Unavailable {
            why: "the server of files (SFTP) of the other machine does not do this".to_owned(),
        },
        Fault::Lost(why) => FilesError::Unavailable {
            why: format!("the connection to the other machine failed: {why}"),
        },
    }
}

impl Seen {
    pub(super) fn must_be_file(&self, shown: &str) -> Result<(), FilesError> {
        self.must_be(FileKind::File, "a file", shown)
    }

    pub(super) fn must_be_directory(&self, shown: &str) -> Result<(), FilesError> {
        self.must_be(FileKind::Directory, "a directory", shown)
    }

    fn must_be(&self, kind: FileKind, wanted: &'static str, shown: &str) -> Result<(), FilesError> {
        if self.attrs.kind() == kind {
            return Ok(());
        }
        Err(FilesError::WrongKind {
            path: shown.to_owned(),
            is: word_of(&self.attrs),
            wanted,
        })
    }
}

pub(super) fn word_of(attrs: &Attrs) -> &'static str {
    match attrs.kind() {
        FileKind::File => "a file",
        FileKind::Directory => "a directory",
        FileKind::Symlink => "a symbolic link",
        FileKind::Special => match attrs.mode & 0o170_000 {
            0o010_000 => "a pipe",
            0o140_000 => "a socket",
            _ => "a device",
        },
    }
}

/// What a path shows of a real one: relative to the workspace, absolute outside.
pub(super) fn shown_of(files: &Inner, real: &str) -> Result<String, FilesError> {
    let path = Path::new(real);
    let shown = path.strip_prefix(files.workspace()).unwrap_or(path);
    shown
        .to_str()
        .map(ToOwned::to_owned)
        .ok_or_else(|| invalid(real, "it is not UTF-8"))
}

pub(super) fn parts_of(path: &str) -> Vec<&str> {
    path.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect()
}

fn turned(path: &str) -> Vec<String> {
    let parts = parts_of(path).into_iter().rev();
    parts.map(ToOwned::to_owned).collect()
}

fn joined(parts: &[String]) -> String {
    format!("/{}", parts.join("/"))
}
