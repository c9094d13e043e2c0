//! Artifacts that live as long as the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{
    ArtifactChunk, ArtifactError, ArtifactId, ArtifactInfo, ArtifactStore, Clock, NewArtifact,
    Scope, SessionId,
};

use super::quota::{ArtifactLimits, Kept};

/// Artifacts in memory, for sessions in memory and for tests.
pub struct MemoryArtifacts {
    clock: Arc<dyn Clock>,
    limits: ArtifactLimits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Kept,
    sessions: HashMap<(Scope, SessionId), HashMap<ArtifactId, Held>>,
}

struct Held {
    info: ArtifactInfo,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for MemoryArtifacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryArtifacts")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl MemoryArtifacts {
    /// An empty store.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::within(clock, ArtifactLimits::IN_MEMORY)
    }

    /// An empty store with other bounds.
    #[must_use]
    pub fn within(clock: Arc<dyn Clock>, limits: ArtifactLimits) -> Self {
        Self {
            clock,
            limits,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ArtifactStore for MemoryArtifacts {
    async fn create(
        &self,
        scope: &Scope,
        session: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        let id = ArtifactId::mint(&*self.clock);
        let held = Held {
            info: ArtifactInfo {
                id: id.clone(),
                mime: new.mime,
                name: new.name,
                size: 0,
                created: self.clock.now(),
            },
            bytes: Vec::new(),
        };
        let mut state = self.state();
        state.kept.room_for_one(&self.limits)?;
        state.kept.count += 1;
        state
            .sessions
            .entry((scope.clone(), session.clone()))
            .or_default()
            .insert(id.clone(), held);
        Ok(id)
    }

    async fn append(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError> {
        let state = &mut *self.state();
        let held = state
            .sessions
            .get_mut(&(scope.clone(), session.clone()))
            .and_then(|artifacts| artifacts.get_mut(id))
            .ok_or_else(|| ArtifactError::NotFound(id.clone()))?;
        let more = bytes.len() as u64;
        state.kept.room_for(&self.limits, held.info.size, more)?;
        held.bytes.extend_from_slice(&bytes);
        held.info.size += more;
        state.kept.bytes += more;
        Ok(())
    }

    async fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        offset: u64,
        max: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        let state = self.state();
        let held = state
            .sessions
            .get(&(scope.clone(), session.clone()))
            .and_then(|artifacts| artifacts.get(id))
            .ok_or_else(|| ArtifactError::NotFound(id.clone()))?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = held.bytes.get(from..).unwrap_or_default();
        let count = rest.len().min(usize::try_from(max).unwrap_or(usize::MAX));
        Ok(ArtifactChunk {
            bytes: Bytes::copy_from_slice(&rest[..count]),
            info: held.info.clone(),
        })
    }

    async fn delete_session(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<(), ArtifactError> {
        let mut state = self.state();
        let gone = state.sessions.remove(&(scope.clone(), session.clone()));
        for held in gone.into_iter().flatten().map(|(_, held)| held) {
            state.kept.count -= 1;
            state.kept.bytes -= held.info.size;
        }
        Ok(())
    }
}
