//! The files of this machine: by handle, so that what was judged is what is used.
//!
//! - `beneath`, `handle`: from a path to a pinned file
//! - `attributes`: what a file has beside its content
//! - `repository`: a repository's metadata under another name, from a handle upwards
//! - `leads`, `alias`: what paths lead through and to, for what is protected and for rules

mod alias;
mod attributes;
mod beneath;
mod handle;
mod leads;
mod repository;

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use outfitter_core::{Deadline, FilesError, LeadsTo};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, RawDir, RenameFlags, Uid};
use rustix::io::Errno;

use self::attributes::AccessList;
use self::beneath::{NO_LINKS, open_beneath};
use super::error::Failure;
use super::facts::{Facts, Pinned, kind_of_type};
use super::limits::{MAX_SEARCH_THREADS, MAX_WALKED};
use super::machine::{Below, Entry, Listing, Machine, OpenFile};
use super::place::Place;
use super::root::{LastLink, Rights, Root};
use super::session::Inner;
use crate::protected::{Identities, Protected};

/// Room for the names of one read of a directory.
const NAMES_BYTES: usize = 32 << 10;

/// How much of a file is read at a time.
const PIECE: usize = 128 << 10;

/// This machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Here;

impl Here {
    /// A file or directory of ours, itself.
    pub(super) fn pin_ours(path: &Path) -> Result<Pinned<OwnedFd>, Failure> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        Ok(Pinned::new(fd)?)
    }

    /// A directory of ours, for what is made in it.
    pub(super) fn directory_of_ours(path: &Path) -> Result<OwnedFd, Failure> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
    }
}

impl Machine for Here {
    type Handle = OwnedFd;
    type File<'a> = File;

    const OF: &'static str = "";
    const SEARCH_THREADS: usize = MAX_SEARCH_THREADS;

    fn resolve(
        place: &Place<'_, Self>,
        path: &str,
        last: LastLink,
    ) -> Result<Pinned<OwnedFd>, Failure> {
        let fd = beneath::find(place.root, path, last, place.reach)?;
        Ok(Pinned::new(fd)?)
    }

    fn whole(&self) -> Result<Root<Self>, FilesError> {
        Root::open(Path::new("/"), Rights::ReadWrite)
    }

    fn bytes_beneath(&self, root: &OwnedFd) -> u64 {
        outfitter_process::remains::bytes_beneath(root, MAX_WALKED)
    }

    fn real_path(&self, at: &OwnedFd) -> Result<PathBuf, Failure> {
        Ok(handle::real_path(at)?)
    }

    fn is_gone(&self, root: &Root<Self>) -> bool {
        rustix::fs::fstat(&root.handle).map_or(true, |stat| stat.st_nlink == 0)
    }

    fn is_replaced(&self, root: &Root<Self>) -> bool {
        let now = rustix::fs::statat(CWD, root.path(), AtFlags::empty());
        let (Ok(now), Ok(ours)) = (now, rustix::fs::fstat(&root.handle)) else {
            return false;
        };
        (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino)
    }

