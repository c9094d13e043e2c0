//! The sessions that a server holds: while a run works on one, and while a command of it runs.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{Sandbox, Scope, SessionId};
use tokio::task::JoinSet;

use super::lock::{NotHeld, Purpose, SessionLock, admitted, is_there};

/// Lock files that stay open between runs. A server makes one run after the other, and to open a
/// file costs more than all else of a call that is not its own.
const KEPT_OPEN: usize = 64;

/// The pause after a job that could not be waited for.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) type Place = (Scope, SessionId);

/// What finds the sandbox of a session, where it is open.
type Find = Box<dyn Fn(&Place) -> Option<Arc<dyn Sandbox>> + Send + Sync>;

/// The lock files of a server. One whose session a command still works in stays locked; any other
/// that no run holds is open and not locked, so that another process may hold its session.
#[derive(Clone)]
pub(super) struct Holds(Arc<State>);

struct State {
    idle: Mutex<HashMap<Place, Idle>>,
    find: Find,
    /// What waits for commands to end.
    waiting: Mutex<JoinSet<()>>,
}

struct Idle {
    file: File,
    locked: bool,
}

impl Holds {
    pub(super) fn new(find: Find) -> Self {
        Self(Arc::new(State {
            idle: Mutex::default(),
            find,
            waiting: Mutex::default(),
        }))
    }

    /// Holds a session, by its file if that is open, else with what `open` gives.
    pub(super) fn take<E>(
        &self,
        place: Place,
        purpose: Purpose,
        open: impl FnOnce() -> Result<Result<SessionLock, NotHeld>, E>,
    ) -> Result<Result<HeldForRun, NotHeld>, E> {
        // Who finds no file here while a run holds the session finds it locked.
        let known = lock(&self.0.idle).remove(&place);
        let known = match known.map(|idle| (idle.file.try_lock(), idle.file)) {
            Some((Ok(()), file)) => {
                let admitted = admitted(purpose, &place.1, &file);
                admitted.map(|admitted| admitted.map(|()| file))
            }
            Some((Err(TryLockError::WouldBlock), file)) => {
                is_there(&file).then(|| Err(NotHeld::InUse(place.1.clone())))
            }
            Some((Err(TryLockError::Error(_)), _)) | None => None,
        };
        let (held, file) = match known {
            Some(known) => (Held::Again, known),
            None => (Held::Anew, open()?.map(|lock| lock.0)),
        };
        Ok(file.map(|file| HeldForRun {
            place: Some((place, file)),
            held,
            purpose,
            holds: self.clone(),
        }))
    }

    /// The run is over.
    fn give_back(&self, place: Place, file: File) {
        let sandbox = (self.0.find)(&place).filter(|sandbox| has_job(&**sandbox));
        match (sandbox, tokio::runtime::Handle::try_current()) {
            (Some(sandbox), Ok(runtime)) => {
                self.keep(place.clone(), Idle { file, locked: true });
                let state = Arc::downgrade(&self.0);
                let mut waiting = lock(&self.0.waiting);
                while waiting.try_join_next().is_some() {}
                waiting.spawn_on(
                    async move {
                        until_no_job_runs(&*sandbox).await;
                        drop(sandbox);
                        if let Some(state) = state.upgrade() {
                            state.let_go(&place);
                        }
                    },
                    &runtime,
                );
            }
            _ if file.unlock().is_ok() => {
                let locked = false;
                self.keep(place, Idle { file, locked });
            }
            _ => {}
        }
    }

    fn keep(&self, place: Place, new: Idle) {
        let mut idle = lock(&self.0.idle);
        let open = |(_, idle): &(&Place, &Idle)| !idle.locked;
        if !new.locked && idle.iter().filter(open).count() >= KEPT_OPEN {
            let any = idle.iter().find(open).map(|(place, _)| place.clone());
            any.and_then(|any| idle.remove(&any));
        }
        idle.insert(place, new);
    }
}

impl State {
    /// The commands of a session have ended. Where a run holds it now, that run sees to it.
    fn let_go(&self, place: &Place) {
        let mut idle = lock(&self.idle);
        if let Some(held) = idle.get_mut(place) {
            // A later one may run meanwhile, whose own wait this is left to.
            let runs = (self.find)(place).is_some_and(|sandbox| has_job(&*sandbox));
            if held.locked && !runs && held.file.unlock().is_ok() {
                held.locked = false;
            }
        }
    }
}

fn has_job(sandbox: &dyn Sandbox) -> bool {
    sandbox.jobs().iter().any(|job| job.running)
}

async fn until_no_job_runs(sandbox: &dyn Sandbox) {
    while let Some(job) = sandbox.jobs().into_iter().find(|job| job.running) {
        if sandbox.wait(&job.id).await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a session came to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// By the file by which it was held before: nobody deleted it since, or the file were gone.
    Again,
    /// By a file that was not open.
    Anew,
}

/// A session held for a run.
pub(super) struct HeldForRun {
    place: Option<(Place, File)>,
    pub(super) held: Held,
    purpose: Purpose,
    holds: Holds,
}

impl Drop for HeldForRun {
    fn drop(&mut self) {
        if let Some((place, file)) = self.place.take()
            && match self.purpose {
                Purpose::Work => true,
                // The file went with its session, where that came to its end.
                Purpose::Deletion => is_there(&file),
            }
        {
            self.holds.give_back(place, file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(session: &str) -> Place {
        let scope = Scope {
            tenant: "t".into(),
            subject: "s".into(),
        };
        (scope, SessionId::new(session).unwrap())
    }

    #[test]
    fn a_file_that_stays_open_holds_nothing_between_runs() {
        let dir = tempfile::tempdir().unwrap();
        let idle = Holds::new(Box::new(|_| None));
        let take = |name: &str| {
            let session = place(name).1;
            let open = || SessionLock::take(dir.path(), &session);
            idle.take(place(name), Purpose::Work, open).unwrap()
        };
        let session = place("s").1;
        for _ in 0..3 {
            let held = take("s").unwrap();
            assert!(take("s").is_err(), "not twice in this process");
            assert!(SessionLock::take(dir.path(), &session).unwrap().is_err());
            drop(held);
            assert_eq!(lock(&idle.0.idle).len(), 1);
            let other = SessionLock::take(dir.path(), &session).unwrap();
            assert!(other.is_ok(), "another process may have it");
            assert!(take("s").is_err(), "and then it is theirs");
        }
        drop(take("s").unwrap());
        std::fs::remove_file(dir.path().join("s.lock")).unwrap();
        let held = take("s").unwrap();
        let found = SessionLock::take(dir.path(), &session).unwrap();
        assert!(found.is_err(), "what is held is the file that others find");
        drop(held);
        for name in 0..2 * KEPT_OPEN {
            drop(take(&format!("s{name}")).unwrap());
        }
        assert_eq!(lock(&idle.0.idle).len(), KEPT_OPEN);
    }
}
