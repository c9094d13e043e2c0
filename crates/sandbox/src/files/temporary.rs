//! A file in the making, beside the name that it will take.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use outfitter_core::FilesError;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use super::attributes::{self, AccessList};
use super::error::failed_io;
use super::handle::Pinned;
use super::place::Place;

/// How many names are tried; one nearly always does.
const MAX_NAMES: u32 = 16;

/// A name nobody else uses, short enough beside any other.
pub(super) fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let nanoseconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    format!(
        ".outfitter-{:x}-{count:x}-{nanoseconds:x}",
        std::process::id()
    )
}

/// A file in the making; removed unless it takes its name.
pub(super) struct Temporary<'a> {
    directory: &'a OwnedFd,
    place: &'a Place<'a>,
    name: Option<String>,
    pub(super) file: File,
}

impl<'a> Temporary<'a> {
    pub(super) fn new(
        directory: &'a OwnedFd,
        place: &'a Place<'a>,
        mode: Mode,
    ) -> Result<Self, FilesError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut tries = 0;
        loop {
            let name = temporary_name();
            match rustix::fs::openat(directory, &name, flags, mode) {
                Ok(fd) => {
                    return Ok(Self {
                        directory,
                        place,
                        name: Some(name),
                        file: File::from(fd),
                    });
                }
                Err(Errno::EXIST) if tries < MAX_NAMES => tries += 1,
                Err(errno) => return Err(place.failed(errno)),
            }
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), FilesError> {
        self.file
            .write_all(bytes)
            .map_err(|error| failed_io(&self.place.shown, error))
    }

    /// Takes over the owner and the attributes, where the system allows, and the permission bits,
    /// but no right to act as the owner.
    pub(super) fn look_like(&self, old: &Pinned) -> Result<(), FilesError> {
        let failed = |errno| self.place.failed(errno);
        let list = attributes::take_over(old, &self.file);
        let old = &old.stat;
        let new = rustix::fs::fstat(&self.file).map_err(failed)?;
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
            let (user, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
            match rustix::fs::fchown(&self.file, Some(user), Some(group)) {
                Ok(()) | Err(Errno::PERM) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        // With an access list the group's bits are the most that anybody on it has. Without it
        // they would be the group's own.
        self.set_mode(match list {
            AccessList::Whole => old.st_mode & 0o777,
            AccessList::Lost => old.st_mode & 0o707,
        })
    }

    pub(super) fn set_mode(&self, mode: u32) -> Result<(), FilesError> {
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode))
            .map_err(|errno| self.place.failed(errno))
    }

    pub(super) fn sync(&self) -> Result<(), FilesError> {
        self.file
            .sync_data()
            .map_err(|error| failed_io(&self.place.shown, error))
    }

    pub(super) fn take_name(&mut self, name: &str) -> Result<(), Errno> {
        if let Some(temporary) = &self.name {
            rustix::fs::renameat(self.directory, temporary, self.directory, name)?;
            self.name = None;
        }
        Ok(())
    }

    /// Changes places with the file that has the name: what was there is here now.
    pub(super) fn change_places(&mut self, name: &str) -> Result<(), Errno> {
        let Some(temporary) = &self.name else {
            return Err(Errno::NOENT);
        };
        let exchange = RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(self.directory, temporary, self.directory, name, exchange)
    }

    /// Takes the file that has the name out of sight; it is here now.
    pub(super) fn take_away(&mut self, name: &str) -> Result<(), Errno> {
        let Some(temporary) = &self.name else {
            return Err(Errno::NOENT);
        };
        rustix::fs::renameat(self.directory, name, self.directory, temporary)
    }

    /// What is here now.
    pub(super) fn stat_here(&self) -> Result<Stat, Errno> {
        let Some(temporary) = &self.name else {
            return Err(Errno::NOENT);
        };
        rustix::fs::statat(self.directory, temporary, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Leaves what is here, and tells its name.
    pub(super) fn leave(&mut self) -> String {
        self.name.take().unwrap_or_default()
    }

    /// The same, but only a name that nothing has.
    pub(super) fn take_free_name(&mut self, name: &str) -> Result<(), Errno> {
        if let Some(temporary) = &self.name {
            rename_to_free(self.directory, temporary, name)?;
            self.name = None;
        }
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(self.directory, name, AtFlags::empty());
        }
    }
}

/// Renames within a directory to a name that nothing has.
fn rename_to_free(directory: &OwnedFd, from: &str, to: &str) -> Result<(), Errno> {
    let no_replace = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(directory, from, directory, to, no_replace) {
        // Some file systems cannot; a second name for the file comes to the same.
        Err(Errno::INVAL | Errno::NOSYS) => {
            rustix::fs::linkat(directory, from, directory, to, AtFlags::empty())?;
            rustix::fs::unlinkat(directory, from, AtFlags::empty())
        }
        other => other,
    }
}
