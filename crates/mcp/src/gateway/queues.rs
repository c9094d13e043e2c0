//! One call of a session after the other.
//!
//! A session has one run at a time, and clients send several calls at once: the second waits for
//! its turn instead of being told that the session is busy. Not without a bound: so many wait, and
//! so long.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use outfitter_core::SessionId;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How many queues are kept before those that nobody waits in are thrown away.
const PRUNE_AT: usize = 256;

/// How often a turn is asked for before it is waited for: a few microseconds. Most calls are shorter
/// than it takes to wake who waits for one.
const TRIES: usize = 50;

/// How long one that waits lets those go first that come while it wakes up. To hand the turn to a call
/// that sleeps takes longer than most calls: where each was handed it, all that followed slept.
const GIVES_WAY: Duration = Duration::from_millis(10);

/// How many calls of one session there are at once, the one under way among them.
pub(super) const MOST_AT_ONCE: usize = 64;

/// How long a call waits for its turn. It is as long as a tool has that says nothing of its time, so
/// that whoever waits longer is behind one that takes long by its nature.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// Why a call does not get its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTurn {
    /// As many as may be wait.
    Full,
    /// It has waited as long as it may.
    TooLong,
    /// As many calls as may be are under way, of whomever.
    Crowded,
}

/// The turn of a call. It lasts until this is dropped.
pub(super) struct Turn(Arc<Queue>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::SeqCst);
        self.0.wake();
    }
}

/// Who asks for a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// One that has just come, or has not waited for long.
    Any,
    /// One that has waited for as long as it gives way.
    Overdue,
}

/// The calls of one session.
#[derive(Default)]
struct Queue {
    taken: AtomicBool,
    /// How many of those that wait give way no more.
    overdue: AtomicUsize,
    for_any: Notify,
    for_overdue: Notify,
}

impl Queue {
    fn take(self: &Arc<Self>, who: Who) -> Option<Turn> {
        let may = who == Who::Overdue || !self.has_overdue();
        let is_mine = may && !self.taken.swap(true, Ordering::SeqCst);
        is_mine.then(|| Turn(self.clone()))
    }

    async fn wait(self: &Arc<Self>) -> Turn {
        let since = Instant::now();
        while since.elapsed() < GIVES_WAY {
            if let Some(turn) = self.when_woken(Who::Any).await {
                return turn;
            }
        }
        let _overdue = Overdue::new(self);
        loop {
            if let Some(turn) = self.when_woken(Who::Overdue).await {
                return turn;
            }
        }
    }

    /// Asks once more, and if the turn is taken waits until it is worth to ask again.
    async fn when_woken(self: &Arc<Self>, who: Who) -> Option<Turn> {
        let free = match who {
            Who::Any => self.for_any.notified(),
            Who::Overdue => self.for_overdue.notified(),
        };
        tokio::pin!(free);
        free.as_mut().enable();
        let turn = self.take(who);
        if turn.is_none() {
            free.await;
            if who == Who::Any && self.has_overdue() {
                // It became so meanwhile, and this was meant for it.
                self.wake();
            }
        }
        turn
    }

    fn has_overdue(&self) -> bool {
        self.overdue.load(Ordering::SeqCst) > 0
    }

    /// The turn is free, for one of those that wait. To wake one for nothing does no harm.
    fn wake(&self) {
        match self.has_overdue() {
            true => self.for_overdue.notify_one(),
            false => self.for_any.notify_one(),
        }
    }
}

/// One that gives way no more.
struct Overdue<'q>(&'q Queue);

impl<'q> Overdue<'q> {
    fn new(queue: &'q Queue) -> Self {
        queue.overdue.fetch_add(1, Ordering::SeqCst);
        Self(queue)
    }
}

impl Drop for Overdue<'_> {
    fn drop(&mut self) {
        self.0.overdue.fetch_sub(1, Ordering::SeqCst);
        // It may have been woken, and goes away without its turn.
        self.0.wake();
    }
}

/// The queues of all sessions.
#[derive(Default)]
pub(super) struct Queues(Mutex<HashMap<SessionId, Weak<Queue>>>);

impl Queues {
    /// Waits for the turn of a call. Of those that wait, the first come is the first served.
    pub(super) async fn turn(&self, session: &SessionId) -> Result<Turn, NoTurn> {
        let queue = self.queue(session);
        for _ in 0..TRIES {
            if let Some(turn) = queue.take(Who::Any) {
                return Ok(turn);
            }
            std::hint::spin_loop();
        }
        // Whoever waits, and whoever has the turn, keeps the queue.
        if Arc::strong_count(&queue) > MOST_AT_ONCE {
            return Err(NoTurn::Full);
        }
        let turn = tokio::time::timeout(LONGEST_WAIT, queue.wait()).await;
        turn.map_err(|_| NoTurn::TooLong)
    }

