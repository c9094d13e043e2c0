//! One change of several: made ready, made, and unmade when a later one fails.

use outfitter_core::{Becomes, FileChange, FilesError, NewMode};
use rustix::fs::{AtFlags, Mode, Stat};
use rustix::io::Errno;

use super::handle::Pinned;
use super::temporary::Temporary;
use super::write::{NEW_FILE, PRIVATE, Target, is_untouched};

/// A new program is made as any program of the user's makes it.
const NEW_PROGRAM: Mode = Mode::from_raw_mode(0o777);

/// One change, made ready.
pub(super) struct Step<'a> {
    pub(super) target: &'a Target<'a>,
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
    pub(super) fn prepare(
        target: &'a Target<'a>,
        before: Option<&'a Pinned>,
        change: &FileChange,
        like: Option<&Pinned>,
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
            new.look_like(like)?;
        }
        new.sync()?;
        step.new = Some(new);
        Ok(step)
    }

    pub(super) fn act(&mut self) -> Result<(), FilesError> {
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
    pub(super) fn undo(&mut self) -> Result<(), Errno> {
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
    pub(super) fn left(&mut self, errno: Errno) -> String {
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
