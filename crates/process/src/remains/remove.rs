//! The one deletion of a tree.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, SeekFrom};
use rustix::io::Errno;

use super::descent::{Descent, Opening};
use super::stays::{StaysBehind, shown};

/// Room for the names of one read of a directory.
const NAMES_BYTES: usize = 32 << 10;

/// The most names that wait to be entered, on all levels together; each level has at least one. What
/// finds no room is met again when its directory is read once more.
const MAX_WAITING: usize = 65_536;

/// How often a directory is read once more because something new was in it.
const MAX_PASSES: u32 = 64;

/// The most entries of one directory that cannot be removed before the rest of it is left, too.
const MAX_STUCK: usize = 4096;

/// What became of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removed {
    /// It is gone.
    Gone,
    /// There was none.
    WasNotThere,
}

/// Removes a tree, or whatever has the name: its last part is not followed where it is a link, and
/// neither is anything in it. Directories of ours whose permission bits are in the way get others
/// first. Goes on past what cannot be removed. It blocks for as long as there is something to remove.
///
/// # Errors
/// [`StaysBehind`] when anything is left.
pub fn remove_tree(path: &Path) -> Result<Removed, StaysBehind> {
    let failed = |errno| StaysBehind::new(path.to_owned(), errno);
    let name = path.file_name().ok_or_else(|| failed(Errno::INVAL))?;
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = rustix::fs::openat(CWD, parent.unwrap_or(Path::new(".")), flags, Mode::empty());
    match parent {
        Ok(parent) => remove_named(parent, name.as_bytes(), path),
        Err(Errno::NOENT) => Ok(Removed::WasNotThere),
        Err(errno) => Err(failed(errno)),
    }
}

/// The same as [`remove_tree`], where blocking is in nobody's way.
///
/// # Errors
/// [`StaysBehind`] when anything is left.
pub async fn remove_tree_in_pool(path: PathBuf) -> Result<Removed, StaysBehind> {
    let for_error = path.clone();
    let done = tokio::task::spawn_blocking(move || remove_tree(&path)).await;
    done.unwrap_or_else(|error| {
        Err(StaysBehind {
            path: for_error,
            others: 0,
            source: std::io::Error::other(error),
        })
    })
}

fn remove_named(parent: impl AsFd, name: &[u8], path: &Path) -> Result<Removed, StaysBehind> {
    let failed = |errno| StaysBehind::new(path.to_owned(), errno);
    let name = CString::new(name).map_err(|_| failed(Errno::INVAL))?;
    let parent = parent.as_fd();
    match remove_entry(parent, &name, FileType::Unknown) {
        Ok(()) => return Ok(Removed::Gone),
        Err(Errno::NOENT) => return Ok(Removed::WasNotThere),
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        Err(errno) => return Err(failed(errno)),
    }
    let descent = match Descent::begin(parent, &name, Opening::ToEmpty) {
        Ok(descent) => descent,
        Err(Errno::NOENT) => return Ok(Removed::WasNotThere),
        Err(errno) => return Err(failed(errno)),
    };
    let mut removal = Removal {
        root: path,
        descent,
        levels: vec![Level::default()],
        waiting: 0,
        names: Vec::with_capacity(NAMES_BYTES),
        left: None,
    };
    removal.empty();
    if let Some(left) = removal.left {
        return Err(left);
    }
    match remove_entry(parent, &name, FileType::Directory) {
        Ok(()) | Err(Errno::NOENT) => Ok(Removed::Gone),
        Err(errno) => Err(failed(errno)),
    }
}

/// A removal on its way.
struct Removal<'p> {
    root: &'p Path,
    descent: Descent,
    /// One for each directory from the root to the one that is open.
    levels: Vec<Level>,
    waiting: usize,
    names: Vec<u8>,
    left: Option<StaysBehind>,
}

/// A directory that is being emptied.
#[derive(Default)]
struct Level {
    /// Directories in it that are not empty.
    waiting: Vec<CString>,
    /// What stays.
    stuck: HashSet<CString>,
    passes: u32,
    is_done: bool,
}