    fn queue(&self, session: &SessionId) -> Arc<Queue> {
        let mut queues = self.lock();
        if let Some(queue) = queues.get(session).and_then(Weak::upgrade) {
            return queue;
        }
        if queues.len() >= PRUNE_AT {
            queues.retain(|_, queue| queue.strong_count() > 0);
        }
        let queue = Arc::new(Queue::default());
        queues.insert(session.clone(), Arc::downgrade(&queue));
        queue
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Weak<Queue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn a_session_waits_for_itself_and_for_no_other() {
        let queues = Queues::default();
        let session = |n: usize| SessionId::new(format!("s{n}")).unwrap();
        let first = queues.turn(&session(0)).await.unwrap();
        assert!(queues.turn(&session(0)).now_or_never().is_none());
        for n in 1..1000 {
            drop(queues.turn(&session(n)).await.unwrap());
        }
        assert!(
            queues.lock().len() <= PRUNE_AT,
            "queues that nobody waits in go"
        );
        assert!(
            queues.turn(&session(0)).now_or_never().is_none(),
            "and no other"
        );
        drop(first);
        assert!(queues.turn(&session(0)).now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_while_one_wakes_up_goes_first_and_passes_nobody_that_has_waited_for_long() {
        let queues = Queues::default();
        let session = SessionId::new("s").unwrap();
        let first = queues.turn(&session).await.unwrap();
        let mut early = Box::pin(queues.turn(&session));
        assert!(early.as_mut().now_or_never().is_none());
        drop(first);
        // It is woken, and another comes before it is up.
        let second = queues.turn(&session).now_or_never().unwrap();
        assert!(early.as_mut().now_or_never().is_none());
        tokio::time::advance(GIVES_WAY).await;
        drop(second);
        let third = queues.turn(&session).now_or_never().unwrap();
        assert!(early.as_mut().now_or_never().is_none());
        // From here on it gives way no more.
        drop(third);
        let mut late = Box::pin(queues.turn(&session));
        assert!(late.as_mut().now_or_never().is_none());
        let turn = early.as_mut().now_or_never().unwrap();
        assert!(late.as_mut().now_or_never().is_none());
        drop(turn);
        drop(early);
        assert!(late.as_mut().now_or_never().is_some());
    }

    /// Whatever goes away while it waits, the turn is free in the end.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_turn_that_was_meant_for_one_that_went_away_is_not_lost() {
        let queues = Arc::new(Queues::default());
        let session = SessionId::new("s").unwrap();
        let mut calls = tokio::task::JoinSet::new();
        for call in 0..1_000_u64 {
            let (queues, session) = (queues.clone(), session.clone());
            calls.spawn(async move {
                let patience = Duration::from_micros(call * 37 % 20_000);
                let turn = tokio::time::timeout(patience, queues.turn(&session)).await;
                if let Ok(Ok(turn)) = turn {
                    match call % 3 {
                        0 => tokio::time::sleep(Duration::from_micros(call % 700)).await,
                        1 => tokio::task::yield_now().await,
                        _ => {}
                    }
                    drop(turn);
                }
            });
        }
        calls.join_all().await;
        assert!(queues.turn(&session).now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_waited_without_a_bound_and_any_number_did() {
        let queues = Queues::default();
        let session = SessionId::new("s").unwrap();
        let first = queues.turn(&session).await.unwrap();
        let mut waiting: Vec<_> = (1..MOST_AT_ONCE)
            .map(|_| Box::pin(queues.turn(&session)))
            .collect();
        for turn in &mut waiting {
            assert!(turn.as_mut().now_or_never().is_none());
        }
        assert_eq!(queues.turn(&session).await.err(), Some(NoTurn::Full));
        // One that goes away makes room.
        waiting.pop();
        let mut last = Box::pin(queues.turn(&session));
        assert!(last.as_mut().now_or_never().is_none());
        tokio::time::advance(LONGEST_WAIT).await;
        assert_eq!(last.await.err(), Some(NoTurn::TooLong));
        assert_eq!(waiting.remove(0).await.err(), Some(NoTurn::TooLong));
        drop((first, waiting));
        assert!(queues.turn(&session).now_or_never().is_some());
    }
}
