//! Sessions that live as long as the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use outfitter_core::{
    Append, AppendError, ApprovalId, ApprovalStore, Entry, Fence, Log, MAX_STANDING_APPROVALS,
    Page, PageRequest, Scope, Seq, SessionId, SessionSummary, Sessions, StandingApproval,
    StoreError, UnixMs,
};

use crate::check::{self, MAX_LIST_PAGE, MAX_READ_PAGE};

/// The most entries that a [`MemoryLog`] keeps, all sessions together.
pub const MAX_MEMORY_ENTRIES: usize = 1_000_000;

/// A log in memory. One plain lock, never held across an await: what is done under it is a few
/// look-ups and pushes, so that threads wait for each other less than for an atomic map's shards.
#[derive(Debug)]
pub struct MemoryLog {
    state: Mutex<State>,
    most: usize,
}

#[derive(Debug, Default)]
struct State {
    scopes: HashMap<Scope, HashMap<SessionId, Session>>,
    approvals: HashMap<Scope, Vec<StandingApproval>>,
    entries: usize,
}

#[derive(Debug)]
struct Session {
    created: UnixMs,
    fence: Fence,
    entries: Vec<Arc<Entry>>,
}

impl Session {
    fn head(&self) -> Seq {
        Seq(self.entries.len() as u64)
    }

    fn updated(&self) -> UnixMs {
        self.entries.last().map_or(self.created, |entry| entry.at)
    }
}

impl Default for MemoryLog {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::holding(MAX_MEMORY_ENTRIES)
    }

    /// An empty log that refuses to keep more than `most` entries.
    #[must_use]
    pub fn holding(most: usize) -> Self {
        Self {
            state: Mutex::default(),
            most,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn session(&self, scope: &Scope, id: &SessionId) -> Result<&Session, StoreError> {
        self.scopes
            .get(scope)
            .and_then(|sessions| sessions.get(id))
            .ok_or_else(|| StoreError::NotFound(id.clone()))
    }

    /// The session to append to: made when `expected` says so, checked otherwise.
    fn writable(
        &mut self,
        scope: &Scope,
        append: &Append<'_>,
    ) -> Result<&mut Session, AppendError> {
        let id = append.session;
        if append.expected == Seq(0) && self.session(scope, id).is_err() {
            let fresh = Session {
                created: append
                    .entries
                    .first()
                    .map(|entry| entry.at)
                    .unwrap_or_default(),
                fence: append.fence,
                entries: Vec::new(),
            };
            let sessions = self.scopes.entry(scope.clone()).or_default();
            return Ok(sessions.entry(id.clone()).or_insert(fresh));
        }
        let session = self
            .scopes
            .get_mut(scope)
            .and_then(|sessions| sessions.get_mut(id))
            .ok_or_else(|| StoreError::NotFound(id.clone()))?;
        if append.fence < session.fence {
            return Err(AppendError::Fenced {
                fence: session.fence,
            });
        }
        if append.expected != session.head() {
            return Err(AppendError::Conflict {
                head: session.head(),
            });
        }
        Ok(session)
    }
}

#[async_trait]
impl Log for MemoryLog {
    async fn append(&self, scope: &Scope, append: Append<'_>) -> Result<Seq, AppendError> {
        check::entries(&append.entries)?;
        let count = append.entries.len();
        let mut state = self.state();
        if state.entries + count > self.most {
            return Err(
                check::refuse(format!("memory holds at most {} entries", self.most)).into(),
            );
        }
        let session = state.writable(scope, &append)?;
        session.fence = append.fence;
        let mut seq = append.expected;
        session
            .entries
            .extend(append.entries.into_iter().map(|new| {
                seq = seq.plus(1);
                Arc::new(Entry {
                    seq,
                    run: new.run,
                    at: new.at,
                    event: new.event,
                    body: new.body,
                })
            }));
        state.entries += count;
        Ok(seq)
    }

    async fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        from: Seq,
        limit: u32,
    ) -> Result<Page, StoreError> {
        let state = self.state();
        let session = state.session(scope, session)?;
        let start = usize::try_from(from.0.saturating_sub(1)).unwrap_or(usize::MAX);
        let rest = session.entries.get(start..).unwrap_or_default();
        let count = rest.len().min(check::page(limit, MAX_READ_PAGE));
        Ok(Page {
            entries: rest[..count].to_vec(),
            next: rest.get(count).map(|entry| entry.seq),
            head: session.head(),
            fence: session.fence,
        })
    }

    async fn list(&self, scope: &Scope, page: PageRequest) -> Result<Sessions, StoreError> {
        let state = self.state();
        let mut sessions: Vec<SessionSummary> = state
            .scopes
            .get(scope)
            .into_iter()
            .flatten()
            .map(|(id, session)| SessionSummary {
                id: id.clone(),
                created: session.created,
                updated: session.updated(),
                entries: session.head().0,
            })
            .collect();
        drop(state);
        sessions.sort_unstable_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        let start = match page.after {
            None => 0,
            Some(after) => match sessions.iter().position(|session| session.id == after) {
                Some(at) => at + 1,
                None => return Err(StoreError::NotFound(after)),
            },
        };
        let sessions = sessions.split_off(start);
        let count = check::page(page.limit, MAX_LIST_PAGE);
        Ok(check::sessions(sessions, count))
    }

    async fn delete(&self, scope: &Scope, session: &SessionId) -> Result<(), StoreError> {
        let mut state = self.state();
        let sessions = state
            .scopes
            .get_mut(scope)
            .ok_or_else(|| StoreError::NotFound(session.clone()))?;
        let gone = sessions
            .remove(session)
            .ok_or_else(|| StoreError::NotFound(session.clone()))?;
        if sessions.is_empty() {
            state.scopes.remove(scope);
        }
        state.entries -= gone.entries.len();
        drop(state);
        // A long session is freed outside the lock.
        drop(gone);
        Ok(())
    }
}

#[async_trait]
impl ApprovalStore for MemoryLog {
    async fn remember(&self, scope: &Scope, approval: StandingApproval) -> Result<(), StoreError> {
        let mut state = self.state();
        let kept = state.approvals.entry(scope.clone()).or_default();
        kept.retain(|old| old.expires > approval.at);
        if kept.len() >= MAX_STANDING_APPROVALS {
            return Err(check::too_many_approvals());
        }
        if kept.iter().all(|old| old.interrupt != approval.interrupt) {
            kept.push(approval);
        }
        Ok(())
    }

    async fn standing(&self, scope: &Scope) -> Result<Vec<StandingApproval>, StoreError> {
        let mut all = self
            .state()
            .approvals
            .get(scope)
            .cloned()
            .unwrap_or_default();
        all.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| b.id.cmp(&a.id)));
        Ok(all)
    }

    async fn revoke(&self, scope: &Scope, id: &ApprovalId) -> Result<bool, StoreError> {
        let mut state = self.state();
        let Some(kept) = state.approvals.get_mut(scope) else {
            return Ok(false);
        };
        let before = kept.len();
        kept.retain(|approval| approval.id != *id);
        Ok(kept.len() < before)
    }
}
