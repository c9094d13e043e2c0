//! Several changes made together.
//!
//! Every path is judged and every content compared before anything is written. Then each new
//! content is written beside its name; only then do the names change, one after the other, each in
//! one step of the system. What was there is kept beside it until all are done, and put back when
//! one fails. Between two names a reader can see the one changed and the other not yet; a crash
//! there leaves it so, with what was there in files whose names begin with `.outfitter-`.

use std::collections::{BTreeSet, HashSet};

use outfitter_core::{Becomes, FileChange, FileRef, FilesError, NewMode};
use rustix::io::Errno;

use super::cancel::Gone;
use super::error::{failed, invalid, too_large};
use super::limits::MAX_CHANGES;
use super::machine::{Machine, Pin};
use super::parents::{MadeDirectory, unmake};
use super::place::Place;
use super::session::Inner;
use super::step::Step;
use super::target::Target;

pub(super) fn commit<M: Machine>(
    files: &Inner<M>,
    changes: &[FileChange],
    gone: &Gone,
) -> Result<(), FilesError> {
    commit_between(files, changes, gone, || {})
}

/// The same; `last` happens when all is ready and no name has changed yet.
fn commit_between<M: Machine>(
    files: &Inner<M>,
    changes: &[FileChange],
    gone: &Gone,
    last: impl FnOnce(),
) -> Result<(), FilesError> {
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
    for (place, change) in places.iter().zip(changes) {
        check_size(place, change)?;
        match Target::look(place)? {
            Some(target) => {
                let there = target.existing()?;
                judge(&target, there.as_ref(), change, gone)?;
            }
            None => judge_none(place, change)?,
        }
    }
    let mut made = Vec::new();
    let done = make(files, &places, changes, &mut made, gone, last);
    if done.is_err() {
        unmake(&files.machine, &made);
    }
    done
}

/// One cannot be told from the other once the first has changed.
const SECOND_NAME: &str =
    "it is a second name (a hard link) of a file that is changed too; change one of them at a time";

fn size_after(change: &FileChange) -> u64 {
    match &change.to {
        Becomes::Created { bytes, .. } | Becomes::Replaced { bytes, .. } => bytes.len() as u64,
        Becomes::Removed { .. } => 0,
    }
}

fn check_size<M: Machine>(place: &Place<'_, M>, change: &FileChange) -> Result<(), FilesError> {
    let (size, limit) = (size_after(change), place.files.limits.max_write_bytes);
    if size > limit {
        return Err(too_large(&place.shown, size, limit));
    }
    Ok(())
}

/// Whether what is there is what the change is for.
fn judge<M: Machine>(
    target: &Target<'_, M>,
    there: Option<&Pin<M>>,
    change: &FileChange,
    gone: &Gone,
) -> Result<(), FilesError> {
    gone.check()?;
    match (&change.to, there) {
        (_, None) => judge_none(target.place, change),
        (Becomes::Created { .. }, Some(_)) => Err(target.place.failed(Errno::EXIST)),
        (Becomes::Replaced { if_hash, .. } | Becomes::Removed { if_hash }, Some(there)) => {
            target.may_replace(there)?;
            target.must_have(there, *if_hash, gone)
        }
    }
}

/// Whether nothing is what the change is for.
fn judge_none<M: Machine>(place: &Place<'_, M>, change: &FileChange) -> Result<(), FilesError> {
    match &change.to {
        Becomes::Created { .. } => Ok(()),
        Becomes::Replaced { .. } | Becomes::Removed { .. } => Err(place.failed(Errno::NOENT)),
    }
}

fn make<M: Machine>(
    files: &Inner<M>,
    places: &[Place<'_, M>],
    changes: &[FileChange],
    made: &mut Vec<MadeDirectory<M>>,
    gone: &Gone,
    last: impl FnOnce(),
) -> Result<(), FilesError> {
    let mut targets = Vec::with_capacity(places.len());
    let mut names = HashSet::new();
    for place in places {
        let target = Target::making(place, made)?;
        if !names.insert(target.identity()) {
            return Err(invalid(&place.shown, "it is changed twice"));
        }
        targets.push(target);
    }
    // In ascending order, each once, so that nobody waits for who waits for them.
    let turns: BTreeSet<usize> = targets.iter().map(Target::turn).collect();
    let _turns: Vec<_> = turns
        .into_iter()
        .map(|turn| files.turns.take(turn))
        .collect();
    let mut identities = HashSet::new();
    let mut before = Vec::with_capacity(targets.len());
    for (target, change) in targets.iter().zip(changes) {
        let there = target.existing()?;
        judge(target, there.as_ref(), change, gone)?;
        let identity = there.as_ref().and_then(|there| there.facts.identity);
        if identity.is_some_and(|identity| !identities.insert(identity)) {
            return Err(invalid(&target.place.shown, SECOND_NAME));
        }
        before.push(there);
    }
    let old: u64 = before.iter().flatten().map(|old| old.facts.size()).sum();
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
        steps.push(Step::prepare(target, before[at].as_ref(), change, like)?);
    }
    gone.check()?;
    last();
    take_names(&mut steps)?;
    room.keep(old.saturating_sub(new));
    Ok(())
}

fn take_names<M: Machine>(steps: &mut [Step<'_, M>]) -> Result<(), FilesError> {
    for at in 0..steps.len() {
        let Err(error) = steps[at].act() else {
            continue;
        };
        let mut lost = Vec::new();
        for done in steps[..=at].iter_mut().rev() {
            if let Err(failure) = done.undo() {
                lost.push(done.left(&failure));
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
        return Err(failed(&shown, std::io::Error::other(why)));
    }
    Ok(())
}

#[cfg(test)]
#[path = "commit_tests.rs"]
mod tests;
