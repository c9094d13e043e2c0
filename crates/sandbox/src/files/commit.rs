//! Several changes made together.
//!
//! Every path is judged and every content compared before anything is written. Then each new
//! content is written beside its name; only then do the names change, one after the other, each in
//! one step of the system. What was there is kept beside it until all are done, and put back when
//! one fails. Between two names a reader can see the one changed and the other not yet; a crash
//! there leaves it so, with what was there in files whose names begin with `.outfitter-`.

use std::collections::{BTreeSet, HashSet};

use outfitter_core::{Becomes, FileChange, FileRef, FilesError, Hash, NewMode};
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::cancel::Gone;
use super::error::{failed_io, invalid};
use super::handle::Pinned;
use super::limits::MAX_CHANGES;
use super::local::Inner;
use super::parents::MadeDirectory;
use super::place::Place;
use super::read::{hash_file, open_pinned};
use super::temporary::Temporary;
use super::write::{NEW_FILE, PRIVATE, Target, is_untouched, take_turn};

/// A new program is made as any program of the user's makes it.
const NEW_PROGRAM: Mode = Mode::from_raw_mode(0o777);

pub(super) fn commit(files: &Inner, changes: &[FileChange], gone: &Gone) -> Result<(), FilesError> {
    commit_between(files, changes, gone, || {})
}

/// The same; `last` happens when all is ready and no name has changed yet.
fn commit_between(
    files: &Inner,
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
        let there = match Target::look(place)? {
            Some(target) => target.existing()?,
            None => None,
        };
        judge(place, there.as_ref(), change, gone)?;
    }
    let mut made = Vec::new();
    let done = make(&places, changes, &mut made, gone, last);
    if done.is_err() {
        made.iter().rev().for_each(MadeDirectory::unmake);
    }
    done
}

