//! One change of several: made ready, made, and unmade when a later one fails.

use outfitter_core::{Becomes, FileChange, FilesError, NewMode};
use rustix::io::Errno;

use super::error::Failure;
use super::facts::Facts;
use super::machine::{Machine, OpenFile as _, Pin};
use super::target::Target;
use super::temporary::{NEW_FILE, NEW_PROGRAM, PRIVATE, Temporary};

/// One change, made ready.
pub(super) struct Step<'a, M: Machine> {
    pub(super) target: &'a Target<'a, M>,
    before: Option<Facts>,
    /// The new content. Once the names have changed places, the old.
    new: Option<Temporary<'a, M>>,
    /// What the new content is known by.
    ours: Option<Facts>,
    /// Where the old content is that was not exchanged.
    old: Option<Temporary<'a, M>>,
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
    Kept,
}

impl<'a, M: Machine> Step<'a, M> {
    pub(super) fn prepare(
        target: &'a Target<'a, M>,
        before: Option<&Pin<M>>,
        change: &FileChange,
        like: Option<&Pin<M>>,
    ) -> Result<Self, FilesError> {
        let place = target.place;
        let mut step = Self {
            target,
            before: before.map(|before| before.facts),
            new: None,
            ours: None,
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
            Becomes::Removed { .. } => return Ok(step),
        };
        let (new, file) = Temporary::with(place, &target.parent.handle, mode, bytes)?;
        let ready = like.map_or(Ok(()), |like| place.machine().look_like(&file, like));
        let ready = ready.and_then(|()| file.sync()).and_then(|()| file.facts());
        step.ours = Some(ready.map_err(|failure| place.failed(failure))?);
        step.new = Some(new);
        Ok(step)
    }

    pub(super) fn act(&mut self) -> Result<(), FilesError> {
        let place = self.target.place;
        self.take_name().map_err(|failure| place.failed(failure))
    }

    fn take_name(&mut self) -> Result<(), Failure> {
        let target = self.target;
        let Some(before) = self.before else {
            if let Some(new) = &mut self.new {
                new.take_free_name(&target.name)?;
                self.state = State::Created;
            }
            return Ok(());
        };
        if target.stat()? != before {
            return Err(Errno::BUSY.into());
        }
        if let Some(new) = &mut self.new {
            match new.change_places(&target.name) {
                Ok(()) => {
                    self.state = State::Exchanged;
                    // Whoever slipped in between the last look and this step is seen now.
                    return was(&before, new.stat());
                }
                Err(failure) if failure.is(Errno::NOSYS) => {}
                Err(failure) => return Err(failure),
            }
        }
        let (machine, directory) = (target.place.machine(), &target.parent.handle);
        let old = self.old.insert(Temporary::unmade(machine, directory));
        // A second name for what is there, so that its own is never without a file.
        let stays = self.new.is_some() && old.keep_too(&target.name).is_ok();
        if !stays {
            old.take_away(&target.name)?;
        }
        self.state = State::Kept;
        was(&before, old.stat())?;
        match &mut self.new {
            Some(new) if stays => new.take_name(&target.name),
            Some(new) => new.take_free_name(&target.name),
            None => Ok(()),
        }
    }

    /// Makes it as it was before.
    pub(super) fn undo(&mut self) -> Result<(), Failure> {
        let target = self.target;
        match (self.state, &mut self.new, &mut self.old) {
            (State::Exchanged, Some(new), _) => new.take_name(&target.name)?,
            (State::Kept, _, Some(old)) => old.take_name(&target.name)?,
            (State::Created, ..) => {
                // What somebody else has put there since is theirs.
                let now = target.stat()?;
                if self.ours.is_some_and(|ours| ours.same_file(&now)) {
                    let machine = target.place.machine();
                    machine.remove(&target.parent.handle, &target.name)?;
                }
            }
            (State::Ready | State::Exchanged | State::Kept, ..) => {}
        }
        self.state = State::Ready;
        Ok(())
    }

    /// What is said of a change that could not be unmade; what was there stays beside it.
    pub(super) fn left(&mut self, failure: &Failure) -> String {
        let shown = &self.target.place.shown;
        let kept = match self.state {
            State::Exchanged => self.new.as_mut().map(Temporary::leave),
            State::Kept => self.old.as_mut().map(Temporary::leave),
            State::Ready | State::Created => None,
        };
        match kept {
            Some(name) => format!("{shown} ({failure}; what it had is beside it in {name})"),
            None => format!("{shown} ({failure})"),
        }
    }
}

/// Whether what was taken is the file that was judged.
fn was(before: &Facts, taken: Result<Facts, Failure>) -> Result<(), Failure> {
    if before.same_file(&taken?) {
        Ok(())
    } else {
        Err(Errno::BUSY.into())
    }
}
