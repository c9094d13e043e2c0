//! The runs of this server: owned, found by their id, and ended with it.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use outfitter_core::{Cancel, Code, ErrorInfo, RunId, Scope, SessionId};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::hub::{Begun, Hub};
use crate::problem::Problem;

/// Runs that are over and whose session is remembered, so that it need not be looked for.
const RECENT: usize = 10_000;

/// Runs at once.
const MOST: usize = 1_024;

/// Runs and errands at once: as many runs as may be keep no errand from being done.
const MOST_IN_ALL: usize = 2 * MOST;

const WHEN_ONE_IS_OVER: &str = "try again when one of them is over";

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
    /// How many works on a session there are, those that have not begun a run yet among them.
    at_work: HashMap<Place, usize>,
    recent: HashMap<RunId, Place>,
    order: VecDeque<RunId>,
}

impl State {
    fn leave(&mut self, place: &Place) {
        if let Some(works) = self.at_work.get_mut(place) {
            *works -= 1;
            if *works == 0 {
                self.at_work.remove(place);
            }
        }
    }

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
            cancel: self.stop.interruptible(),
            hub,
        });
        *lock(&entry) = Some(live.clone());
        *lock(&self.state)
            .at_work
            .entry(live.place.clone())
            .or_default() += 1;
        let ending = Ending {
            state: self.state.clone(),
            live: live.clone(),
            entry,
        };
        let work = work(live.clone());
        {
            let mut tasks = lock(&self.tasks);
            if self.stop.is_cancelled() {
                return Err(stopping());
            }
            reap(&mut tasks);
            if tasks.len() >= MOST {
                let error = ErrorInfo::new(Code::RateLimited, "as many runs as may are under way");
                return Err(error.with_hint(WHEN_ONE_IS_OVER).into());
            }
        }
        let mut work = Box::pin(async move {
            let _ending = ending;
            work.await;
        });
        // Most direct calls are done at once, and a task costs more than they do: it wakes another
        // thread, for nothing.
        let mut nobody = Context::from_waker(Waker::noop());
        let begins = AssertUnwindSafe(|| work.as_mut().poll(&mut nobody));
        match std::panic::catch_unwind(begins) {
            Ok(Poll::Ready(())) => {}
            Ok(Poll::Pending) => {
                lock(&self.tasks).spawn(work);
            }
            // What it panicked with is told where it happened. It is over for all who wait.
            Err(_) => {
                tracing::error!("a run or an errand broke down");
                drop(work);
            }
        }
        Ok((live, begun))
    }

    /// Does what must not stop halfway when who asked for it hangs up: their request is dropped
    /// then, and this is not. It ends with the server as runs do.
    pub(crate) async fn errand<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Problem> {
        let (tell, told) = oneshot::channel();
        {
            let mut tasks = lock(&self.tasks);
            if self.stop.is_cancelled() {
                return Err(stopping());
            }
            reap(&mut tasks);
            if tasks.len() >= MOST_IN_ALL {
                let error = ErrorInfo::new(Code::RateLimited, "as much as may be is under way");
                return Err(error.with_hint(WHEN_ONE_IS_OVER).into());
            }
            tasks.spawn(async move { drop(tell.send(work.await)) });
        }
        told.await.map_err(|_| {
            if self.stop.is_cancelled() {
                return stopping();
            }
            ErrorInfo::new(Code::Internal, "what was asked for broke down").into()
        })
    }

    /// A run under way.
    pub(crate) fn get(&self, scope: &Scope, run: &RunId) -> Option<Arc<LiveRun>> {
        let live = lock(&self.state).runs.get(run).cloned();
        live.filter(|live| live.place.scope == *scope)
    }

    /// Whether a run works on the session, or is about to.
    pub(crate) fn is_at_work(&self, place: &Place) -> bool {
        lock(&self.state).at_work.contains_key(place)
    }

    /// The session of a run that this server made lately.
    pub(crate) fn recent(&self, scope: &Scope, run: &RunId) -> Option<SessionId> {
        let state = lock(&self.state);
        let place = state.recent.get(run)?;
        (place.scope == *scope).then(|| place.session.clone())
    }

    /// Interrupts every run, and waits for them: each records its end, and its turn goes on when a
    /// server starts again. What does not end in time is
    /// dropped where it stands. Gives the sessions of those. One that was just about to begin may
    /// join afterwards: it is ended by another call of this, once nobody asks for runs any more.
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
        tracing::error!(%error, "a run or an errand broke down");
    }
}

pub(crate) fn stopping() -> Problem {
    ErrorInfo::new(Code::Unavailable, "the server is stopping")
        .with_hint("try again when it has started again")
        .into()
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
        let mut state = lock(&self.state);
        state.leave(&self.live.place);
        if let Some(run) = self.live.hub.run() {
            state.runs.remove(run);
        }
        drop(state);
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
    use std::sync::atomic::{AtomicBool, Ordering};

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
    async fn a_run_that_begins_while_the_server_stops_ends_with_it_too() {
        let live = Arc::new(Live::new());
        let ended = Arc::new(AtomicBool::new(false));
        let (server, told) = (live.clone(), ended.clone());
        let begins = live.start(place(), |run| async move {
            // It is on its way into the set of those that are ended, and not in it.
            server.stop.cancel();
            run.cancel.cancelled().await;
            tokio::task::yield_now().await;
            told.store(true, Ordering::SeqCst);
        });
        begins.unwrap();
        live.end_all(Duration::from_secs(60)).await;
        assert!(ended.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn a_run_that_is_done_at_once_takes_no_task() {
        let live = Live::new();
        live.start(place(), |_| async {}).unwrap();
        assert_eq!(lock(&live.tasks).len(), 0);
        assert!(!live.is_at_work(&place()));
    }

    #[tokio::test]
    async fn an_errand_that_breaks_down_or_comes_too_late_is_told_so() {
        let live = Live::new();
        let broken = live.errand(async { panic!("broken") }).await;
        let broken: Problem = broken.map(|(): ()| ()).unwrap_err();
        assert_eq!(broken.error().code, Code::Internal);
        assert_eq!(live.errand(async { 7 }).await.unwrap(), 7);
        live.end_all(Duration::from_secs(60)).await;
        let late = live.errand(async { 7 }).await.unwrap_err();
        assert_eq!(late.error().code, Code::Unavailable);
    }

    #[tokio::test]
    async fn a_run_that_breaks_down_later_is_over() {
        let live = Live::new();
        let breaks = |_| async {
            tokio::task::yield_now().await;
            panic!("broken")
        };
        let (_, begun) = live.start(place(), breaks).unwrap();
        assert!(begun.await.unwrap().is_err());
        assert!(!live.is_at_work(&place()));
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
