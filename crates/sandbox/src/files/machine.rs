//! What a machine can do with files. All rules stand above this, once for every machine: what is
//! refused, in which order a file is replaced, what a listing leaves out, what a copy takes.
//!
//! All of it blocks: whole operations run where that may be. Below are two machines: this one
//! (`here`), which has handles, identities, exchanges and attributes, and another one (`remote`),
//! which has names. Where the two differ there is a default here that says what without it is so.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use outfitter_core::{Deadline, FileKind, FilesError, LeadsTo};
use rustix::io::Errno;

use super::error::Failure;
use super::facts::{Facts, Pinned};
use super::limits::FileLimits;
use super::place::Place;
use super::root::{LastLink, Root};
use super::session::Inner;
use crate::protected::{Identities, Protected, SECRET};

/// What was found on a machine, and the facts it had then.
pub(super) type Pin<M> = Pinned<<M as Machine>::Handle>;

/// One entry of a directory as it was read.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Whether `name` is the name itself and not a likeness of one that is no text.
    pub(super) exact: bool,
    /// What it is, where the reading told.
    pub(super) kind: Option<FileKind>,
    /// Its facts, where the reading told them.
    pub(super) facts: Option<Facts>,
}

/// A directory as it was read, without `.` and `..`.
pub(super) struct Listing<H> {
    /// The directory, for what is asked of its entries.
    pub(super) directory: H,
    pub(super) entries: Vec<Entry>,
    /// Whether there are more.
    pub(super) is_cut: bool,
}

/// A path beneath a directory, and the facts of the file where a listing has just told them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Below<'a> {
    pub(super) path: &'a str,
    pub(super) seen: Option<Facts>,
}

