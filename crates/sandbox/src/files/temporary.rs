//! A file in the making, beside the name that it will take.
//!
//! It is removed when nothing comes of it. One whose process was ended in the middle stays: no
//! listing and no search shows it, and once it is older than any write takes, the next write in its
//! directory removes it. What a half undone change has left for people has another name and stays.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use outfitter_core::{FileKind, FilesError};
use rustix::io::Errno;

use super::copy_tree::remove_tree;
use super::error::Failure;
use super::limits::{MAX_DEPTH, MAX_SWEPT, MAX_SWEPT_NAMES};
use super::machine::{Machine, OpenFile as _};
use super::place::Place;
use super::target::Key;

/// A new file is made as any program of the user's makes it; the system takes the umask off.
pub(super) const NEW_FILE: u32 = 0o666;
/// The same of a program.
pub(super) const NEW_PROGRAM: u32 = 0o777;
/// A file that is to replace another is nobody else's until it has the other's mode.
pub(super) const PRIVATE: u32 = 0o600;

/// How many names are tried; one nearly always does.
const MAX_NAMES: u32 = 16;

/// No write takes longer: what was begun before will not be finished.
const LONGEST_WRITE: Duration = Duration::from_secs(24 * 60 * 60);

const MAKING: &str = ".outfitter-new-";
const KEPT: &str = ".outfitter-kept-";

/// A name nobody else uses, short enough beside any other. It tells when it was made.
pub(super) fn temporary_name() -> String {
    named(MAKING)
}

fn named(prefix: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = now();
    let (seconds, nanoseconds) = (now.as_secs(), now.subsec_nanos());
    let process = std::process::id();
    format!("{prefix}{seconds:x}-{process:x}-{count:x}-{nanoseconds:x}")
}

fn now() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

/// Whether a name is one of a file in the making.
pub(super) fn is_temporary(name: &str) -> bool {
    begun(name).is_some()
}

/// When the making of it was begun, by its name.
fn begun(name: &str) -> Option<Duration> {
    let mut parts = name.strip_prefix(MAKING)?.split('-');
    let seconds = u64::from_str_radix(parts.next()?, 16).ok()?;
    let others = parts.map(|part| u64::from_str_radix(part, 16).ok());
    let others = others.collect::<Option<Vec<_>>>()?;
    (others.len() == 3).then(|| Duration::from_secs(seconds))
}

/// The directories of a session in which nothing old is left. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Swept(Arc<Mutex<HashSet<Key>>>);

impl Swept {
    /// Removes what was left in a directory by processes that have ended, once for each.
    pub(super) fn sweep<M: Machine>(&self, machine: &M, directory: &M::Handle, key: Key) {
        {
            let mut swept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if swept.len() >= MAX_SWEPT {
                swept.clear();
            }
            if !swept.insert(key) {
                return;
            }
        }
        let Ok(listing) = machine.list(directory, ".", MAX_SWEPT_NAMES) else {
            return;
        };
        let now = now();
        for entry in &listing.entries {
            let is_old = begun(&entry.name).is_some_and(|at| at + LONGEST_WRITE < now);
            if !is_old {
                continue;
            }
            // A whole tree that was to be copied in is one too.
            match machine
                .stat(directory, &entry.name)
                .map(|facts| facts.kind())
            {
                Ok(FileKind::Directory) => {
                    remove_tree(machine, directory, &entry.name, MAX_DEPTH + 1);
                }
                Ok(_) => {
                    let _ = machine.remove(directory, &entry.name);
                }
                Err(_) => {}
            }
        }
    }
}

/// A file in the making; removed unless it takes its name.
pub(super) struct Temporary<'a, M: Machine> {
    machine: &'a M,
    directory: &'a M::Handle,
    name: Option<String>,
}

impl<'a, M: Machine> Temporary<'a, M> {
    /// A name that nothing has.
    pub(super) fn unmade(machine: &'a M, directory: &'a M::Handle) -> Self {
        Self {
            machine,
            directory,
            name: Some(temporary_name()),
        }
    }

