//! Files and trees in and out, whole before they have their name.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use outfitter_core::{FileKind, FilesError};
use rustix::io::Errno;

use super::place::{Place, Seen, said, word_of};
use super::read::open_seen;
use super::temporary::{Temporary, beside, busy, must_replace};
use super::write::{Target, turn};
use crate::files::cancel::Gone;
use crate::files::copy_tree::stays_inside;
use crate::files::error::{failed, failed_io, invalid, protected};
use crate::files::limits::{FileLimits, MAX_DEPTH};
use crate::files::quota::Room;
use crate::files::root::LastLink;
use crate::files::temporary::temporary_name;
use crate::protected::Protected;
use crate::ssh::sftp::{Fault, OpenFlags, Sftp};

/// How much of a file is on its way at a time.
const PIECE: usize = 1 << 20;

/// Copies a file or tree of ours into the session's files; permission bits are kept.
pub(super) fn import(from: &Path, place: &Place<'_>, gone: &Gone) -> Result<(), FilesError> {
    let shown = from.display().to_string();
    let facts = facts(from, &shown)?;
    let _turn = turn(place);
    let target = Target::making(place, &mut Vec::new())?;
    let sftp = place.sftp();
    let mut copy = Copy::new(sftp, place.files.limits, gone);
    copy.room = Some(place.files.room());
    if facts.is_dir() {
        if sftp.lstat(&target.path()).is_ok() {
            return Err(place.failed(Errno::EXIST));
        }
        let temporary = beside(&target.directory, &temporary_name());
        let done = copy.tree_in(from, &temporary, "", &shown).and_then(|()| {
            let named = sftp.rename(&temporary, &target.path());
            named.map_err(|fault| place.fault(fault))
        });
        if done.is_err() {
            remove_tree(sftp, &temporary, MAX_DEPTH + 1);
        }
        done?;
    } else if facts.is_file() {
        let existing = target.existing()?;
        let replaced = existing.as_ref().map_or(0, |old| old.attrs.size);
        let mut finished = Temporary::empty(place, &target.directory);
        let temporary = finished.path.clone().unwrap_or_default();
        copy.file_in(from, &temporary, &shown)?;
        if existing.is_some() {
            must_replace(place)?;
            let named = finished.take_name(&target.name);
            named.map_err(|fault| place.fault(fault))?;
        } else if !finished.take_free_name(&target.name)? {
            return Err(busy(place));
        }
        if let Some(room) = copy.room.take() {
            room.keep(replaced);
        }
        return Ok(());
    } else {
        return Err(not_copied(&shown, word_of_ours(&facts)));
    }
    if let Some(room) = copy.room.take() {
        room.keep(0);
    }
    Ok(())
}

/// Copies a tree of ours to a place there that nothing has yet, for reading. Gives what of it is not
/// copied and why: a link that leads out of it, or what is no file.
pub(crate) fn lay(sftp: &Sftp, from: &Path, to: &str) -> Result<Vec<FilesError>, FilesError> {
    let shown = from.display().to_string();
    let gone = Gone::default();
    let mut copy = Copy::new(sftp, FileLimits::default(), &gone);
    copy.takes_writing_away = true;
    copy.left_out = Some(Vec::new());
    let done = copy.tree_in(from, to, "", &shown);
    if done.is_err() {
        remove_tree(sftp, to, MAX_DEPTH + 1);
    }
    done.map(|()| copy.left_out.unwrap_or_default())
}

/// Copies a file or tree of the session's out to us, for us alone: `0600` and `0700`, and the
/// owner's right to execute.
pub(super) fn export(place: &Place<'_>, to: &Path, gone: &Gone) -> Result<(), FilesError> {
    let shown = to.display().to_string();
    let source = place.find(LastLink::Follow)?;
    let (Some(parent), Some(_)) = (to.parent(), to.file_name().and_then(|name| name.to_str()))
    else {
        return Err(invalid(&shown, "it is not a path that a copy can have"));
    };
    let temporary = parent.join(temporary_name());
    let mut copy = Copy::new(place.sftp(), place.files.limits, gone);
    copy.guard = Some(&place.files.protected);
    let done = match source.attrs.kind() {
        FileKind::File => copy.file_out(&source, &temporary, &place.shown),
        FileKind::Directory if to.symlink_metadata().is_ok() => {
            return Err(failed(&shown, Errno::EXIST));
        }
        FileKind::Directory => copy.tree_out(&source, &temporary, "", &place.shown),
        FileKind::Symlink | FileKind::Special => {
            return Err(not_copied(&place.shown, word_of(&source.attrs)));
        }
    };
    let done = done
        .and_then(|()| std::fs::rename(&temporary, to).map_err(|error| failed_io(&shown, error)));
    if done.is_err() {
        // What cannot be removed stays under its temporary name.
        let _ = std::fs::remove_file(&temporary);
        let _ = std::fs::remove_dir_all(&temporary);
    }
    done
}

