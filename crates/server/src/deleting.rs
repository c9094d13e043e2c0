//! The sessions that are being deleted, so that who comes meanwhile is told so.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use outfitter_core::{CallHostError, Code, ErrorInfo};

use crate::live::Place;
use crate::problem::Problem;

type Places = Arc<Mutex<HashSet<Place>>>;

/// The sessions that this server is deleting now.
#[derive(Default)]
pub(crate) struct Deleting(Places);

/// A session that is being deleted, until this is dropped.
pub(crate) struct Deleted {
    all: Places,
    place: Place,
}

/// What is so with a session that is being deleted.
#[derive(Debug)]
pub(crate) struct IsBeingDeleted(String);

impl Deleting {
    /// The deletion of a session begins, unless one is under way.
    pub(crate) fn begin(&self, place: &Place) -> Result<Deleted, IsBeingDeleted> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.insert(place.clone()) {
            return Err(IsBeingDeleted::of(place));
        }
        Ok(Deleted {
            all: self.0.clone(),
            place: place.clone(),
        })
    }

    /// Whether a session may be used.
    pub(crate) fn allows(&self, place: &Place) -> Result<(), IsBeingDeleted> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.contains(place) {
            true => Err(IsBeingDeleted::of(place)),
            false => Ok(()),
        }
    }
}

impl Drop for Deleted {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.place);
    }
}

impl IsBeingDeleted {
    fn of(place: &Place) -> Self {
        Self(format!(
            "the session {} is being deleted now",
            place.session
        ))
    }
}

impl From<IsBeingDeleted> for Problem {
    fn from(IsBeingDeleted(what): IsBeingDeleted) -> Self {
        ErrorInfo::new(Code::Busy, what)
            .with_hint("try again when that is done")
            .into()
    }
}

impl From<IsBeingDeleted> for CallHostError {
    fn from(IsBeingDeleted(what): IsBeingDeleted) -> Self {
        Self::Unavailable(what)
    }
}