    /// A new file, open for writing.
    pub(super) fn new(
        place: &Place<'a, M>,
        directory: &'a M::Handle,
        mode: u32,
    ) -> Result<(Self, M::File<'a>), FilesError> {
        let machine = place.machine();
        let mut tries = 0;
        loop {
            let name = temporary_name();
            match machine.create(directory, &name, mode) {
                Ok(file) => {
                    let name = Some(name);
                    let made = Self {
                        machine,
                        directory,
                        name,
                    };
                    return Ok((made, file));
                }
                Err(failure) if failure.is(Errno::EXIST) && tries < MAX_NAMES => tries += 1,
                Err(failure) => return Err(place.failed(failure)),
            }
        }
    }

    /// The same with content.
    pub(super) fn with(
        place: &Place<'a, M>,
        directory: &'a M::Handle,
        mode: u32,
        bytes: &[u8],
    ) -> Result<(Self, M::File<'a>), FilesError> {
        let (made, file) = Self::new(place, directory, mode)?;
        let written = file.write(0, bytes);
        written.map_err(|failure| place.failed(failure))?;
        Ok((made, file))
    }

    fn name(&self) -> Result<&str, Failure> {
        self.name.as_deref().ok_or(Failure::System(Errno::NOENT))
    }

    /// Takes the name of another file, or a free one, in one step.
    pub(super) fn take_name(&mut self, name: &str) -> Result<(), Failure> {
        self.machine.rename(self.directory, self.name()?, name)?;
        self.name = None;
        Ok(())
    }

    /// The same, but only a name that nothing has.
    pub(super) fn take_free_name(&mut self, name: &str) -> Result<(), Failure> {
        self.machine
            .rename_free(self.directory, self.name()?, name)?;
        self.name = None;
        Ok(())
    }

    /// Changes places with the file that has the name: what was there is here now.
    pub(super) fn change_places(&mut self, name: &str) -> Result<(), Failure> {
        self.machine.exchange(self.directory, self.name()?, name)
    }

    /// Takes the file that has the name out of sight; it is here now.
    pub(super) fn take_away(&mut self, name: &str) -> Result<(), Failure> {
        self.machine.rename(self.directory, name, self.name()?)
    }

    /// Gives the file that has the name a second one, here.
    pub(super) fn keep_too(&mut self, name: &str) -> Result<(), Failure> {
        self.machine.second_name(self.directory, name, self.name()?)
    }

    /// The facts of what is here now.
    pub(super) fn stat(&self) -> Result<super::facts::Facts, Failure> {
        self.machine.stat(self.directory, self.name()?)
    }

    /// Leaves what is here under a name that stays, and tells it.
    pub(super) fn leave(&mut self) -> String {
        let here = self.name.take().unwrap_or_default();
        let kept = named(KEPT);
        match self.machine.rename_free(self.directory, &here, &kept) {
            Ok(()) => kept,
            Err(_) => here,
        }
    }
}

impl<M: Machine> Drop for Temporary<'_, M> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = self.machine.remove(self.directory, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use outfitter_core::{FileRef, Files as _, List, Reach};

    use super::*;
    use crate::files::LocalFiles;
    use crate::protected::Protected;

    #[tokio::test]
    async fn what_is_in_the_making_is_known_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let files = LocalFiles::open(dir.path(), Protected::of_system()).unwrap();
        let here = FileRef {
            path: ".",
            reach: Reach::Workspace,
        };
        let place = Place::of(files.inner(), here).unwrap();
        let made = Temporary::new(&place, &place.root.handle, PRIVATE).unwrap();
        // As where the process is killed: nobody removes it.
        std::mem::forget(made);
        let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
        let name = names[0].as_ref().unwrap().file_name();
        let begun = begun(name.to_str().unwrap()).unwrap();
        assert!(now() < begun + LONGEST_WRITE, "{name:?} is swept at once");
        let all = List {
            depth: 1,
            max_items: 10,
            hidden: true,
            ignored: true,
        };
        assert_eq!(files.list(here, all).await.unwrap().entries, []);
    }
}
