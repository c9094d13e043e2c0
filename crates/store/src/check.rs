//! What every log holds its callers to.

use outfitter_core::{
    Durability, EntryBody, MAX_STANDING_APPROVALS, NewEntry, SessionSummary, Sessions, StoreError,
};

/// The most entries that one read gives, whatever was asked for.
pub const MAX_READ_PAGE: u32 = 10_000;

/// The most sessions that one listing gives, whatever was asked for.
pub const MAX_LIST_PAGE: u32 = 1_000;

/// How many to give when `limit` were asked for, where 0 leaves it to us.
pub(crate) fn page(limit: u32, most: u32) -> usize {
    let count = if limit == 0 { most } else { limit.min(most) };
    count as usize
}

/// The first `count` of a listing, and where to read on if there are more.
pub(crate) fn sessions(mut sessions: Vec<SessionSummary>, count: usize) -> Sessions {
    let more = sessions.len() > count;
    sessions.truncate(count);
    let next = sessions.last().filter(|_| more);
    Sessions {
        next: next.map(|last| last.id.clone()),
        sessions,
    }
}

/// Refuses an append of nothing, and events that are never kept.
pub(crate) fn entries(entries: &[NewEntry]) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Err(refuse("an append has at least one entry"));
    }
    let ephemeral = entries.iter().any(|entry| match &entry.body {
        EntryBody::Event(event) => event.durability() == Durability::Ephemeral,
        EntryBody::Request(_)
        | EntryBody::Intent(_)
        | EntryBody::Answer(_)
        | EntryBody::Activated(_)
        | EntryBody::Suggested(_)
        | EntryBody::Workflow(_) => false,
    });
    if ephemeral {
        return Err(refuse("an ephemeral event is never stored"));
    }
    Ok(())
}

/// One more approval than are kept for one person.
pub(crate) fn too_many_approvals() -> StoreError {
    refuse(format!(
        "there are {MAX_STANDING_APPROVALS} approvals already; take some back first"
    ))
}

/// An error of the store without a cause beneath it.
pub(crate) fn refuse(message: impl Into<String>) -> StoreError {
    StoreError::Backend {
        message: message.into(),
        source: None,
    }
}
