//! Artifacts of any session, in memory, and a sandbox of which only the facts are real.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::*;

use crate::support::Standing;

type Kept = (NewArtifact, Vec<u8>);

/// Artifacts of any session, in memory.
#[derive(Default)]
pub(crate) struct Artifacts {
    kept: Mutex<BTreeMap<(SessionId, ArtifactId), Kept>>,
    next: AtomicU64,
}

#[async_trait]
impl ArtifactStore for Artifacts {
    async fn create(
        &self,
        _: &Scope,
        session: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        let id = ArtifactId::new(format!("art_{}", self.next.fetch_add(1, Ordering::SeqCst)));
        let key = (session.clone(), id.unwrap());
        self.kept
            .lock()
            .unwrap()
            .insert(key.clone(), (new, Vec::new()));
        Ok(key.1)
    }

    async fn append(
        &self,
        _: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError> {
        match self
            .kept
            .lock()
            .unwrap()
            .get_mut(&(session.clone(), id.clone()))
        {
            Some((_, kept)) => kept.extend_from_slice(&bytes),
            None => return Err(ArtifactError::NotFound(id.clone())),
        }
        Ok(())
    }

    async fn read(
        &self,
        _: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        offset: u64,
        max: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        let kept = self.kept.lock().unwrap();
        let (new, bytes) = kept
            .get(&(session.clone(), id.clone()))
            .ok_or_else(|| ArtifactError::NotFound(id.clone()))?;
        let from = usize::try_from(offset).unwrap().min(bytes.len());
        let to = from
            .saturating_add(usize::try_from(max).unwrap())
            .min(bytes.len());
        Ok(ArtifactChunk {
            bytes: Bytes::copy_from_slice(&bytes[from..to]),
            info: ArtifactInfo {
                id: id.clone(),
                mime: new.mime.clone(),
                name: new.name.clone(),
                size: bytes.len() as u64,
                created: Standing.now(),
            },
        })
    }

    async fn delete_session(&self, _: &Scope, _: &SessionId) -> Result<(), ArtifactError> {
        Ok(())
    }
}

impl Artifacts {
    pub(crate) fn put(&self, session: &SessionId, id: &str, mime: &str, bytes: &[u8]) {
        let new = NewArtifact {
            mime: mime.to_owned(),
            name: id.to_owned(),
        };
        let key = (session.clone(), ArtifactId::new(id).unwrap());
        self.kept.lock().unwrap().insert(key, (new, bytes.to_vec()));
    }

    pub(crate) fn text(&self, id: &ArtifactId) -> String {
        let kept = self.kept.lock().unwrap();
        let (_, (_, bytes)) = kept.iter().find(|((_, key), _)| key == id).unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    }
}

/// A sandbox that only says what it is.
struct Named(RefusingSandbox, SandboxInfo);

#[async_trait]
impl Sandbox for Named {
    fn info(&self) -> &SandboxInfo {
        &self.1
    }
    async fn spawn(&self, c: CommandSpec) -> Result<JobId, SandboxError> {
        self.0.spawn(c).await
    }
    async fn output(
        &self,
        j: &JobId,
        from: Offset,
        max: usize,
        wait: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        self.0.output(j, from, max, wait).await
    }
    async fn tail(&self, j: &JobId, max: usize) -> Result<OutputChunk, SandboxError> {
        self.0.tail(j, max).await
    }
    async fn wait(&self, j: &JobId) -> Result<Exit, SandboxError> {
        self.0.wait(j).await
    }
    async fn kill(&self, j: &JobId, grace: Duration) -> Result<Killed, SandboxError> {
        self.0.kill(j, grace).await
    }
    fn jobs(&self) -> Vec<JobInfo> {
        self.0.jobs()
    }
    fn files(&self) -> &dyn Files {
        self.0.files()
    }
}

pub(crate) fn sandbox(isolating: bool) -> Arc<dyn Sandbox> {
    let refusing = RefusingSandbox::new();
    let info = SandboxInfo {
        isolating,
        ..refusing.info().clone()
    };
    Arc::new(Named(refusing, info))
}
