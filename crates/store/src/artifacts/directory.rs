//! The directory of one session. Every step down is by handle and follows no link, so that what
//! lies in the tree decides nothing about where we read and write.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use outfitter_core::{ArtifactId, Scope, SessionId, UnixMs};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::names::path_segment;
use super::quota::Kept;
use crate::private_fs::{self, DIR_MODE, FILE_MODE};

/// What the bytes of an artifact are in.
const DATA: &str = ".data";
/// What is known of it is in.
const FACTS: &str = ".json";
/// The most bytes of a `FACTS` file that are read.
const FACTS_BYTES: u64 = 64 * 1024;
/// Reads and follows no link.
const NO_LINK: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// What is known of an artifact, as it is written beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredFacts {
    /// The version of the form; 1 now.
    pub(super) v: u8,
    /// Its media type.
    pub(super) mime: String,
    /// What it is, for people.
    pub(super) name: String,
    /// When it was made.
    pub(super) created: UnixMs,
}

/// An open directory.
pub(super) struct Directory(OwnedFd);

impl Directory {
    /// The directory of a session, if there is one.
    pub(super) fn find(
        root: &Path,
        scope: &Scope,
        session: &SessionId,
    ) -> io::Result<Option<Self>> {
        let steps = steps(scope, session);
        let walked = open_root(root).and_then(|root| {
            steps
                .iter()
                .try_fold(root, |at, step| open_directory(&at, step))
        });
        match walked {
            Ok(directory) => Ok(Some(Self(directory))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The directory of a session, made where it is missing.
    pub(super) fn make(root: &Path, scope: &Scope, session: &SessionId) -> io::Result<Self> {
        private_fs::create_private_dir(root)?;
        steps(scope, session)
            .iter()
            .try_fold(open_root(root)?, |at, step| make_directory(&at, step))
            .map(Self)
    }

    /// Makes the files of an empty artifact. It is there once its data file is.
    pub(super) fn create(&self, id: &ArtifactId, facts: &StoredFacts) -> io::Result<()> {
        let text = serde_json::to_vec(facts).map_err(io::Error::other)?;
        if text.len() as u64 > FACTS_BYTES {
            let why = format!("its name and media type have more than {FACTS_BYTES} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        self.create_file(&file_name(id, FACTS))?.write_all(&text)?;
        self.create_file(&file_name(id, DATA)).map(|_| ())
    }

    /// Adds to the end of an artifact and gives its size before. What was there stays when it
    /// fails half way.
    pub(super) fn append(&self, data: &File, size: u64, bytes: &[u8]) -> io::Result<()> {
        let mut writer = data;
        writer.write_all(bytes).inspect_err(|_| {
            if let Err(error) = data.set_len(size) {
                tracing::warn!(%error, "an artifact keeps a part of what was not added to it");
            }
        })
    }

    /// The data of an artifact, to add to.
    pub(super) fn open_to_append(&self, id: &ArtifactId) -> io::Result<File> {
        self.open_file(&file_name(id, DATA), OFlags::WRONLY | OFlags::APPEND)
    }

    /// What is known of an artifact, and its data to read.
    pub(super) fn open_to_read(&self, id: &ArtifactId) -> io::Result<(StoredFacts, File)> {
        let data = self.open_file(&file_name(id, DATA), OFlags::RDONLY)?;
        let facts = self.open_file(&file_name(id, FACTS), OFlags::RDONLY)?;
        let mut text = Vec::new();
        facts.take(FACTS_BYTES).read_to_end(&mut text)?;
        let facts = serde_json::from_slice(&text).map_err(io::Error::other)?;
        Ok((facts, data))
    }

    /// How much is kept.
    pub(super) fn kept(&self) -> io::Result<Kept> {
        let mut kept = Kept::default();
        self.each_file(|name| {
            if name.ends_with(DATA.as_bytes()) {
                let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
                kept.count += 1;
                kept.bytes += u64::try_from(stat.st_size).unwrap_or_default();
            }
            Ok(())
        })?;
        Ok(kept)
    }

    /// Deletes all files in it.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.each_file(
            |name| match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
                Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
                Err(error) => Err(error.into()),
            },
        )
    }

    /// Deletes the empty directory of a session.
    pub(super) fn remove(root: &Path, scope: &Scope, session: &SessionId) -> io::Result<()> {
        let [tenant, subject, session] = steps(scope, session);
        let above = open_directory(&open_directory(&open_root(root)?, &tenant)?, &subject)?;
        Ok(rustix::fs::unlinkat(&above, session, AtFlags::REMOVEDIR)?)
    }

    fn each_file(&self, mut f: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if entry.file_type() != FileType::Directory && name != b"." && name != b".." {
                f(name)?;
            }
        }
        Ok(())
    }

    fn create_file(&self, name: &str) -> io::Result<File> {
        let flags = NO_LINK | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(FILE_MODE))?;
        let file = File::from(file);
        private_fs::own(&file)?;
        Ok(file)
    }

    fn open_file(&self, name: &str, how: OFlags) -> io::Result<File> {
        // A pipe in the place of a file would hold us for ever.
        let flags = NO_LINK | OFlags::NONBLOCK | how;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }
}

/// Reads at most `max` bytes from `offset` on.
pub(super) fn read_range(data: &File, offset: u64, max: usize) -> io::Result<Vec<u8>> {
    let size = data.metadata()?.len();
    let length = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; length.min(max)];
    let mut done = 0;
    while done < bytes.len() {
        match data.read_at(&mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(done);
    Ok(bytes)
}

/// The directories below the root. An id of a session is safe as a name as it is.
fn steps(scope: &Scope, session: &SessionId) -> [String; 3] {
    [
        path_segment(scope.tenant.as_str()),
        path_segment(scope.subject.as_str()),
        session.as_str().to_owned(),
    ]
}

fn file_name(id: &ArtifactId, kind: &str) -> String {
    format!("{id}{kind}")
}

/// The root itself may be reached over links: where it lies is the operator's.
fn open_root(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn open_directory(at: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let flags = NO_LINK | OFlags::DIRECTORY;
    Ok(rustix::fs::openat(at, name, flags, Mode::empty())?)
}

fn make_directory(at: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    match rustix::fs::mkdirat(at, name, Mode::from_raw_mode(DIR_MODE)) {
        Ok(()) => {
            let made = open_directory(at, name)?;
            rustix::fs::fchmod(&made, Mode::from_raw_mode(DIR_MODE))?;
            Ok(made)
        }
        Err(rustix::io::Errno::EXIST) => open_directory(at, name),
        Err(error) => Err(error.into()),
    }
}