fn check_size(place: &Place<'_>, change: &FileChange) -> Result<(), FilesError> {
    let size = match &change.to {
        Becomes::Created { bytes, .. } | Becomes::Replaced { bytes, .. } => bytes.len() as u64,
        Becomes::Removed { .. } => 0,
    };
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
    there: Option<&Pinned>,
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
        (Becomes::Replaced { if_hash, .. } | Becomes::Removed { if_hash }, Some(there)) => {
            // A rename would also replace a file that its owner made read-only.
            match there.open(OFlags::WRONLY) {
                Ok(_) | Err(Errno::TXTBSY) => {}
                Err(errno) => return Err(place.failed(errno)),
            }
            let hash = hash_of(place, there, gone)?;
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

fn hash_of(place: &Place<'_>, file: &Pinned, gone: &Gone) -> Result<Hash, FilesError> {
    hash_file(&open_pinned(file, &place.shown)?, &place.shown, gone)
}

fn make(
    places: &[Place<'_>],
    changes: &[FileChange],
    made: &mut Vec<MadeDirectory>,
    gone: &Gone,
    last: impl FnOnce(),
) -> Result<(), FilesError> {
    let mut targets = Vec::with_capacity(places.len());
    let mut names = HashSet::new();
    for place in places {
        let target = Target::making(place, made)?;
        let directory = &target.parent.stat;
        if !names.insert((directory.st_dev, directory.st_ino, target.name.clone())) {
            return Err(invalid(&place.shown, "it is changed twice"));
        }
        targets.push(target);
    }
    // In ascending order, each once, so that nobody waits for who waits for them.
    let turns: BTreeSet<usize> = targets.iter().map(Target::turn).collect();
    let _turns: Vec<_> = turns.into_iter().map(take_turn).collect();
    let mut before = Vec::with_capacity(targets.len());
    for (target, change) in targets.iter().zip(changes) {
        let there = target.existing()?;
        judge(target.place, there.as_ref(), change, gone)?;
        before.push(there);
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
        let like = like.map(|pinned| pinned.stat);
        steps.push(Step::prepare(target, before[at].as_ref(), change, like)?);
    }
    gone.check()?;
    last();
    take_names(&mut steps)
}

fn take_names(steps: &mut [Step<'_>]) -> Result<(), FilesError> {
    for at in 0..steps.len() {
        let Err(error) = steps[at].act() else {
            continue;
        };
        let mut lost = Vec::new();
        for done in steps[..=at].iter_mut().rev() {
            if let Err(errno) = done.undo() {
                lost.push(done.left(errno));
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
    before: Option<&'a Pinned>,
    /// The new content. Once the names have changed places, the old.
    new: Option<Temporary<'a>>,
    /// Where the old content goes that is not exchanged.
    old: Option<Temporary<'a>>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// The name is new.
    Created,
    /// `new` holds what was there.
    Exchanged,
    /// `old` holds what was there.
    TakenAway,
}

impl<'a> Step<'a> {
    fn prepare(
        target: &'a Target<'a>,
        before: Option<&'a Pinned>,
        change: &FileChange,
        like: Option<Stat>,
    ) -> Result<Self, FilesError> {
        let mut step = Self {
            target,
            before,
            new: None,
            old: None,
            state: State::Ready,
        };
        let (bytes, mode) = match &change.to {
            Becomes::Created { bytes, mode } => match mode {
                NewMode::Plain => (bytes, NEW_FILE),
                NewMode::Executable => (bytes, NEW_PROGRAM),
                NewMode::Of(_) => (bytes, PRIVATE),
            },
            Becomes::Replaced { bytes, .. } => (bytes, PRIVATE),
            Becomes::Removed { .. } => {
                step.old = Some(target.temporary(PRIVATE)?);
                return Ok(step);
            }
        };
        let mut new = target.temporary(mode)?;
        new.write(bytes)?;
        if let Some(like) = like {
            new.look_like(&like)?;
        }
        new.sync()?;
        step.new = Some(new);
        Ok(step)
    }

    fn act(&mut self) -> Result<(), FilesError> {
        let target = self.target;
        let failed = |errno| target.place.failed(errno);
        let Some(before) = self.before else {
            if let Some(new) = &mut self.new {
                new.take_free_name(&target.name).map_err(failed)?;
                self.state = State::Created;
            }
            return Ok(());
        };
        let now = target.stat_name().map_err(failed)?;
        if !is_untouched(&before.stat, &now) {
            return Err(failed(Errno::BUSY));
        }
        if let Some(new) = &mut self.new {
            match new.change_places(&target.name) {
                Ok(()) => {
                    self.state = State::Exchanged;
                    // Whoever slipped in between the last look and this step is seen now.
                    return was(before, new.stat_here()).map_err(failed);
                }
                // Some file systems cannot.
                Err(Errno::INVAL | Errno::NOSYS) => {}
                Err(errno) => return Err(failed(errno)),
            }
            self.old = Some(target.temporary(PRIVATE)?);
        }
        if let Some(old) = &mut self.old {
            old.take_away(&target.name).map_err(failed)?;
            self.state = State::TakenAway;
            was(before, old.stat_here()).map_err(failed)?;
        }
        if let Some(new) = &mut self.new {
            new.take_free_name(&target.name).map_err(failed)?;
        }
        Ok(())
    }

    /// Makes it as it was before.
    fn undo(&mut self) -> Result<(), Errno> {
        let name = &self.target.name;
        match (self.state, &mut self.new, &mut self.old) {
            (State::Exchanged, Some(new), _) => new.take_name(name)?,
            (State::TakenAway, _, Some(old)) => old.take_name(name)?,
            (State::Created, Some(new), _) => {
                let ours = rustix::fs::fstat(&new.file)?;
                let now = self.target.stat_name()?;
                // What somebody else has put there since is theirs.
                if (ours.st_dev, ours.st_ino) == (now.st_dev, now.st_ino) {
                    rustix::fs::unlinkat(&self.target.parent.fd, name, AtFlags::empty())?;
                }
            }
            (State::Ready | State::Exchanged | State::TakenAway | State::Created, _, _) => {}
        }
        self.state = State::Ready;
        Ok(())
    }

    /// What is said of a change that could not be unmade; what was there stays beside it.
    fn left(&mut self, errno: Errno) -> String {
        let shown = &self.target.place.shown;
        let kept = match self.state {
            State::Exchanged => self.new.as_mut().map(Temporary::leave),
            State::TakenAway => self.old.as_mut().map(Temporary::leave),
            State::Ready | State::Created => None,
        };
        match kept {
            Some(name) => format!("{shown} ({errno}; what it had is beside it in {name})"),
            None => format!("{shown} ({errno})"),
        }
    }
}

/// Whether what was taken is the file that was judged.
fn was(before: &Pinned, taken: Result<Stat, Errno>) -> Result<(), Errno> {
    if before.same_file(&taken?) {
        Ok(())
    } else {
        Err(Errno::BUSY)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use outfitter_core::{Bytes, Reach};
    use rstest::rstest;

    use super::*;
    use crate::files::LocalFiles;
    use crate::protected::Protected;

    fn change(path: &str, to: Becomes) -> FileChange {
        FileChange {
            path: path.to_owned(),
            reach: Reach::Workspace,
            to,
        }
    }

    fn created(path: &str, text: &'static str) -> FileChange {
        let bytes = Bytes::from_static(text.as_bytes());
        let mode = NewMode::Plain;
        change(path, Becomes::Created { bytes, mode })
    }

    fn replaced(path: &str, before: &str, after: &'static str) -> FileChange {
        let (bytes, if_hash) = (Bytes::from_static(after.as_bytes()), Hash::of(before));
        change(path, Becomes::Replaced { bytes, if_hash })
    }

    fn removed(path: &str, before: &str) -> FileChange {
        let if_hash = Hash::of(before);
        change(path, Becomes::Removed { if_hash })
    }

    /// Everything beneath a directory: paths, kinds, modes, contents.
    fn all(dir: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut open = vec![dir.to_path_buf()];
        while let Some(here) = open.pop() {
            for entry in fs::read_dir(here).unwrap() {
                let entry = entry.unwrap();
                let meta = entry.metadata().unwrap();
                let content = if meta.is_dir() {
                    open.push(entry.path());
                    Vec::new()
                } else {
                    fs::read(entry.path()).unwrap()
                };
                let path = entry
                    .path()
                    .strip_prefix(dir)
                    .unwrap()
                    .display()
                    .to_string();
                found.insert(path, (meta.permissions().mode(), content));
            }
        }
        found
    }

    fn workspace() -> (tempfile::TempDir, LocalFiles) {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        fs::set_permissions(dir.path().join("b"), fs::Permissions::from_mode(0o751)).unwrap();
        let files = LocalFiles::open(dir.path(), Protected::of_system()).unwrap();
        (dir, files)
    }

    /// One change of four fails at the last moment: none is left of the others, not even a
    /// directory, a mode or a file in the making.
    #[rstest]
    #[case::replacing(replaced("c", "c", "C"))]
    #[case::removing(removed("c", "c"))]
    fn what_was_made_is_unmade_when_a_later_change_fails(#[case] failing: FileChange) {
        let (dir, files) = workspace();
        let changes = [
            created("new/deep/f", "f"),
            replaced("a", "a", "A"),
            removed("b", "b"),
            failing,
        ];
        let interfere = || fs::write(dir.path().join("c"), "not c").unwrap();
        let error = commit_between(files.inner(), &changes, &Gone::default(), interfere);
        assert!(error.is_err());
        let mut wanted = {
            let (dir, _) = workspace();
            all(dir.path())
        };
        wanted.get_mut("c").unwrap().1 = b"not c".to_vec();
        assert_eq!(all(dir.path()), wanted);
    }

    #[test]
    fn a_name_that_is_taken_at_the_last_moment_stays_whose_it_is() {
        let (dir, files) = workspace();
        let changes = [removed("a", "a"), created("d", "ours")];
        let interfere = || fs::write(dir.path().join("d"), "theirs").unwrap();
        let error = commit_between(files.inner(), &changes, &Gone::default(), interfere);
        assert!(matches!(error, Err(FilesError::Exists { .. })), "{error:?}");
        assert_eq!(fs::read(dir.path().join("a")).unwrap(), b"a");
        assert_eq!(fs::read(dir.path().join("d")).unwrap(), b"theirs");
        assert_eq!(all(dir.path()).len(), 4);
    }

    #[test]
    fn a_renamed_file_keeps_its_mode() {
        let (dir, files) = workspace();
        let renamed = FileChange {
            to: Becomes::Created {
                bytes: Bytes::from_static(b"b"),
                mode: NewMode::Of("b".to_owned()),
            },
            ..created("sub/b2", "")
        };
        let changes = [renamed, removed("b", "b")];
        commit_between(files.inner(), &changes, &Gone::default(), || {}).unwrap();
        let after = all(dir.path());
        assert_eq!(after["sub/b2"].0 & 0o777, 0o751);
        assert!(!after.contains_key("b"));
        assert_eq!(after.len(), 4);
    }

    #[rstest]
    #[case::stale(replaced("a", "old", "A"))]
    #[case::there_already(created("a", "A"))]
    #[case::not_there(removed("z", "z"))]
    #[case::metadata(created(".git/hooks/pre-commit", "x"))]
    #[case::outside(created("../x", "x"))]
    #[case::through_a_file(created("a/b", "x"))]
    #[case::twice(replaced("./b", "b", "BB"))]
    fn nothing_is_made_where_one_is_refused(#[case] refused: FileChange) {
        let (dir, files) = workspace();
        let before = all(dir.path());
        let changes = [created("new/f", "f"), replaced("b", "b", "B"), refused];
        assert!(commit(files.inner(), &changes, &Gone::default()).is_err());
        assert_eq!(all(dir.path()), before);
    }
}