    fn beneath(&self, base: &OwnedFd, path: &str) -> Result<OwnedFd, Failure> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        Ok(open_beneath(base, path, flags, NO_LINKS)?)
    }

    fn list(&self, base: &OwnedFd, path: &str, most: u64) -> Result<Listing<OwnedFd>, Failure> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let directory = open_beneath(base, path, flags, NO_LINKS)?;
        let mut entries = Vec::new();
        let mut is_cut = false;
        let mut room = Vec::with_capacity(NAMES_BYTES);
        let mut read = RawDir::new(&directory, room.spare_capacity_mut());
        while let Some(entry) = read.next() {
            let entry = entry?;
            let raw = entry.file_name();
            if matches!(raw.to_bytes(), b"." | b"..") {
                continue;
            }
            if entries.len() as u64 >= most {
                is_cut = true;
                break;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => None,
                told => Some(kind_of_type(told)),
            };
            let (name, exact, facts) = match raw.to_str() {
                Ok(name) => (name.to_owned(), true, None),
                Err(_) => {
                    // By its likeness nobody can ask for it.
                    let stat = rustix::fs::statat(&directory, raw, AtFlags::SYMLINK_NOFOLLOW).ok();
                    let facts = stat.as_ref().map(Facts::from);
                    (raw.to_string_lossy().into_owned(), false, facts)
                }
            };
            entries.push(Entry {
                name,
                exact,
                kind,
                facts,
            });
        }
        Ok(Listing {
            directory,
            entries,
            is_cut,
        })
    }

    fn pin(&self, base: &OwnedFd, path: &str) -> Result<Pinned<OwnedFd>, Failure> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let fd = open_beneath(base, path, flags, NO_LINKS)?;
        Ok(Pinned::new(fd)?)
    }

    fn stat(&self, directory: &OwnedFd, name: &str) -> Result<Facts, Failure> {
        let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Facts::from(&stat))
    }

    fn target(&self, link: &OwnedFd) -> Result<String, Failure> {
        let target = rustix::fs::readlinkat(link, "", Vec::new())?;
        Ok(target.to_string_lossy().into_owned())
    }

    fn make_directory(&self, directory: &OwnedFd, name: &str, mode: u32) -> Result<(), Failure> {
        let mode = Mode::from_raw_mode(mode);
        Ok(rustix::fs::mkdirat(directory, name, mode)?)
    }

    fn make_link(&self, directory: &OwnedFd, name: &str, target: &str) -> Result<(), Failure> {
        Ok(rustix::fs::symlinkat(target, directory, name)?)
    }

    fn remove_directory(&self, directory: &OwnedFd, name: &str) -> Result<(), Failure> {
        Ok(rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)?)
    }

    fn remove(&self, directory: &OwnedFd, name: &str) -> Result<(), Failure> {
        Ok(rustix::fs::unlinkat(directory, name, AtFlags::empty())?)
    }

    fn set_directory_mode(
        &self,
        directory: &OwnedFd,
        name: &str,
        mode: u32,
    ) -> Result<(), Failure> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let opened = open_beneath(directory, name, flags, NO_LINKS)?;
        Ok(rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode))?)
    }

    fn rename(&self, directory: &OwnedFd, from: &str, to: &str) -> Result<(), Failure> {
        Ok(rustix::fs::renameat(directory, from, directory, to)?)
    }

    fn rename_free(&self, directory: &OwnedFd, from: &str, to: &str) -> Result<(), Failure> {
        let no_replace = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(directory, from, directory, to, no_replace) {
            // Some file systems cannot; a second name for the file comes to the same.
            Err(Errno::INVAL | Errno::NOSYS) => {
                self.second_name(directory, from, to)?;
                self.remove(directory, from)
            }
            other => Ok(other?),
        }
    }

    fn exchange(&self, directory: &OwnedFd, one: &str, other: &str) -> Result<(), Failure> {
        let exchange = RenameFlags::EXCHANGE;
        match rustix::fs::renameat_with(directory, one, directory, other, exchange) {
            // Some file systems cannot.
            Err(Errno::INVAL) => Err(Errno::NOSYS.into()),
            done => Ok(done?),
        }
    }

    fn second_name(&self, directory: &OwnedFd, name: &str, second: &str) -> Result<(), Failure> {
        Ok(rustix::fs::linkat(
            directory,
            name,
            directory,
            second,
            AtFlags::empty(),
        )?)
    }

    fn open(&self, file: &Pinned<OwnedFd>) -> Result<File, Failure> {
        Ok(file.open_as(OFlags::RDONLY)?)
    }

    fn open_below(&self, base: &OwnedFd, below: Below<'_>) -> Result<(File, Facts), Failure> {
        // Non-blocking, in case a pipe has taken the name since it was read.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = open_beneath(base, below.path, flags, NO_LINKS)?;
        let facts = Facts::from(&rustix::fs::fstat(&fd)?);
        Ok((File::from(fd), facts))
    }

    fn open_append(&self, file: &Pinned<OwnedFd>) -> Result<File, Failure> {
        Ok(file.open_as(OFlags::WRONLY | OFlags::APPEND)?)
    }

    fn may_write(&self, file: &Pinned<OwnedFd>) -> Result<(), Failure> {
        match file.open_as(OFlags::WRONLY) {
            Ok(_) | Err(Errno::TXTBSY) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn create(&self, directory: &OwnedFd, name: &str, mode: u32) -> Result<File, Failure> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(mode))?;
        Ok(File::from(fd))
    }

    fn look_like(&self, new: &File, old: &Pinned<OwnedFd>) -> Result<(), Failure> {
        let list = attributes::take_over(&old.handle, new);
        let old = &old.facts;
        if new.facts()?.owner != old.owner {
            let (user, group) = (Uid::from_raw(old.owner.0), Gid::from_raw(old.owner.1));
            match rustix::fs::fchown(new, Some(user), Some(group)) {
                Ok(()) | Err(Errno::PERM) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        // With an access list the group's bits are the most that anybody on it has. Without it
        // they would be the group's own.
        new.set_mode(match list {
            AccessList::Whole => old.mode & 0o777,
            AccessList::Lost => old.mode & 0o707,
        })
    }

    fn reader<'a>(file: File, _: &'a AtomicU64) -> impl Read + 'a {
        file
    }

    fn leads_into_protected(
        files: &Inner<Self>,
        root: &Root<Self>,
        path: &str,
    ) -> Option<&'static str> {
        leads::into_protected(files, root, path)
    }

    fn identities(protected: &Protected) -> Identities {
        protected.identities()
    }

    fn fixed_identities(files: &Inner<Self>) -> Identities {
        files.protected.fixed_identities(files.workspace.path())
    }

    fn is_in_repository(
        place: &Place<'_, Self>,
        directory: &Pinned<OwnedFd>,
    ) -> Result<bool, Failure> {
        Ok(repository::is_in_one(&directory.handle, &place.root.handle))
    }

    fn leads_to(files: &Inner<Self>, path: &str, _: Deadline) -> LeadsTo {
        alias::leads_to(files, path)
    }

    fn is_readable(files: &Inner<Self>, path: &str) -> bool {
        alias::is_readable(files, path)
    }

    fn is_same(files: &Inner<Self>, one: &str, other: &str) -> bool {
        alias::is_same(files, one, other)
    }
}

impl OpenFile for File {
    fn facts(&self) -> Result<Facts, Failure> {
        Ok(Facts::from(&rustix::fs::fstat(self)?))
    }

    fn read(&self, from: u64, most: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        while bytes.len() < most {
            let have = bytes.len();
            // Offsets beyond what the system can express lie behind every end.
            let at = from.saturating_add(have as u64);
            if i64::try_from(at).is_err() {
                break;
            }
            bytes.resize(have + (most - have).min(PIECE), 0);
            let got = match self.read_at(&mut bytes[have..], at) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    bytes.truncate(have);
                    continue;
                }
                read => read?,
            };
            bytes.truncate(have + got);
            if got == 0 {
                break;
            }
        }
        Ok(bytes)
    }

    fn write(&self, from: u64, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.write_all_at(bytes, from)?)
    }

    fn set_mode(&self, mode: u32) -> Result<(), Failure> {
        Ok(rustix::fs::fchmod(self, Mode::from_raw_mode(mode))?)
    }

    fn truncate(&self, size: u64) -> Result<(), Failure> {
        Ok(self.set_len(size)?)
    }

    fn sync(&self) -> Result<(), Failure> {
        Ok(self.sync_data()?)
    }
}
