//! What SFTP can do with files.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use outfitter_core::{Deadline, FileKind, FilesError, LeadsTo};
use rustix::io::Errno;

use super::reader::Reader;
use super::{leads, resolve};
use crate::files::error::Failure;
use crate::files::facts::{Facts, Pinned};
use crate::files::limits::FileLimits;
use crate::files::machine::{Below, Entry, Listing, Machine, OpenFile, Pin};
use crate::files::place::Place;
use crate::files::repository::{MAX_ANCESTORS, SIGNS, are_metadata};
use crate::files::root::{LastLink, Rights, Root};
use crate::files::session::Inner;
use crate::ssh::sftp::{Attrs, Fault, Handle, OpenFlags, Sftp};
use crate::startup;

impl From<&Attrs> for Facts {
    /// SFTP tells whole seconds, and no identity.
    fn from(attrs: &Attrs) -> Self {
        Self {
            mode: attrs.mode,
            bytes: attrs.size,
            owner: attrs.owner,
            modified: (i64::from(attrs.modified), 0),
            changed: (0, 0),
            identity: None,
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let unavailable = |what: &str| Self::Unavailable(what.to_owned());
        match fault {
            Fault::NotFound => Self::System(Errno::NOENT),
            Fault::Denied => Self::System(Errno::ACCESS),
            Fault::BadPath => Self::System(Errno::NAMETOOLONG),
            Fault::Failed(words) => Self::Io(std::io::Error::other(format!(
                "the other machine says: {words}"
            ))),
            Fault::Unsupported => {
                unavailable("the server of files (SFTP) of the other machine does not do this")
            }
            Fault::Lost(why) => unavailable(&format!(
                "the connection to the other machine failed: {why}"
            )),
        }
    }
}

/// A path beneath a directory there.
pub(super) fn beside(directory: &str, path: &str) -> String {
    match path {
        "." => directory.to_owned(),
        path => {
            let path = path.trim_start_matches("./");
            format!("{}/{path}", directory.trim_end_matches('/'))
        }
    }
}

impl Machine for Sftp {
    /// Where it really is: absolute, without links and dots.
    type Handle = String;
    type File<'a> = Handle<'a>;

    const OF: &'static str = " of the other machine";
    /// One channel answers one after the other.
    const SEARCH_THREADS: usize = 1;

    fn resolve(place: &Place<'_, Self>, path: &str, last: LastLink) -> Result<Pin<Self>, Failure> {
        resolve::find(place, path, last)
    }

    fn whole(&self) -> Result<Root<Self>, FilesError> {
        let top = Path::new("/");
        let handle = "/".to_owned();
        Ok(Root::new(handle, Rights::ReadWrite, top.to_owned(), top))
    }

    fn real_path(&self, at: &String) -> Result<PathBuf, Failure> {
        Ok(PathBuf::from(at))
    }

    fn is_gone(&self, root: &Root<Self>) -> bool {
        self.lstat(&root.handle) == Err(Fault::NotFound)
    }

    fn beneath(&self, base: &String, path: &str) -> Result<String, Failure> {
        Ok(beside(base, path))
    }

    fn list(&self, base: &String, path: &str, most: u64) -> Result<Listing<String>, Failure> {
        let directory = beside(base, path);
        // A directory that is a link now is not entered: it was none a moment ago.
        let mut names = self.names(&directory, most)?;
        let is_cut = names.len() as u64 > most;
        names.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        let mut entries = Vec::with_capacity(names.len());
        for (name, attrs) in names {
            let (name, exact) = match std::str::from_utf8(&name) {
                Ok(name) => (name.to_owned(), true),
                Err(_) => (String::from_utf8_lossy(&name).into_owned(), false),
            };
            // A name is one: a server that says otherwise leads nowhere else.
            if name.contains(['/', '\0']) {
                return Err(Fault::Failed("a name that is none".to_owned()).into());
            }
            entries.push(Entry {
                name,
                exact,
                kind: Some(attrs.kind()),
                facts: Some(Facts::from(&attrs)),
            });
        }
        Ok(Listing {
            directory,
            entries,
            is_cut,
        })
    }

