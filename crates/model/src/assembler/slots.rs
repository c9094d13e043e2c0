//! Which call a piece belongs to.

use std::collections::HashMap;

use outfitter_core::ToolCallDelta;

use super::call::CallInPieces;
use crate::limits::MAX_CALLS;

/// Where a piece belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// To the call at this place; one past the last is a new call.
    Call(usize),
    /// To a call over the bound.
    Over,
}

/// Finds calls by index, then by id, then by what came last. The index may begin and jump as it
/// likes: it is a name, not a place.
#[derive(Debug, Default)]
pub(super) struct Slots {
    by_index: HashMap<u64, Place>,
    by_id: HashMap<String, Place>,
    last: Option<Place>,
    dropped: bool,
}

impl Slots {
    /// Whether there were more calls than the bound.
    pub(super) fn dropped(&self) -> bool {
        self.dropped
    }

    pub(super) fn place(&mut self, piece: &ToolCallDelta, calls: &[CallInPieces]) -> Place {
        let place = match self.known(piece, calls) {
            Some(Place::Call(at)) if !calls[at].is_followed_by(piece) => {
                if calls[at].lacks_id() {
                    self.name(piece, Place::Call(at));
                }
                Place::Call(at)
            }
            Some(Place::Over) => Place::Over,
            Some(Place::Call(_)) | None => {
                let place = self.open(calls.len());
                // Of the calls over the bound nothing is kept, not even what they are called.
                if place != Place::Over {
                    self.name(piece, place);
                }
                place
            }
        };
        self.last = Some(place);
        place
    }

    fn known(&self, piece: &ToolCallDelta, calls: &[CallInPieces]) -> Option<Place> {
        if let Some(index) = piece.index {
            return self.by_index.get(&index).copied();
        }
        let Some(id) = id(piece) else {
            return self.last;
        };
        self.by_id.get(id).copied().or_else(|| {
            // An id without a name names what is open and has no id yet.
            let open = match self.last? {
                Place::Call(at) => calls.get(at)?.lacks_id(),
                Place::Over => false,
            };
            self.last.filter(|_| open && piece.name.is_none())
        })
    }

    fn name(&mut self, piece: &ToolCallDelta, place: Place) {
        if let Some(index) = piece.index {
            self.by_index.insert(index, place);
        }
        if let Some(id) = id(piece) {
            self.by_id.insert(id.to_owned(), place);
        }
    }

    fn open(&mut self, calls: usize) -> Place {
        if calls < MAX_CALLS {
            return Place::Call(calls);
        }
        self.dropped = true;
        Place::Over
    }
}

fn id(piece: &ToolCallDelta) -> Option<&str> {
    piece.id.as_deref().filter(|id| !id.is_empty())
}
