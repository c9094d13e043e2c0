//! Files and trees in and out.
//!
//! A tree is copied whole to a temporary name beside its own and then takes its name, which nothing
//! may have yet; a single file replaces another as a write does. Relative links that stay inside
//! the tree are copied as links; others, and special files, are refused: what is not copied is said.

use std::path::Path;

use outfitter_core::{FileKind, FilesError};
use rustix::io::Errno;

use super::cancel::Gone;
use super::copy_tree::{Copy, Guard, Modes, not_copied};
use super::error::{failed, invalid};
use super::here::Here;
use super::limits::{FileLimits, MAX_COPY_TRIES};
use super::machine::{Machine, OpenFile as _, Pin};
use super::parents::{MadeDirectory, unmake};
use super::place::Place;
use super::root::LastLink;
use super::target::Target;
use super::temporary::{PRIVATE, Temporary, temporary_name};

/// Copies a file or tree of ours into the session's files; permission bits are kept.
pub(super) fn import<M: Machine>(
    from: &Path,
    place: &Place<'_, M>,
    gone: &Gone,
) -> Result<(), FilesError> {
    let mut made = Vec::new();
    let done = import_making(from, place, &mut made, gone);
    if done.is_err() {
        unmake(place.machine(), &made);
    }
    done
}

fn import_making<M: Machine>(
    from: &Path,
    place: &Place<'_, M>,
    made: &mut Vec<MadeDirectory<M>>,
    gone: &Gone,
) -> Result<(), FilesError> {
    let shown = from.display().to_string();
    let source = Here::pin_ours(from).map_err(|failure| failed(&shown, failure))?;
    let target = Target::making(place, made)?;
    let _turn = target.take_turn();
    let machine = place.machine();
    let mut copy = Copy::new(&Here, machine, place.files.limits, gone);
    match source.kind() {
        FileKind::File => {
            for _ in 0..=MAX_COPY_TRIES {
                // What was copied before went with its temporary file.
                copy.room = Some(place.files.room());
                let existing = target.existing()?;
                if existing.is_some() {
                    let may = machine.must_replace();
                    may.map_err(|failure| place.failed(failure))?;
                }
                let directory = &target.parent.handle;
                let (mut finished, file) = Temporary::new(place, directory, PRIVATE)?;
                copy.content(&source, &file, &shown)?;
                let named = file.set_mode(source.facts.mode & 0o777);
                let named = named.and_then(|()| match existing {
                    Some(_) => finished.take_name(&target.name),
                    None => finished.take_free_name(&target.name),
                });
                match named {
                    Ok(()) => {
                        copy.keep(existing.map_or(0, |old| old.facts.size()));
                        return Ok(());
                    }
                    Err(failure) if failure.is(Errno::EXIST) => {}
                    Err(failure) => return Err(place.failed(failure)),
                }
            }
            Err(place.failed(Errno::EXIST))
        }
        FileKind::Directory => {
            copy.room = Some(place.files.room());
            let to = (&target.parent.handle, target.name.as_str());
            copy.tree_to(&source, to, &shown, &place.shown)?;
            copy.keep(0);
            Ok(())
        }
        FileKind::Symlink | FileKind::Special => Err(not_copied(&shown, &source.facts)),
    }
}

/// Copies a tree of ours to a place that nothing has yet, for reading. Gives what of it is not copied
/// and why: a link that leads out of it, or what is no file.
pub(super) fn lay<M: Machine>(
    from: &Path,
    machine: &M,
    to: (&M::Handle, &str),
) -> Result<Vec<FilesError>, FilesError> {
    let shown = from.display().to_string();
    let gone = Gone::default();
    let source = Here::pin_ours(from).map_err(|failure| failed(&shown, failure))?;
    source.must_be_directory(&shown)?;
    let mut copy = Copy::new(&Here, machine, FileLimits::default(), &gone);
    copy.modes = Modes::ReadOnly;
    copy.left_out = Some(Vec::new());
    copy.tree_to(&source, to, &shown, &shown)?;
    Ok(copy.left_out.unwrap_or_default())
}

/// Copies a file or tree of the session's out to us, for us alone: `0600` and `0700`, and the
/// owner's right to execute. The directory it goes into is there already.
pub(super) fn export<M: Machine>(
    place: &Place<'_, M>,
    to: &Path,
    gone: &Gone,
) -> Result<(), FilesError> {
    let shown = to.display().to_string();
    let source: Pin<M> = place.pin(LastLink::Follow)?;
    let machine = place.machine();
    let real = machine.real_path(&source.handle);
    let (Some(parent), Some(name)) = (to.parent(), to.file_name().and_then(|name| name.to_str()))
    else {
        return Err(invalid(&shown, "it is not a path that a copy can have"));
    };
    let parent = match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    };
    let parent = Here::directory_of_ours(parent).map_err(|failure| failed(&shown, failure))?;
    let mut copy = Copy::new(machine, &Here, place.files.limits, gone);
    copy.modes = Modes::Private;
    copy.guard = Some(Guard {
        protected: &place.files.protected,
        identities: M::identities(&place.files.protected),
        real: real.map_err(|failure| place.failed(failure))?,
    });
    match source.kind() {
        FileKind::File => {
            let temporary = temporary_name();
            let done = copy.file(&source, (&parent, &temporary), &place.shown);
            let done = done.and_then(|()| {
                let named = Here.rename(&parent, &temporary, name);
                named.map_err(|failure| failed(&shown, failure))
            });
            if done.is_err() {
                let _ = Here.remove(&parent, &temporary);
            }
            done
        }
        FileKind::Directory => copy.tree_to(&source, (&parent, name), &place.shown, &shown),
        FileKind::Symlink | FileKind::Special => Err(not_copied(&place.shown, &source.facts)),
    }
}