impl Removal<'_> {
    /// Removes all that is in the root.
    fn empty(&mut self) {
        while let Some(level) = self.levels.last_mut() {
            if let Some(name) = level.waiting.pop() {
                self.waiting -= 1;
                match self.descent.enter(name.clone()) {
                    Ok(()) => self.levels.push(Level::default()),
                    Err(Errno::NOENT) => {}
                    // Something else has the name now; the next look at the directory finds it.
                    Err(Errno::NOTDIR | Errno::LOOP) => {}
                    Err(errno) => self.stays(name, errno),
                }
            } else if level.is_done {
                if self.levels.len() == 1 {
                    return;
                }
                self.levels.pop();
                if let Err(errno) = self.go_up() {
                    // The way back is lost, and with it all that is left above.
                    let way = self.descent.names();
                    let path = shown(self.root, way, None);
                    self.tell(StaysBehind::new(path, errno));
                    return;
                }
            } else {
                self.look();
            }
        }
    }

    /// Back to the directory above, where the one that was emptied is removed.
    fn go_up(&mut self) -> Result<(), Errno> {
        let Some(name) = self.descent.leave()? else {
            return Ok(());
        };
        match remove_entry(&self.descent.here, &name, FileType::Directory) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => self.stays(name, errno),
        }
        Ok(())
    }

    /// Reads the directory once, removes what is no directory or an empty one, and notes the rest.
    fn look(&mut self) {
        let Some(level) = self.levels.last_mut() else {
            return;
        };
        let here = &self.descent.here;
        let (mut removed, mut is_cut) = (false, false);
        let mut stuck = Vec::new();
        let mut broken = rustix::fs::seek(here, SeekFrom::Start(0)).err();
        let room: &mut [MaybeUninit<u8>] = self.names.spare_capacity_mut();
        let mut entries = RawDir::new(here, room);
        while broken.is_none()
            && let Some(entry) = entries.next()
        {
            let entry = match entry {
                Ok(entry) => entry,
                Err(errno) => {
                    broken = Some(errno);
                    break;
                }
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") || level.stuck.contains(name) {
                continue;
            }
            match remove_entry(here, name, entry.file_type()) {
                Ok(()) | Err(Errno::NOENT) => removed = true,
                Err(Errno::NOTEMPTY | Errno::EXIST) => {
                    if self.waiting < MAX_WAITING || level.waiting.is_empty() {
                        self.waiting += 1;
                        level.waiting.push(name.to_owned());
                    } else {
                        is_cut = true;
                    }
                }
                Err(errno) => {
                    stuck.push((name.to_owned(), errno));
                    if level.stuck.len() + stuck.len() >= MAX_STUCK {
                        break;
                    }
                }
            }
        }
        if !is_cut {
            level.passes += 1;
        }
        let is_full = level.stuck.len() + stuck.len() >= MAX_STUCK;
        let nothing_new = !removed && level.waiting.is_empty();
        level.is_done = broken.is_some() || nothing_new || is_full || level.passes >= MAX_PASSES;
        for (name, errno) in stuck {
            self.stays(name, errno);
        }
        if let Some(errno) = broken {
            let path = shown(self.root, self.descent.names(), None);
            self.tell(StaysBehind::new(path, errno));
        }
    }

    /// An entry of the directory that is open stays. That a directory is not empty is told where it
    /// is not because of something that was told already.
    fn stays(&mut self, name: CString, errno: Errno) {
        let holds_others = matches!(errno, Errno::NOTEMPTY | Errno::EXIST) && self.left.is_some();
        if !holds_others {
            let path = shown(self.root, self.descent.names(), Some(&name));
            self.tell(StaysBehind::new(path, errno));
        }
        if let Some(level) = self.levels.last_mut() {
            level.stuck.insert(name);
        }
    }

    fn tell(&mut self, what: StaysBehind) {
        match &mut self.left {
            Some(first) => first.others += 1,
            None => self.left = Some(what),
        }
    }
}

/// Removes a file, a link or an empty directory.
fn remove_entry(parent: impl AsFd, name: &CStr, kind: FileType) -> Result<(), Errno> {
    let parent = parent.as_fd();
    let directory = || rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
    let other = || rustix::fs::unlinkat(parent, name, AtFlags::empty());
    if kind == FileType::Directory {
        match directory() {
            Err(Errno::NOTDIR) => other(),
            done => done,
        }
    } else {
        match other() {
            Err(Errno::ISDIR) => directory(),
            done => done,
        }
    }
}