/// The files of one machine. A `name` is one part of a path; a `path` may have several, none of them
/// a link.
pub(super) trait Machine: Sized + Send + Sync + 'static {
    /// What stands for a file or directory that was found: a handle where there are any, or where it
    /// really is.
    type Handle: Send + Sync + 'static;

    /// An open file.
    type File<'a>: OpenFile;

    /// Whose directories they are, in messages.
    const OF: &'static str;

    /// How many files are searched at once.
    const SEARCH_THREADS: usize;

    /// Finds what a path beneath the root of a place names: beneath it, or anywhere if the place may
    /// reach so far.
    fn resolve(place: &Place<'_, Self>, path: &str, last: LastLink) -> Result<Pin<Self>, Failure>;

    /// The directory that everything is in.
    fn whole(&self) -> Result<Root<Self>, FilesError>;

    /// Where it really is now.
    fn real_path(&self, at: &Self::Handle) -> Result<PathBuf, Failure>;

    /// Whether a root has been removed.
    fn is_gone(&self, root: &Root<Self>) -> bool;

    /// Whether something else has the name of a root now: what is written in the root would not be
    /// where it is said to be, and commands would run elsewhere.
    fn is_replaced(&self, _: &Root<Self>) -> bool {
        false
    }

    /// A directory beneath another one, for what is asked of its entries.
    fn beneath(&self, base: &Self::Handle, path: &str) -> Result<Self::Handle, Failure>;

    /// Reads a directory beneath another one: at most so many entries.
    fn list(
        &self,
        base: &Self::Handle,
        path: &str,
        most: u64,
    ) -> Result<Listing<Self::Handle>, Failure>;

    /// What has this name or path, itself.
    fn pin(&self, base: &Self::Handle, path: &str) -> Result<Pin<Self>, Failure>;

    /// The same of an entry that was just read.
    fn pin_entry(&self, directory: &Self::Handle, entry: &Entry) -> Result<Pin<Self>, Failure> {
        self.pin(directory, &entry.name)
    }

    /// The facts of what has this name, itself.
    fn stat(&self, directory: &Self::Handle, name: &str) -> Result<Facts, Failure>;

    /// Where a link leads.
    fn target(&self, link: &Self::Handle) -> Result<String, Failure>;

    /// Makes a directory; [`Errno::EXIST`] where the name is taken. The system takes the umask off.
    fn make_directory(
        &self,
        directory: &Self::Handle,
        name: &str,
        mode: u32,
    ) -> Result<(), Failure>;

    /// Makes a link.
    fn make_link(&self, directory: &Self::Handle, name: &str, target: &str) -> Result<(), Failure>;

    /// Removes a directory, if nothing is in it.
    fn remove_directory(&self, directory: &Self::Handle, name: &str) -> Result<(), Failure>;

    /// Removes a file or link.
    fn remove(&self, directory: &Self::Handle, name: &str) -> Result<(), Failure>;

    /// Sets the permission bits of a directory.
    fn set_directory_mode(
        &self,
        directory: &Self::Handle,
        name: &str,
        mode: u32,
    ) -> Result<(), Failure>;

    /// Gives a file another name, in one step, whatever has it.
    fn rename(&self, directory: &Self::Handle, from: &str, to: &str) -> Result<(), Failure>;

    /// The same, but only a name that nothing has: else [`Errno::EXIST`].
    fn rename_free(&self, directory: &Self::Handle, from: &str, to: &str) -> Result<(), Failure>;

    /// Two files change names in one step: [`Errno::NOSYS`] where that cannot be.
    fn exchange(&self, _: &Self::Handle, _one: &str, _other: &str) -> Result<(), Failure> {
        Err(Errno::NOSYS.into())
    }

    /// Gives a file a second name.
    fn second_name(
        &self,
        directory: &Self::Handle,
        name: &str,
        second: &str,
    ) -> Result<(), Failure>;

    /// Refuses where nothing is replaced in one step.
    fn must_replace(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Opens a regular file for reading: the very one that was found, or a failure.
    fn open(&self, file: &Pin<Self>) -> Result<Self::File<'_>, Failure>;

    /// The same of a path, with the facts it has then. What is no regular file may be opened and is
    /// told by its facts; nothing waits for the other end of a pipe.
    fn open_below(
        &self,
        base: &Self::Handle,
        below: Below<'_>,
    ) -> Result<(Self::File<'_>, Facts), Failure>;

    /// Opens a file so that what is written is added at its end. It may be another one where files
    /// have no identity: its facts tell.
    fn open_append(&self, file: &Pin<Self>) -> Result<Self::File<'_>, Failure>;

    /// Whether a file may be written, as far as its mode says. A program that runs may be replaced.
    fn may_write(&self, file: &Pin<Self>) -> Result<(), Failure>;

    /// Makes a file that nothing has the name of, for writing; the system takes the umask off.
    fn create(
        &self,
        directory: &Self::Handle,
        name: &str,
        mode: u32,
    ) -> Result<Self::File<'_>, Failure>;

    /// Gives a new file the owner and the attributes of another, where the system allows, and its
    /// permission bits, but no right to act as the owner: that was given to the old content.
    fn look_like(&self, new: &Self::File<'_>, old: &Pin<Self>) -> Result<(), Failure>;

    /// An open file as a reader from its start. It takes what it fetches from `left`, and ends when
    /// nothing is left, if files are fetched.
    fn reader<'a>(file: Self::File<'a>, left: &'a AtomicU64) -> impl Read + 'a;

    /// How much one search may fetch.
    fn may_fetch(_: &FileLimits) -> u64 {
        u64::MAX
    }

    /// Why a path that may lead anywhere is protected by what it leads through, if it is, whether or
    /// not it comes to anything there. To be told where [`resolve`](Self::resolve) does not tell.
    fn leads_into_protected(_: &Inner<Self>, _: &Root<Self>, _path: &str) -> Option<&'static str> {
        None
    }

    /// The sizes of all regular files beneath a directory, as [`Measured`] counts them.
    ///
    /// [`Measured`]: super::quota::Measured
    fn bytes_beneath(&self, root: &Self::Handle) -> u64 {
        super::quota::bytes_beneath(self, root)
    }

    /// What is protected, by identity: nothing, where files show none.
    fn identities(_: &Protected) -> Identities {
        Identities::of(SECRET)
    }

    /// What may be read and not written, by identity.
    fn fixed_identities(_: &Inner<Self>) -> Identities {
        Identities::of(SECRET)
    }

    /// Why a path may not be written although it may be read, if it is for a link that leads to it.
    fn fixed_by_link(_: &Place<'_, Self>, _real: &Path) -> Result<Option<&'static str>, Failure> {
        Ok(None)
    }

    /// Whether a directory, or one above it up to the root, is a repository's metadata under another
    /// name: a bare repository, or what the `.git` file of a worktree leads to.
    fn is_in_repository(place: &Place<'_, Self>, directory: &Pin<Self>) -> Result<bool, Failure>;

    /// What a path leads to now, for rules; unknown where that is not told by then.
    fn leads_to(_: &Inner<Self>, _path: &str, _by: Deadline) -> LeadsTo {
        LeadsTo::Unknown
    }

    /// Whether a path leads to where the session reads, for rules.
    fn is_readable(_: &Inner<Self>, _path: &str) -> bool {
        false
    }

    /// Whether both paths name one file, for rules.
    fn is_same(_: &Inner<Self>, _one: &str, _other: &str) -> bool {
        false
    }
}

/// An open file of a machine.
pub(super) trait OpenFile {
    /// Its facts now.
    fn facts(&self) -> Result<Facts, Failure>;

    /// At most so many bytes from there on; fewer only where the file ends.
    fn read(&self, from: u64, most: usize) -> Result<Vec<u8>, Failure>;

    /// Writes all of it, from there on; at the end, wherever it is told to, where it was opened so.
    fn write(&self, from: u64, bytes: &[u8]) -> Result<(), Failure>;

    fn set_mode(&self, mode: u32) -> Result<(), Failure>;

    fn truncate(&self, size: u64) -> Result<(), Failure>;

    /// On the disk, as far as the machine can.
    fn sync(&self) -> Result<(), Failure>;
}