    fn pin(&self, base: &String, path: &str) -> Result<Pin<Self>, Failure> {
        let handle = beside(base, path);
        let facts = Facts::from(&self.lstat(&handle)?);
        Ok(Pinned { handle, facts })
    }

    fn pin_entry(&self, directory: &String, entry: &Entry) -> Result<Pin<Self>, Failure> {
        match entry.facts {
            Some(facts) => Ok(Pinned {
                handle: beside(directory, &entry.name),
                facts,
            }),
            None => self.pin(directory, &entry.name),
        }
    }

    fn stat(&self, directory: &String, name: &str) -> Result<Facts, Failure> {
        Ok(Facts::from(&self.lstat(&beside(directory, name))?))
    }

    fn target(&self, link: &String) -> Result<String, Failure> {
        Ok(self.readlink(link)?)
    }

    fn make_directory(&self, directory: &String, name: &str, mode: u32) -> Result<(), Failure> {
        let path = beside(directory, name);
        match Sftp::make_directory(self, &path, mode) {
            // SFTP has no word for "it exists".
            Err(Fault::Failed(_)) if self.lstat(&path).is_ok() => Err(Errno::EXIST.into()),
            done => Ok(done?),
        }
    }

    fn make_link(&self, directory: &String, name: &str, target: &str) -> Result<(), Failure> {
        Ok(self.symlink(target, &beside(directory, name))?)
    }

    fn remove_directory(&self, directory: &String, name: &str) -> Result<(), Failure> {
        Ok(Sftp::remove_directory(self, &beside(directory, name))?)
    }

    fn remove(&self, directory: &String, name: &str) -> Result<(), Failure> {
        Ok(Sftp::remove(self, &beside(directory, name))?)
    }

    fn set_directory_mode(&self, directory: &String, name: &str, mode: u32) -> Result<(), Failure> {
        Ok(self.set_mode(&beside(directory, name), mode)?)
    }

    fn rename(&self, directory: &String, from: &str, to: &str) -> Result<(), Failure> {
        Ok(self.replace(&beside(directory, from), &beside(directory, to))?)
    }

    fn rename_free(&self, directory: &String, from: &str, to: &str) -> Result<(), Failure> {
        let to = beside(directory, to);
        match Sftp::rename(self, &beside(directory, from), &to) {
            Err(Fault::Failed(_)) if self.lstat(&to).is_ok() => Err(Errno::EXIST.into()),
            done => Ok(done?),
        }
    }

    fn second_name(&self, directory: &String, name: &str, second: &str) -> Result<(), Failure> {
        Ok(self.hardlink(&beside(directory, name), &beside(directory, second))?)
    }

    fn must_replace(&self) -> Result<(), Failure> {
        if self.can()?.replace {
            return Ok(());
        }
        Err(Failure::Unavailable(
            "the server of files (SFTP) of the other machine cannot replace a file in one step \
             (posix-rename@openssh.com)"
                .to_owned(),
        ))
    }

    fn open(&self, file: &Pin<Self>) -> Result<Handle<'_>, Failure> {
        let below = Below {
            path: ".",
            seen: Some(file.facts),
        };
        Ok(self.open_below(&file.handle, below)?.0)
    }

    fn open_below(&self, base: &String, below: Below<'_>) -> Result<(Handle<'_>, Facts), Failure> {
        let path = beside(base, below.path);
        let seen = match below.seen {
            Some(seen) => seen,
            None => Facts::from(&self.lstat(&path)?),
        };
        // The server would wait for the other end of a pipe.
        if seen.kind() != FileKind::File {
            return Err(std::io::Error::other(format!("it is {}", seen.word())).into());
        }
        let file = Sftp::open(self, &path, OpenFlags::Read, 0)?;
        let now = file.facts()?;
        if now.kind() != seen.kind() || now.owner != seen.owner {
            return Err(Fault::Failed("it was exchanged meanwhile".to_owned()).into());
        }
        Ok((file, now))
    }

