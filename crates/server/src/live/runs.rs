//! The runs of this server: owned, found by their id, and ended with it.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{Cancel, Code, ErrorInfo, RunId, Scope, SessionId};
use tokio::task::JoinSet;

use super::hub::{Begun, Hub};
use crate::problem::Problem;

/// Runs that are over and whose session is remembered, so that it need not be looked for.
pub(crate) const RECENT: usize = 10_000;

/// Runs at once.
const MOST: usize = 1_024;

/// Where a run's entries are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) scope: Scope,
    pub(crate) session: SessionId,
}

/// A run under way.
pub(crate) struct LiveRun {
    pub(crate) place: Place,
    pub(crate) cancel: Cancel,
    pub(crate) hub: Arc<Hub>,
}

/// All runs under way.
pub(crate) struct Live {
    state: Arc<Mutex<State>>,
    tasks: Mutex<JoinSet<()>>,
    stop: Cancel,
}

#[derive(Default)]
struct State {
    runs: HashMap<RunId, Arc<LiveRun>>,
    recent: HashMap<RunId, Place>,
    order: VecDeque<RunId>,
}

impl State {
    fn remember(&mut self, run: &RunId, place: &Place) {
        if self.recent.insert(run.clone(), place.clone()).is_none() {
            self.order.push_back(run.clone());
        }
        while self.order.len() > RECENT
            && let Some(oldest) = self.order.pop_front()
        {
            self.recent.remove(&oldest);
        }
    }
}

impl Live {
    pub(crate) fn new() -> Self {
        Self {
            state: Arc::default(),
            tasks: Mutex::default(),
            stop: Cancel::new(),
        }
    }

    /// Stops when the server does.
    pub(crate) fn stop(&self) -> &Cancel {
        &self.stop
    }

    /// Starts a run. `work` makes it and tells the hub of it; whatever becomes of it, followers
    /// hear the end.
    pub(crate) fn start<F>(
        &self,
        place: Place,
        work: impl FnOnce(Arc<LiveRun>) -> F,
    ) -> Result<(Arc<LiveRun>, Begun), Problem>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let entry: Arc<Mutex<Option<Arc<LiveRun>>>> = Arc::default();
        let (state, known) = (self.state.clone(), entry.clone());
        let (hub, begun) = Hub::new(Box::new(move |run| {
            if let Some(live) = lock(&known).take() {
                let mut state = lock(&state);
                state.remember(run, &live.place);
                state.runs.insert(run.clone(), live);
            }
        }));
        let live = Arc::new(LiveRun {
            place,
            cancel: self.stop.child(),
            hub,
        });
        *lock(&entry) = Some(live.clone());
        let ending = Ending {
            state: self.state.clone(),
            live: live.clone(),
            entry,
        };
        let work = work(live.clone());
        let mut tasks = lock(&self.tasks);
        // Looked at under the lock: who stops the server takes the tasks after saying so.
        if self.stop.is_cancelled() {
            return Err(stopping());
        }
        reap(&mut tasks);
        if tasks.len() >= MOST {
            let error = ErrorInfo::new(Code::RateLimited, "as many runs as may are under way");
            return Err(error.into());
        }
        tasks.spawn(async move {
            let _ending = ending;
            work.await;
        });
        Ok((live, begun))
    }

    /// A run under way.
    pub(crate) fn get(&self, scope: &Scope, run: &RunId) -> Option<Arc<LiveRun>> {
        let live = lock(&self.state).runs.get(run).cloned();
        live.filter(|live| live.place.scope == *scope)
    }

    /// Whether a run works on the session.
    pub(crate) fn is_at_work(&self, place: &Place) -> bool {
        lock(&self.state)
            .runs
            .values()
            .any(|live| live.place == *place)
    }

    /// The session of a run that this server made lately.
    pub(crate) fn recent(&self, scope: &Scope, run: &RunId) -> Option<SessionId> {
        let state = lock(&self.state);
        let place = state.recent.get(run)?;
        (place.scope == *scope).then(|| place.session.clone())
    }

    /// Ends every run, and waits for them: each records its end. What does not end in time is
    /// dropped where it stands. Gives the sessions of those.
    pub(crate) async fn end_all(&self, grace: Duration) -> Vec<Place> {
        self.stop.cancel();
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        let all = async {
            while let Some(ended) = tasks.join_next().await {
                report(ended);
            }
        };
        if tokio::time::timeout(grace, all).await.is_ok() {
            return Vec::new();
        }
        tracing::warn!(left = tasks.len(), "runs did not end in time");
        let left = lock(&self.state).runs.values().cloned().collect::<Vec<_>>();
        tasks.shutdown().await;
        left.iter().map(|live| live.place.clone()).collect()
    }

    /// Drops every run where it stands: whoever served is gone.
    pub(crate) fn drop_all(&self) {
        self.stop.cancel();
        drop(std::mem::take(&mut *lock(&self.tasks)));
    }

    /// Lets go of the tasks that have ended.
    pub(crate) fn reap(&self) {
        reap(&mut lock(&self.tasks));
    }
}

fn reap(tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.try_join_next() {
        report(ended);
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a run broke down");
    }
}

pub(crate) fn stopping() -> Problem {
    ErrorInfo::new(Code::Unavailable, "the server is stopping").into()
}

/// Says that a run is over, also when it panicked or was dropped.
struct Ending {
    state: Arc<Mutex<State>>,
    live: Arc<LiveRun>,
    entry: Arc<Mutex<Option<Arc<LiveRun>>>>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        lock(&self.entry).take();
        if let Some(run) = self.live.hub.run() {
            lock(&self.state).runs.remove(run);
        }
        self.live
            .hub
            .refuse(ErrorInfo::new(Code::Internal, "the run broke down before it began").into());
        self.live.hub.finish();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            scope: Scope {
                tenant: "t".into(),
                subject: "s".into(),
            },
            session: SessionId::new("s").unwrap(),
        }
    }

    #[tokio::test]
    async fn runs_are_bounded_and_a_server_that_stops_takes_no_more() {
        let live = Live::new();
        let start = || live.start(place(), |run| async move { run.cancel.cancelled().await });
        for _ in 0..MOST {
            start().unwrap();
        }
        let Err(refused) = start() else {
            panic!("one too many");
        };
        assert_eq!(refused.error().code, Code::RateLimited);
        live.end_all(Duration::from_secs(60)).await;
        let Err(refused) = start() else {
            panic!("it had stopped");
        };
        assert_eq!(refused.error().code, Code::Unavailable);
    }

    #[tokio::test]
    async fn a_run_that_breaks_down_is_over_for_all_who_wait_for_it() {
        let live = Live::new();
        let (run, begun) = live.start(place(), |_| async { panic!("broken") }).unwrap();
        let problem = begun.await.unwrap().unwrap_err();
        assert_eq!(problem.error().code, Code::Internal);
        assert!(run.hub.follow().is_none() && !live.is_at_work(&place()));
    }
}
