//! The ids that clients gave their runs, so that a request which was sent twice is made once.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::live::{Place, RECENT};

/// The ids of the last runs, by session.
#[derive(Default)]
pub(crate) struct ClientRuns(Mutex<Known>);

#[derive(Default)]
struct Known {
    ids: HashSet<(Place, String)>,
    order: VecDeque<(Place, String)>,
}

impl ClientRuns {
    /// Takes an id for a new run; says whether it was free.
    pub(crate) fn take(&self, place: &Place, id: &str) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (place.clone(), id.to_owned());
        if !known.ids.insert(key.clone()) {
            return false;
        }
        known.order.push_back(key);
        while known.order.len() > RECENT
            && let Some(oldest) = known.order.pop_front()
        {
            known.ids.remove(&oldest);
        }
        true
    }

    /// The session was deleted: one of its id may begin anew.
    pub(crate) fn forget(&self, place: &Place) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.ids.retain(|(other, _)| other != place);
        known.order.retain(|(other, _)| other != place);
    }

    /// Gives an id back: there was no run.
    pub(crate) fn give_back(&self, place: &Place, id: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (place.clone(), id.to_owned());
        if known.ids.remove(&key) {
            known.order.retain(|other| *other != key);
        }
    }
}