    fn open_append(&self, file: &Pin<Self>) -> Result<Handle<'_>, Failure> {
        Ok(Sftp::open(self, &file.handle, OpenFlags::Append, 0)?)
    }

    fn may_write(&self, file: &Pin<Self>) -> Result<(), Failure> {
        match Sftp::open(self, &file.handle, OpenFlags::Write, 0) {
            Ok(_) | Err(Fault::Failed(_)) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    fn create(&self, directory: &String, name: &str, mode: u32) -> Result<Handle<'_>, Failure> {
        Ok(Sftp::open(
            self,
            &beside(directory, name),
            OpenFlags::New,
            mode,
        )?)
    }

    fn look_like(&self, new: &Handle<'_>, old: &Pin<Self>) -> Result<(), Failure> {
        let old = &old.facts;
        if new.facts()?.owner != old.owner {
            match new.set_owner(old.owner) {
                // Only root may give files away.
                Ok(()) | Err(Fault::Denied | Fault::Failed(_)) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        OpenFile::set_mode(new, old.mode & 0o777)
    }

    fn reader<'a>(file: Handle<'a>, left: &'a AtomicU64) -> impl Read + 'a {
        Reader::new(file, left)
    }

    fn may_fetch(limits: &FileLimits) -> u64 {
        limits.max_fetched_bytes
    }

    fn leads_to(files: &Inner<Self>, path: &str, by: Deadline) -> LeadsTo {
        leads::leads_to(files, path, by)
    }

    /// Whether configuration in the root is a link that leads to this path, or to a directory above
    /// it.
    fn fixed_by_link(
        place: &Place<'_, Self>,
        real: &Path,
    ) -> Result<Option<&'static str>, Failure> {
        let names = startup::CONFIGURATION.iter();
        let names: Vec<String> = names.map(|name| beside(&place.root.handle, name)).collect();
        let seen = place.machine().lstat_all(&names)?;
        for (name, seen) in startup::CONFIGURATION.iter().zip(seen) {
            if seen.is_ok_and(|attrs| attrs.kind() == FileKind::Symlink)
                // One that leads out, or nowhere, protects nothing in here.
                && let Ok(found) = Self::resolve(place, name, LastLink::Follow)
                && real.starts_with(&found.handle)
            {
                return Ok(Some(startup::WHY_CONFIGURATION));
            }
        }
        Ok(None)
    }

    fn is_in_repository(place: &Place<'_, Self>, directory: &Pin<Self>) -> Result<bool, Failure> {
        let root = place.root.path();
        let above = Path::new(&directory.handle).ancestors();
        let above = above.take_while(|path| path.starts_with(root));
        let mut asked = Vec::new();
        for directory in above.take(MAX_ANCESTORS) {
            asked.extend(SIGNS.map(|sign| beside(&directory.to_string_lossy(), sign)));
        }
        let seen = place.machine().lstat_all(&asked)?;
        Ok(seen.chunks_exact(SIGNS.len()).any(|here| {
            are_metadata(std::array::from_fn(|sign| {
                here[sign].as_ref().ok().map(Attrs::kind)
            }))
        }))
    }
}

impl OpenFile for Handle<'_> {
    fn facts(&self) -> Result<Facts, Failure> {
        Ok(Facts::from(&self.stat()?))
    }

    fn read(&self, from: u64, most: usize) -> Result<Vec<u8>, Failure> {
        Ok(Handle::read(self, from, most)?)
    }

    fn write(&self, from: u64, bytes: &[u8]) -> Result<(), Failure> {
        Ok(Handle::write(self, from, bytes)?)
    }

    fn set_mode(&self, mode: u32) -> Result<(), Failure> {
        Ok(Handle::set_mode(self, mode)?)
    }

    fn truncate(&self, size: u64) -> Result<(), Failure> {
        Ok(Handle::truncate(self, size)?)
    }

    fn sync(&self) -> Result<(), Failure> {
        Ok(Handle::sync(self)?)
    }
}