struct Copy<'a> {
    sftp: &'a Sftp,
    limits: FileLimits,
    gone: &'a Gone,
    /// What may not leave.
    guard: Option<&'a Protected>,
    /// Whether nobody may write what comes in.
    takes_writing_away: bool,
    /// What cannot come in, where the rest does without it.
    left_out: Option<Vec<FilesError>>,
    bytes: u64,
    entries: u64,
    /// What of the session's quota it takes; what goes out takes none.
    room: Option<Room<'a>>,
}

impl<'a> Copy<'a> {
    fn new(sftp: &'a Sftp, limits: FileLimits, gone: &'a Gone) -> Self {
        Self {
            sftp,
            limits,
            gone,
            guard: None,
            takes_writing_away: false,
            left_out: None,
            bytes: 0,
            entries: 0,
            room: None,
        }
    }

    fn tree_in(
        &mut self,
        from: &Path,
        to: &str,
        below: &str,
        shown: &str,
    ) -> Result<(), FilesError> {
        self.enter(below, shown)?;
        let io = |error| failed_io(shown, error);
        let mode = self.mode_of(&facts(from, shown)?);
        self.there(self.sftp.make_directory(to, 0o700), shown)?;
        let mut names = Vec::new();
        for entry in std::fs::read_dir(from).map_err(io)? {
            let name = entry.map_err(io)?.file_name();
            let name = name.into_string();
            names.push(name.map_err(|_| failed(shown, Errno::ILSEQ))?);
        }
        names.sort();
        for name in names {
            let (ours, theirs) = (from.join(&name), beside(to, &name));
            let below = join(below, &name);
            let shown = ours.display().to_string();
            let facts = facts(&ours, &shown)?;
            if facts.is_dir() {
                self.tree_in(&ours, &theirs, &below, &shown)?;
            } else if facts.is_file() {
                self.file_in(&ours, &theirs, &shown)?;
            } else if facts.is_symlink() {
                self.count(&shown)?;
                let target = std::fs::read_link(&ours).map_err(|error| failed_io(&shown, error))?;
                let target = target.to_string_lossy().into_owned();
                if !stays_inside(&below, &target) {
                    self.leave_out(FilesError::Symlink {
                        path: shown,
                        target,
                    })?;
                    continue;
                }
                self.there(self.sftp.symlink(&target, &theirs), &shown)?;
            } else {
                self.leave_out(not_copied(&shown, word_of_ours(&facts)))?;
            }
        }
        // Last, because a directory without the right to write takes no entries.
        self.there(self.sftp.set_mode(to, mode), shown)
    }

    fn file_in(&mut self, from: &Path, to: &str, shown: &str) -> Result<(), FilesError> {
        self.count(shown)?;
        let io = |error| failed_io(shown, error);
        // Not through a link, and not waiting for a pipe that has taken the name.
        let mut file = File::options()
            .read(true)
            .custom_flags(
                (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK)
                    .bits()
                    .cast_signed(),
            )
            .open(from)
            .map_err(io)?;
        let facts = file.metadata().map_err(io)?;
        let made = self.sftp.open(to, OpenFlags::New, 0o600);
        let made = made.map_err(|fault| said(shown, fault))?;
        let mut piece = vec![0; PIECE];
        let mut at = 0_u64;
        loop {
            self.gone.check()?;
            let got = file.read(&mut piece).map_err(io)?;
            if got == 0 {
                break;
            }
            self.take(shown, got as u64)?;
            self.there(made.write(at, &piece[..got]), shown)?;
            at += got as u64;
        }
        self.there(made.set_mode(self.mode_of(&facts)), shown)
    }

