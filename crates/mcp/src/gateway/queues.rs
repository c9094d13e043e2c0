//! One call of a session after the other.
//!
//! A session has one run at a time, and clients send several calls at once: the second waits for
//! its turn instead of being told that the session is busy. Not without a bound: so many wait, and
//! so long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use outfitter_core::SessionId;
use tokio::sync::OwnedMutexGuard;

/// How many queues are kept before those that nobody waits in are thrown away.
const PRUNE_AT: usize = 256;

/// How often a turn is asked for before it is waited for: some ten microseconds. Most calls are
/// shorter than it takes to wake who waits for one, and where one waits, all that follow do.
const TRIES: usize = 200;

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

type Queue = tokio::sync::Mutex<()>;

/// The queues of all sessions.
#[derive(Default)]
pub(super) struct Queues(Mutex<HashMap<SessionId, Weak<Queue>>>);

impl Queues {
    /// Waits for the turn of a call; it lasts until it is dropped. Of those that wait, the first
    /// come is the first served.
    pub(super) async fn turn(&self, session: &SessionId) -> Result<OwnedMutexGuard<()>, NoTurn> {
        let queue = self.queue(session);
        for _ in 0..TRIES {
            if let Ok(turn) = queue.clone().try_lock_owned() {
                return Ok(turn);
            }
            std::hint::spin_loop();
        }
        // Whoever waits, and whoever has the turn, keeps the queue.
        if Arc::strong_count(&queue) > MOST_AT_ONCE {
            return Err(NoTurn::Full);
        }
        let turn = tokio::time::timeout(LONGEST_WAIT, queue.lock_owned()).await;
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
