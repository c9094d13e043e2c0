//! The ids that clients gave the runs under way, so that a request which was sent twice is made
//! once. Those of runs that are over are in the log of their session.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::live::Place;

type Taken = Arc<Mutex<HashSet<(Place, String)>>>;

/// The ids of the runs under way, by session, and of those that are about to be.
#[derive(Default)]
pub(crate) struct ClientRuns(Taken);

/// The id of a run, taken until it is over. Whoever takes it reads in the log afterwards whether an
/// earlier run had it: one that is over by then has written it.
pub(crate) struct ClientRun {
    taken: Taken,
    key: (Place, String),
}

impl ClientRuns {
    /// Takes an id for a new run; none where one that is under way has it.
    pub(crate) fn take(&self, place: &Place, id: &str) -> Option<ClientRun> {
        let key = (place.clone(), id.to_owned());
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.insert(key.clone()).then(|| ClientRun {
            taken: self.0.clone(),
            key,
        })
    }
}

impl Drop for ClientRun {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.remove(&self.key);
    }
}
