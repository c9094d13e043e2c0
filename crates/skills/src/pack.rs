//! The directory of a skill, read by handle: no name leads out of it.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::limits::{MAX_DEPTH, MAX_LISTED_FILES, MAX_PACK_ENTRIES};

/// How often a lookup is made again when the kernel saw a rename meanwhile (`EAGAIN`).
const LOOKUPS: usize = 16;

/// Why a file of a pack is not read.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The directory is not the one that was found.
    #[error("read the skill: its directory was replaced since it was found")]
    Replaced,
    /// No such file.
    #[error("read the file: there is none of that name")]
    NotFound,
    /// The name leads out of the pack, or through something hidden.
    #[error("read the file: its name leads out of the pack")]
    Outside,
    /// It is a directory, a pipe or a device.
    #[error("read the file: it is no regular file")]
    NotAFile,
    /// It is larger than the bound.
    #[error("read the file: it has {bytes} bytes, at most {limit} are read")]
    TooLarge {
        /// How large it is.
        bytes: u64,
        /// How much is read.
        limit: usize,
    },
    /// The system says no.
    #[error("read the file")]
    System(#[source] std::io::Error),
}

impl From<Errno> for PackError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Self::NotFound,
            Errno::XDEV | Errno::LOOP => Self::Outside,
            other => Self::System(other.into()),
        }
    }
}

/// The files of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackFiles {
    /// Their paths below the pack, sorted.
    pub paths: Vec<String>,
    /// How many there are beside.
    pub omitted: usize,
}

/// The directory of a skill as it was found. Whatever has taken its place since is not it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    directory: PathBuf,
    device: u64,
    inode: u64,
}

impl Pack {
    /// The directory at this path, as it is now. A link to it is followed.
    ///
    /// # Errors
    /// [`PackError`] when it cannot be opened or is none.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, PackError> {
        let directory = directory.into();
        let (_, stat) = handle(&directory)?;
        Ok(Self {
            directory,
            device: stat.st_dev,
            inode: stat.st_ino,
        })
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What tells it from every other directory.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// The bytes of one of its files, at most `limit`.
    ///
    /// Every step is resolved by the kernel beneath the directory, so neither `..` nor a link leads
    /// out of it. Hidden files are not the pack's.
    ///
    /// # Errors
    /// [`PackError`].
    pub fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, PackError> {
        let hidden = |part: &str| part.starts_with('.') && part != ".";
        if path.is_empty() || path.contains('\0') {
            return Err(PackError::NotFound);
        }
        if path.starts_with('/') || path.split('/').any(hidden) {
            return Err(PackError::Outside);
        }
        let directory = self.handle()?;
        let file = beneath(&directory, path, OFlags::RDONLY)?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(PackError::NotAFile);
        }
        let bytes = u64::try_from(stat.st_size).unwrap_or_default();
        let too_large = |bytes| PackError::TooLarge { bytes, limit };
        if bytes > limit as u64 {
            return Err(too_large(bytes));
        }
        let mut content = Vec::new();
        File::from(file)
            .take(limit as u64 + 1)
            .read_to_end(&mut content)
            .map_err(PackError::System)?;
        if content.len() > limit {
            return Err(too_large(content.len() as u64));
        }
        Ok(content)
    }

    /// Its files, without hidden ones, `node_modules` and links.
    ///
    /// # Errors
    /// [`PackError`] when its directory cannot be read.
    pub fn files(&self) -> Result<PackFiles, PackError> {
        let root = self.handle()?;
        let mut found = PackFiles::default();
        let mut entries = 0;
        let mut waiting = vec![(String::new(), 0)];
        while let Some((prefix, depth)) = waiting.pop() {
            let place = if prefix.is_empty() {
                "."
            } else {
                prefix.trim_end_matches('/')
            };
            let Ok(directory) = beneath(&root, place, OFlags::RDONLY | OFlags::DIRECTORY) else {
                continue;
            };
            for entry in Dir::new(directory)? {
                let entry = entry?;
                entries += 1;
                if entries > MAX_PACK_ENTRIES {
                    found.omitted += 1;
                    continue;
                }
                let Ok(name) = entry.file_name().to_str() else {
                    continue;
                };
                if name.starts_with('.') || name == "node_modules" {
                    continue;
                }
                match kind(&root, &format!("{prefix}{name}"), entry.file_type()) {
                    FileType::Directory if depth < MAX_DEPTH => {
                        waiting.push((format!("{prefix}{name}/"), depth + 1));
                    }
                    FileType::RegularFile => found.paths.push(format!("{prefix}{name}")),
                    _ => {}
                }
            }
        }
        found.paths.sort_unstable();
        found.omitted += found.paths.len().saturating_sub(MAX_LISTED_FILES);
        found.paths.truncate(MAX_LISTED_FILES);
        Ok(found)
    }

    fn handle(&self) -> Result<OwnedFd, PackError> {
        let (directory, stat) = handle(&self.directory)?;
        if (stat.st_dev, stat.st_ino) != self.identity() {
            return Err(PackError::Replaced);
        }
        Ok(directory)
    }
}

fn handle(directory: &Path) -> Result<(OwnedFd, Stat), PackError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(directory, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&directory)?;
    Ok((directory, stat))
}

fn beneath(directory: &OwnedFd, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    // A pipe would block the open, and a terminal become ours.
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 1..LOOKUPS {
        match rustix::fs::openat2(directory, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) => {}
            result => return result,
        }
    }
    rustix::fs::openat2(directory, path, flags, Mode::empty(), resolve)
}

/// What an entry is, where the directory does not say.
fn kind(root: &OwnedFd, path: &str, told: FileType) -> FileType {
    match told {
        FileType::Unknown => rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |stat| {
                FileType::from_raw_mode(stat.st_mode)
            }),
        told => told,
    }
}
