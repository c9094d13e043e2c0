//! Writing single files.
//!
//! A file is replaced by a finished one: temporary file in the same directory, then rename. Just
//! before the rename the name is looked at again; if it is not what was judged, everything starts
//! over. Writers of this process take turns per file, so that of two that saw the same content
//! only one wins. A writer outside this process can still slip in between the last look and the
//! rename; nothing on this system closes that gap.

use outfitter_core::{FilesError, Hash, Put, PutMode, Written};
use rustix::io::Errno;

use super::cancel::Gone;
use super::error::{invalid, too_large};
use super::machine::{Machine, OpenFile as _, Pin};
use super::parents::{MadeDirectory, unmake};
use super::place::Place;
use super::read::hash_file;
use super::target::Target;
use super::temporary::{NEW_FILE, PRIVATE, Temporary};

/// How often a write starts over because the file changed under it.
const MAX_RACES: u32 = 16;

pub(super) fn put<M: Machine>(
    place: &Place<'_, M>,
    put: &Put,
    gone: &Gone,
) -> Result<Written, FilesError> {
    let size = put.bytes.len() as u64;
    let limit = place.files.limits.max_write_bytes;
    if size > limit {
        return Err(too_large(&place.shown, size, limit));
    }
    if put.mode == PutMode::Create && put.if_hash.is_some() {
        return Err(invalid(
            &place.shown,
            "what is to be created has no content to compare with",
        ));
    }
    let mut made = Vec::new();
    let done = put_making(place, put, &mut made, gone);
    if done.is_err() {
        unmake(place.machine(), &made);
    }
    done
}

fn put_making<M: Machine>(
    place: &Place<'_, M>,
    put: &Put,
    made: &mut Vec<MadeDirectory<M>>,
    gone: &Gone,
) -> Result<Written, FilesError> {
    let target = Target::making(place, made)?;
    let _turn = target.take_turn();
    gone.check()?;
    for _ in 0..MAX_RACES {
        if let Some(written) = attempt(&target, put, gone)? {
            return Ok(written);
        }
    }
    Err(place.failed(Errno::BUSY))
}

/// One try. Nothing when the name changed meanwhile and all must be looked at again.
fn attempt<M: Machine>(
    target: &Target<'_, M>,
    put: &Put,
    gone: &Gone,
) -> Result<Option<Written>, FilesError> {
    let existing = target.existing()?;
    if let Some(wanted) = put.if_hash {
        let Some(existing) = &existing else {
            return Err(target.place.failed(Errno::NOENT));
        };
        target.must_have(existing, wanted, gone)?;
    }
    match (put.mode, existing) {
        (PutMode::Create, Some(_)) => Err(target.place.failed(Errno::EXIST)),
        (PutMode::Append, Some(existing)) => append(target, &existing, put, gone),
        (PutMode::Replace, Some(existing)) => replace(target, &existing, put),
        (PutMode::Create | PutMode::Append | PutMode::Replace, None) => create(target, put),
    }
}

fn create<M: Machine>(target: &Target<'_, M>, put: &Put) -> Result<Option<Written>, FilesError> {
    let place = target.place;
    let mut room = place.files.room();
    room.take(&place.shown, put.bytes.len() as u64)?;
    let directory = &target.parent.handle;
    let (mut finished, _file) = Temporary::with(place, directory, NEW_FILE, &put.bytes)?;
    match finished.take_free_name(&target.name) {
        Ok(()) => {
            room.keep(0);
            Ok(Some(written(put, Hash::of(&put.bytes), true)))
        }
        // Somebody else made it: an append joins in, a replacement looks again, a creation finds
        // out.
        Err(failure) if failure.is(Errno::EXIST) => Ok(None),
        Err(failure) => Err(place.failed(failure)),
    }
}

fn replace<M: Machine>(
    target: &Target<'_, M>,
    existing: &Pin<M>,
    put: &Put,
) -> Result<Option<Written>, FilesError> {
    let place = target.place;
    target.may_replace(existing)?;
    let (old, new) = (existing.facts.size(), put.bytes.len() as u64);
    let mut room = place.files.room();
    room.take(&place.shown, new.saturating_sub(old))?;
    let directory = &target.parent.handle;
    let (mut finished, file) = Temporary::with(place, directory, PRIVATE, &put.bytes)?;
    let ready = place.machine().look_like(&file, existing);
    let ready = ready.and_then(|()| file.sync());
    ready.map_err(|failure| place.failed(failure))?;
    match target.stat() {
        Ok(now) if now == existing.facts => {}
        Ok(_) => return Ok(None),
        Err(failure) if failure.is(Errno::NOENT) => return Ok(None),
        Err(failure) => return Err(place.failed(failure)),
    }
    let named = finished.take_name(&target.name);
    named.map_err(|failure| place.failed(failure))?;
    room.keep(old.saturating_sub(new));
    Ok(Some(written(put, Hash::of(&put.bytes), false)))
}

fn append<M: Machine>(
    target: &Target<'_, M>,
    existing: &Pin<M>,
    put: &Put,
    gone: &Gone,
) -> Result<Option<Written>, FilesError> {
    let (place, machine) = (target.place, target.place.machine());
    let failed = |failure| place.failed(failure);
    // First, so that a file nobody can read is refused before it is changed.
    let reader = machine.open(existing).map_err(failed)?;
    let file = machine.open_append(existing).map_err(failed)?;
    let before = file.facts().map_err(failed)?;
    // What was opened is what was judged, and no link to something else.
    if !before.same_file(&existing.facts) {
        return Ok(None);
    }
    let more = put.bytes.len() as u64;
    let mut room = place.files.room();
    room.take(&place.shown, more)?;
    let before = before.bytes;
    if let Err(failure) = file.write(before, &put.bytes) {
        // All or nothing, as far as nobody else has appended since.
        if let Ok(after) = file.facts().map(|after| after.bytes)
            && after > before
            && after - before < more
        {
            let _ = file.truncate(before);
        }
        return Err(failed(failure));
    }
    match target.stat() {
        // It was replaced while we wrote; what was appended went with the old one.
        Ok(now) if now.other_file(&existing.facts) => Ok(None),
        Err(failure) if failure.is(Errno::NOENT) => Ok(None),
        Err(failure) => Err(failed(failure)),
        Ok(_) => {
            room.keep(0);
            let hash = hash_file(&reader, &place.shown, gone)?;
            Ok(Some(written(put, hash, false)))
        }
    }
}

fn written(put: &Put, hash: Hash, created: bool) -> Written {
    Written {
        bytes: put.bytes.len() as u64,
        hash,
        created,
    }
}
