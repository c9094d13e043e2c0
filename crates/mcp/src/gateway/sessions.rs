//! Whose session is whose, when the library heard from it last, and which of its calls are under
//! way here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outfitter_core::{Cancel, Principal, Subject, Tenant};
use rmcp::model::RequestId;
use tokio::time::Instant;

/// How many sessions are remembered before those that have ended are forgotten.
const PRUNE_AT: usize = 1024;

/// How long the library may not hear from a session of which calls are answered here. It ends one
/// that it has not heard from for five minutes.
const UNHEARD: Duration = Duration::from_secs(60);

/// What is known of a session, for who names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing.
    None,
    /// It is somebody else's.
    Foreign,
    /// It is theirs, and the library should hear from it.
    Unheard,
    /// It is theirs.
    Heard,
}

/// The sessions of the legacy era.
#[derive(Default)]
pub(super) struct Sessions {
    known: Mutex<HashMap<String, Known>>,
    under_way: Arc<AllUnderWay>,
}

struct Known {
    owner: (Tenant, Subject),
    heard: Option<Instant>,
}

impl Sessions {
    pub(super) fn of(&self, session: &str, who: &Principal) -> Standing {
        match self.lock().get(session) {
            None => Standing::None,
            Some(known) if known.owner.0 != who.tenant || known.owner.1 != who.subject => {
                Standing::Foreign
            }
            Some(known) if known.heard.is_some_and(|heard| heard.elapsed() < UNHEARD) => {
                Standing::Heard
            }
            Some(_) => Standing::Unheard,
        }
    }

    pub(super) fn insert(&self, session: &str, who: &Principal) {
        let known = Known {
            owner: (who.tenant.clone(), who.subject.clone()),
            heard: None,
        };
        self.lock().insert(session.to_owned(), known);
    }

    pub(super) fn heard(&self, session: &str) {
        if let Some(known) = self.lock().get_mut(session) {
            known.heard = Some(Instant::now());
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.lock().len() >= PRUNE_AT
    }

    pub(super) fn keep(&self, is_alive: impl Fn(&str) -> bool) {
        self.lock().retain(|session, _| is_alive(session));
    }

    /// A call begins. Its client stops it by its id, if it is in a session. None when another call
    /// with this id is under way.
    pub(super) fn begin(&self, session: Option<&str>, id: &RequestId) -> Option<UnderWay> {
        let cancel = Cancel::new();
        let entry = match session {
            None => None,
            Some(session) => {
                let key = (Box::from(session), id.clone());
                let mut under_way = locked(&self.under_way);
                if under_way.contains_key(&key) {
                    return None;
                }
                under_way.insert(key.clone(), cancel.clone());
                Some((key, self.under_way.clone()))
            }
        };
        Some(UnderWay { cancel, entry })
    }

    /// A call is not wanted any more.
    pub(super) fn cancel(&self, session: &str, id: &RequestId) {
        let key = (Box::from(session), id.clone());
        if let Some(cancel) = locked(&self.under_way).get(&key) {
            cancel.cancel();
        }
    }

    /// A session has ended, and its calls with it. Whether it was known until now.
    pub(super) fn end(&self, session: &str) -> bool {
        let known = self.lock().remove(session).is_some();
        let under_way = locked(&self.under_way);
        let of_it = under_way.iter().filter(|((of, _), _)| **of == *session);
        of_it.for_each(|(_, cancel)| cancel.cancel());
        known
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        locked(&self.known)
    }
}

/// A call that is under way, until this is dropped.
pub(super) struct UnderWay {
    cancel: Cancel,
    entry: Option<(Key, Arc<AllUnderWay>)>,
}

/// A request of a session.
type Key = (Box<str>, RequestId);

type AllUnderWay = Mutex<HashMap<Key, Cancel>>;

impl UnderWay {
    pub(super) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some((key, all)) = &self.entry {
            locked(all).remove(key);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::Role;

    fn ann(subject: &str) -> Principal {
        Principal {
            tenant: "t".into(),
            subject: subject.into(),
            role: Role::User,
            channel: "mcp".into(),
            stream: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_library_hears_from_a_session_from_time_to_time() {
        let sessions = Sessions::default();
        assert_eq!(sessions.of("s", &ann("ann")), Standing::None);
        sessions.insert("s", &ann("ann"));
        assert_eq!(sessions.of("s", &ann("eve")), Standing::Foreign);
        assert_eq!(sessions.of("s", &ann("ann")), Standing::Unheard);
        sessions.heard("s");
        assert_eq!(sessions.of("s", &ann("ann")), Standing::Heard);
        tokio::time::advance(UNHEARD).await;
        assert_eq!(sessions.of("s", &ann("ann")), Standing::Unheard);
        sessions.keep(|_| false);
        assert_eq!(sessions.of("s", &ann("ann")), Standing::None);
    }

    #[test]
    fn an_id_names_one_call_of_a_session_until_it_ends() {
        let sessions = Sessions::default();
        let id = RequestId::Number(1);
        let first = sessions.begin(Some("s"), &id).unwrap();
        assert!(sessions.begin(Some("s"), &id).is_none());
        let other = sessions.begin(Some("t"), &id).unwrap();
        assert!(sessions.begin(None, &id).is_some());
        assert!(sessions.begin(None, &id).is_some());
        sessions.cancel("s", &id);
        assert!(first.cancel.is_cancelled());
        assert!(!other.cancel.is_cancelled());
        drop(first);
        assert!(sessions.begin(Some("s"), &id).is_some());
        assert!(!sessions.end("t"), "nobody began it");
        assert!(other.cancel.is_cancelled());
    }
}