    fn tree_out(
        &mut self,
        from: &Seen,
        to: &Path,
        below: &str,
        shown: &str,
    ) -> Result<(), FilesError> {
        self.enter(below, shown)?;
        let io = |error| failed_io(shown, error);
        std::fs::DirBuilder::new().create(to).map_err(io)?;
        std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).map_err(io)?;
        let names = self.sftp.names(&from.real, self.limits.max_copy_entries);
        let mut names = names.map_err(|fault| said(shown, fault))?;
        names.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (name, attrs) in names {
            let name = std::str::from_utf8(&name).map_err(|_| failed(shown, Errno::ILSEQ))?;
            // A name is one: a server that says otherwise writes nowhere else.
            if name.contains(['/', '\0']) {
                return Err(invalid(name, "it is no name"));
            }
            let seen = Seen {
                real: beside(&from.real, name),
                attrs,
            };
            let (ours, below) = (to.join(name), join(below, name));
            let shown = beside(shown, name);
            if let Some(why) = self
                .guard
                .and_then(|guard| guard.covers(Path::new(&seen.real)))
            {
                return Err(protected(&shown, why));
            }
            match attrs.kind() {
                FileKind::Directory => self.tree_out(&seen, &ours, &below, &shown)?,
                FileKind::File => self.file_out(&seen, &ours, &shown)?,
                FileKind::Symlink => {
                    self.count(&shown)?;
                    let target = self.sftp.readlink(&seen.real);
                    let target = target.map_err(|fault| said(&shown, fault))?;
                    if !stays_inside(&below, &target) {
                        return Err(FilesError::Symlink {
                            path: shown,
                            target,
                        });
                    }
                    std::os::unix::fs::symlink(&target, &ours)
                        .map_err(|error| failed_io(&shown, error))?;
                }
                FileKind::Special => return Err(not_copied(&shown, word_of(&attrs))),
            }
        }
        Ok(())
    }

    fn file_out(&mut self, from: &Seen, to: &Path, shown: &str) -> Result<(), FilesError> {
        self.count(shown)?;
        let left = self.limits.max_copy_bytes - self.bytes;
        if from.attrs.size > left {
            let size = self.bytes.saturating_add(from.attrs.size);
            return Err(too_large(shown, size, self.limits.max_copy_bytes));
        }
        let io = |error| failed_io(shown, error);
        let file = open_seen(self.sftp, from).map_err(|fault| said(shown, fault))?;
        let mut made = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600 | (from.attrs.mode & 0o100))
            .open(to)
            .map_err(io)?;
        let mut at = 0;
        loop {
            self.gone.check()?;
            let piece = file.read(at, PIECE).map_err(|fault| said(shown, fault))?;
            if piece.is_empty() {
                return Ok(());
            }
            self.take(shown, piece.len() as u64)?;
            made.write_all(&piece).map_err(io)?;
            at += piece.len() as u64;
        }
    }

    /// Goes on without something, or stops at it.
    fn leave_out(&mut self, why: FilesError) -> Result<(), FilesError> {
        match &mut self.left_out {
            Some(left_out) => left_out.push(why),
            None => return Err(why),
        }
        Ok(())
    }

    fn mode_of(&self, facts: &std::fs::Metadata) -> u32 {
        let mode = facts.permissions().mode() & 0o777;
        if self.takes_writing_away {
            mode & 0o555
        } else {
            mode
        }
    }

    fn enter(&mut self, below: &str, shown: &str) -> Result<(), FilesError> {
        self.count(shown)?;
        if below.split('/').count() > MAX_DEPTH as usize {
            return Err(invalid(
                shown,
                format!("it is deeper than {MAX_DEPTH} levels"),
            ));
        }
        Ok(())
    }

    fn count(&mut self, shown: &str) -> Result<(), FilesError> {
        self.gone.check()?;
        self.entries += 1;
        let limit = self.limits.max_copy_entries;
        if self.entries > limit {
            return Err(too_large(shown, self.entries, limit));
        }
        Ok(())
    }

    fn take(&mut self, shown: &str, bytes: u64) -> Result<(), FilesError> {
        self.bytes += bytes;
        let limit = self.limits.max_copy_bytes;
        if self.bytes > limit {
            return Err(too_large(shown, self.bytes, limit));
        }
        match &mut self.room {
            Some(room) => room.take(shown, bytes),
            None => Ok(()),
        }
    }

    fn there<T>(&self, done: Result<T, Fault>, shown: &str) -> Result<T, FilesError> {
        done.map_err(|fault| said(shown, fault))
    }
}

/// Takes back a copy that did not end well. What cannot be removed stays under its temporary name.
fn remove_tree(sftp: &Sftp, path: &str, depth: u32) {
    if depth > 0 {
        let _ = sftp.set_mode(path, 0o700);
        for (name, attrs) in sftp.names(path, u64::MAX).unwrap_or_default() {
            let Ok(name) = std::str::from_utf8(&name) else {
                continue;
            };
            let path = beside(path, name);
            if attrs.kind() == FileKind::Directory {
                remove_tree(sftp, &path, depth - 1);
            } else {
                let _ = sftp.remove(&path);
            }
        }
    }
    let _ = sftp.remove_directory(path);
}

fn facts(path: &Path, shown: &str) -> Result<std::fs::Metadata, FilesError> {
    std::fs::symlink_metadata(path).map_err(|error| failed_io(shown, error))
}

fn word_of_ours(facts: &std::fs::Metadata) -> &'static str {
    if facts.is_symlink() {
        "a symbolic link"
    } else {
        "a device, pipe or socket"
    }
}

fn join(below: &str, name: &str) -> String {
    if below.is_empty() {
        name.to_owned()
    } else {
        format!("{below}/{name}")
    }
}

fn not_copied(shown: &str, is: &'static str) -> FilesError {
    FilesError::WrongKind {
        path: shown.to_owned(),
        is,
        wanted: "a file or directory",
    }
}

fn too_large(shown: &str, size: u64, limit: u64) -> FilesError {
    FilesError::TooLarge {
        path: shown.to_owned(),
        size,
        limit,
    }
}
