//! What waits, and until when: one table and one timer for all of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{Interrupt, InterruptId, Principal, Scope, SessionId, UnixMs};
use tokio::sync::Notify;

use crate::live::Place;

/// The longest the timer sleeps, so that it follows a clock that was set.
const LONGEST: Duration = Duration::from_secs(60);

/// How long after a failure it is tried again to let something expire.
const AGAIN: Duration = Duration::from_secs(30);

/// The sessions that wait.
#[derive(Default)]
pub(crate) struct Waits {
    waiting: Mutex<HashMap<Place, Waiting>>,
    changed: Notify,
}

/// A session that waits.
struct Waiting {
    who: Arc<Principal>,
    interrupts: Vec<Arc<Interrupt>>,
    /// When to look at it again.
    due: UnixMs,
}

impl Waits {
    /// What the session waits for now; nothing when it does not wait.
    pub(crate) fn set(&self, place: Place, who: Arc<Principal>, interrupts: Vec<Arc<Interrupt>>) {
        let first = interrupts.iter().map(|interrupt| interrupt.expires).min();
        match first {
            Some(due) => self.lock().insert(
                place,
                Waiting {
                    who,
                    interrupts,
                    due,
                },
            ),
            None => self.lock().remove(&place),
        };
        self.changed.notify_one();
    }

    /// It does not wait any more.
    pub(crate) fn forget(&self, place: &Place) {
        self.lock().remove(place);
    }

    /// The session that waits for this.
    pub(crate) fn session_of(&self, scope: &Scope, id: &InterruptId) -> Option<SessionId> {
        let waiting = self.lock();
        let found = waiting.iter().find(|(place, waiting)| {
            place.scope == *scope && waiting.interrupts.iter().any(|asked| asked.id == *id)
        });
        found.map(|(place, _)| place.session.clone())
    }

    /// The sessions where something has expired. Each is tried again later unless its run says
    /// what it waits for then.
    pub(crate) fn expired(&self, now: UnixMs) -> Vec<(Place, Arc<Principal>)> {
        let mut waiting = self.lock();
        let due = waiting.iter_mut().filter(|(_, waiting)| waiting.due <= now);
        due.map(|(place, waiting)| {
            waiting.due = now.plus(AGAIN);
            (place.clone(), waiting.who.clone())
        })
        .collect()
    }

    /// Ends when something may have expired.
    pub(crate) async fn until_due(&self, now: UnixMs) {
        let changed = self.changed.notified();
        let first = self.lock().values().map(|waiting| waiting.due).min();
        let sleep = match first {
            Some(due) => Duration::from_millis(due.0.saturating_sub(now.0)).min(LONGEST),
            None => {
                changed.await;
                return;
            }
        };
        tokio::select! {
            () = tokio::time::sleep(sleep) => {}
            () = changed => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
