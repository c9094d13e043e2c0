//! One call of a session after the other.
//!
//! A session has one run at a time, and clients send several calls at once: the second waits for
//! its turn instead of being told that the session is busy.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use outfitter_core::SessionId;
use tokio::sync::OwnedMutexGuard;

/// How many queues are kept before those that nobody waits in are thrown away.
const PRUNE_AT: usize = 256;

/// How often a turn is asked for before it is waited for: some ten microseconds. Most calls are
/// shorter than it takes to wake who waits for one, and where one waits, all that follow do.
const TRIES: usize = 200;

type Queue = tokio::sync::Mutex<()>;

/// The queues of all sessions.
#[derive(Default)]
pub(super) struct Queues(Mutex<HashMap<SessionId, Weak<Queue>>>);

impl Queues {
    /// Waits for the turn of a call; it lasts until it is dropped. Of those that wait, the first
    /// come is the first served.
    pub(super) async fn turn(&self, session: &SessionId) -> OwnedMutexGuard<()> {
        let queue = self.queue(session);
        for _ in 0..TRIES {
            if let Ok(turn) = queue.clone().try_lock_owned() {
                return turn;
            }
            std::hint::spin_loop();
        }
        queue.lock_owned().await
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
        let first = queues.turn(&session(0)).await;
        assert!(queues.turn(&session(0)).now_or_never().is_none());
        for n in 1..1000 {
            drop(queues.turn(&session(n)).await);
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
}
