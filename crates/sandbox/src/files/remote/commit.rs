//! Several changes made together, as on this machine: all is judged and written beside its name
//! before any name changes, and what was there is kept until all are done.

use std::collections::HashSet;

use outfitter_core::{Becomes, FileChange, FileRef, FilesError, NewMode};
use rustix::io::Errno;

use super::Inner;
use super::place::{Place, Seen};
use super::temporary::{NEW_FILE, NEW_PROGRAM, PRIVATE, Temporary, busy, must_replace};
use super::write::{Target, turn, unmake};
use crate::files::cancel::Gone;
use crate::files::error::{failed_io, invalid};
use crate::files::limits::MAX_CHANGES;
use crate::ssh::sftp::{Attrs, Fault};

pub(super) fn commit(files: &Inner, changes: &[FileChange], gone: &Gone) -> Result<(), FilesError> {
    if changes.len() > MAX_CHANGES {
        return Err(invalid(
            &format!("{} changes", changes.len()),
            format!("at most {MAX_CHANGES} are made together"),
        ));
    }
    let places = changes
        .iter()
        .map(|change| {
            let (path, reach) = (change.path.as_str(), change.reach);
            Place::of(files, FileRef { path, reach })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let Some(first) = places.first() else {
        return Ok(());
    };
    let _turn = turn(first);
    must_replace(first)?;
    for (place, change) in places.iter().zip(changes) {
        check_size(place, change)?;
        let there = match Target::look(place)? {
            Some(target) => target.existing()?.map(|seen| (target, seen)),
            None => None,
        };
        let there = there.as_ref().map(|(target, seen)| (target, seen));
        judge(place, there, change, gone)?;
    }
    let mut made = Vec::new();
    let done = make(files, &places, changes, &mut made, gone);
    if done.is_err() {
        unmake(first, &made);
    }
    done
}

fn size_after(change: &FileChange) -> u64 {
    match &change.to {
        Becomes::Created { bytes, .. } | Becomes::Replaced { bytes, .. } => bytes.len() as u64,
        Becomes::Removed { .. } => 0,
    }
}

fn check_size(place: &Place<'_>, change: &FileChange) -> Result<(), FilesError> {
    let size = size_after(change);
    let limit = place.files.limits.max_write_bytes;
    if size > limit {
        return Err(FilesError::TooLarge {
            path: place.shown.clone(),
            size,
            limit,
        });
    }
    Ok(())
}

/// Whether what is there is what the change is for.
fn judge(
    place: &Place<'_>,
    there: Option<(&Target<'_>, &Seen)>,
    change: &FileChange,
    gone: &Gone,
) -> Result<(), FilesError> {
    gone.check()?;
    match (&change.to, there) {
        (Becomes::Created { .. }, None) => Ok(()),
        (Becomes::Created { .. }, Some(_)) => Err(place.failed(Errno::EXIST)),
        (Becomes::Replaced { .. } | Becomes::Removed { .. }, None) => {
            Err(place.failed(Errno::NOENT))
        }
        (
            Becomes::Replaced { if_hash, .. } | Becomes::Removed { if_hash },
            Some((target, seen)),
        ) => {
            target.must_be_writable(seen)?;
            let hash = target.hash_of(seen, gone)?;
            if hash == *if_hash {
                Ok(())
            } else {
                Err(FilesError::Changed {
                    path: place.shown.clone(),
                    hash,
                })
            }
        }
    }
}

fn make(
    files: &Inner,
    places: &[Place<'_>],
    changes: &[FileChange],
    made: &mut Vec<String>,
    gone: &Gone,
) -> Result<(), FilesError> {
    let mut targets = Vec::with_capacity(places.len());
    let mut names = HashSet::new();
    for place in places {
        let target = Target::making(place, made)?;
        if !names.insert(target.path()) {
            return Err(invalid(&place.shown, "it is changed twice"));
        }
        targets.push(target);
    }
    let mut before = Vec::with_capacity(targets.len());
    for (target, change) in targets.iter().zip(changes) {
        let there = target.existing()?;
        let both = there.as_ref().map(|seen| (target, seen));
        judge(target.place, both, change, gone)?;
        before.push(there);
    }
    let old: u64 = before.iter().flatten().map(|old| old.attrs.size).sum();
    let new: u64 = changes.iter().map(size_after).sum();
    let mut room = files.room();
    if let Some(largest) = changes.iter().max_by_key(|change| size_after(change)) {
        room.take(&largest.path, new.saturating_sub(old))?;
    }
    let mut steps = Vec::with_capacity(targets.len());
    for (at, (target, change)) in targets.iter().zip(changes).enumerate() {
        let like = match &change.to {
            Becomes::Created {
                mode: NewMode::Of(path),
                ..
            } => changes
                .iter()
                .position(|other| other.path == *path)
                .and_then(|other| before[other].as_ref()),
            Becomes::Created { .. } | Becomes::Replaced { .. } | Becomes::Removed { .. } => {
                before[at].as_ref()
            }
        };
        let like = like.map(|seen| &seen.attrs);
        steps.push(Step::prepare(target, before[at].as_ref(), change, like)?);
    }
    gone.check()?;
    take_names(&mut steps)?;
    room.keep(old.saturating_sub(new));
    Ok(())
}

fn take_names(steps: &mut [Step<'_>]) -> Result<(), FilesError> {
    for at in 0..steps.len() {
        let Err(error) = steps[at].act() else {
            continue;
        };
        let mut lost = Vec::new();
        for done in steps[..=at].iter_mut().rev() {
            if let Err(why) = done.undo() {
                lost.push(done.left(&why));
            }
        }
        if lost.is_empty() {
            return Err(error);
        }
        let why = format!(
            "{error}, and not all could be put back: {}",
            lost.join("; ")
        );
        let shown = steps[at].target.place.shown.clone();
        return Err(failed_io(&shown, std::io::Error::other(why)));
    }
    Ok(())
}

/// One change, made ready.
struct Step<'a> {
    target: &'a Target<'a>,
    before: Option<Attrs>,
    new: Option<Temporary<'a>>,
    /// Where what was there is kept.
    old: Option<Temporary<'a>>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// The name is new, and this is what has it.
    Created(Attrs),
    /// `old` holds what was there.
    Kept,
}

impl<'a> Step<'a> {
    fn prepare(
        target: &'a Target<'a>,
        before: Option<&Seen>,
        change: &FileChange,
        like: Option<&Attrs>,
    ) -> Result<Self, FilesError> {
        let (place, directory) = (target.place, target.directory.as_str());
        let new = match &change.to {
            Becomes::Created { bytes, mode } => {
                let mode = match mode {
                    NewMode::Plain => NEW_FILE,
                    NewMode::Executable => NEW_PROGRAM,
                    NewMode::Of(_) => PRIVATE,
                };
                Some(Temporary::new(place, directory, bytes, mode, like)?)
            }
            Becomes::Replaced { bytes, .. } => {
                Some(Temporary::new(place, directory, bytes, PRIVATE, like)?)
            }
            Becomes::Removed { .. } => None,
        };
        Ok(Self {
            target,
            before: before.map(|seen| seen.attrs),
            new,
            old: None,
            state: State::Ready,
        })
    }

    fn act(&mut self) -> Result<(), FilesError> {
        let target = self.target;
        let place = target.place;
        let sftp = place.sftp();
        let fault = |fault| place.fault(fault);
        let Some(before) = self.before else {
            if let Some(new) = &mut self.new {
                if !new.take_free_name(&target.name)? {
                    return Err(place.failed(Errno::EXIST));
                }
                let now = sftp.lstat(&target.path()).map_err(fault)?;
                self.state = State::Created(now);
            }
            return Ok(());
        };
        if !target.is_untouched(&before)? {
            return Err(busy(place));
        }
        let old = self
            .old
            .insert(Temporary::empty(place, target.directory.as_str()));
        let kept = old.path.clone().unwrap_or_default();
        // A second name for what is there, so that its own is never without a file.
        let is_linked = self.new.is_some() && sftp.hardlink(&target.path(), &kept).is_ok();
        if !is_linked {
            sftp.replace(&target.path(), &kept).map_err(fault)?;
        }
        self.state = State::Kept;
        // Whoever slipped in between the last look and this step is seen now.
        if sftp.lstat(&kept).map_err(fault)? != before {
            return Err(busy(place));
        }
        match &mut self.new {
            Some(new) => new.take_name(&target.name).map_err(fault),
            None => Ok(()),
        }
    }

    /// Makes it as it was before.
    fn undo(&mut self) -> Result<(), Fault> {
        let sftp = self.target.place.sftp();
        let path = self.target.path();
        match (self.state, &mut self.old) {
            (State::Kept, Some(old)) => old.take_name(&self.target.name)?,
            // What somebody else has put there since is theirs.
            (State::Created(ours), _) if sftp.lstat(&path)? == ours => sftp.remove(&path)?,
            (State::Ready | State::Created(_) | State::Kept, _) => {}
        }
        self.state = State::Ready;
        Ok(())
    }

    /// What is said of a change that could not be unmade; what was there stays beside it.
    fn left(&mut self, why: &Fault) -> String {
        let shown = &self.target.place.shown;
        match self.old.as_mut().and_then(|old| old.path.take()) {
            Some(kept) => format!("{shown} ({why:?}; what it had is beside it in {kept})"),
            None => format!("{shown} ({why:?})"),
        }
    }
}
