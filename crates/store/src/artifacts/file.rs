//! Artifacts in files, for sessions that outlive the process.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{
    ArtifactChunk, ArtifactError, ArtifactId, ArtifactInfo, ArtifactStore, Clock, NewArtifact,
    Scope, SessionId,
};

use super::directory::{Directory, StoredFacts, read_range};
use super::quota::{ArtifactLimits, Kept};

/// The most bytes that one read gives, whatever was asked for.
const MAX_READ_BYTES: usize = 16 << 20;

/// How many sessions' sizes are remembered. Others are counted again when they are used.
const REMEMBERED_SESSIONS: usize = 1_024;

/// Artifacts in files: `<root>/<tenant>/<subject>/<session>/<id>.data` with what is known of each
/// in `<id>.json` beside it. Directories are 0700, files 0600.
///
/// The work is done on the runtime's blocking threads. It is a few short system calls, but each
/// may wait for a disk, and the thread that waited would hold every other session's tasks.
///
/// The bound of a session counts what other processes add only as of its first use here; a session
/// has one run at a time.
#[derive(Clone)]
pub struct FileArtifacts(Arc<Inner>);

struct Inner {
    root: PathBuf,
    clock: Arc<dyn Clock>,
    limits: ArtifactLimits,
    sessions: Mutex<HashMap<(Scope, SessionId), Arc<Counted>>>,
}

/// What a session keeps, once it was counted. Who changes the session holds the lock.
type Counted = Mutex<Option<Kept>>;

impl std::fmt::Debug for FileArtifacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileArtifacts")
            .field("root", &self.0.root)
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}

impl FileArtifacts {
    /// Artifacts under `root`, which is made at the first use.
    #[must_use]
    pub fn new(root: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self::within(root, clock, ArtifactLimits::ON_DISK)
    }

    /// The same with other bounds.
    #[must_use]
    pub fn within(root: PathBuf, clock: Arc<dyn Clock>, limits: ArtifactLimits) -> Self {
        Self(Arc::new(Inner {
            root,
            clock,
            limits,
            sessions: Mutex::default(),
        }))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, ArtifactError> + Send + 'static,
    ) -> Result<T, ArtifactError> {
        let inner = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || work(&inner))
            .await
            .unwrap_or_else(|error| {
                Err(ArtifactError::Unavailable {
                    why: format!("the work on it was given up: {error}"),
                })
            })
    }
}

impl Inner {
    fn counted(&self, scope: &Scope, session: &SessionId) -> Arc<Counted> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= REMEMBERED_SESSIONS {
            sessions.retain(|_, counted| Arc::strong_count(counted) > 1);
        }
        Arc::clone(
            sessions
                .entry((scope.clone(), session.clone()))
                .or_default(),
        )
    }

    /// Does something to the session while nobody else in this process does.
    fn changing<T>(
        &self,
        scope: &Scope,
        session: &SessionId,
        directory: &Directory,
        id: &ArtifactId,
        change: impl FnOnce(&mut Kept) -> Result<T, ArtifactError>,
    ) -> Result<T, ArtifactError> {
        let counted = self.counted(scope, session);
        let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = match &mut *counted {
            Some(kept) => kept,
            none => none.insert(directory.kept().map_err(|error| broken(id, error))?),
        };
        change(kept)
    }

    fn create(
        &self,
        scope: &Scope,
        session: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        let id = ArtifactId::mint(&*self.clock);
        let facts = StoredFacts {
            v: 1,
            mime: new.mime,
            name: new.name,
            created: self.clock.now(),
        };
        let directory =
            Directory::make(&self.root, scope, session).map_err(|error| broken(&id, error))?;
        self.changing(scope, session, &directory, &id, |kept| {
            kept.room_for_one(&self.limits)?;
            directory
                .create(&id, &facts)
                .map_err(|error| broken(&id, error))?;
            kept.count += 1;
            Ok(())
        })?;
        Ok(id)
    }

    fn append(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        bytes: &[u8],
    ) -> Result<(), ArtifactError> {
        let directory = self.find(scope, session, id)?;
        self.changing(scope, session, &directory, id, |kept| {
            let data = directory
                .open_to_append(id)
                .map_err(|error| broken(id, error))?;
            let size = data.metadata().map_err(|error| broken(id, error))?.len();
            let more = bytes.len() as u64;
            kept.room_for(&self.limits, size, more)?;
            directory
                .append(&data, size, bytes)
                .map_err(|error| broken(id, error))?;
            kept.bytes += more;
            Ok(())
        })
    }

    fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        offset: u64,
        max: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        let directory = self.find(scope, session, id)?;
        let failed = |error| broken(id, error);
        let (facts, data) = directory.open_to_read(id).map_err(failed)?;
        let max = usize::try_from(max)
            .unwrap_or(usize::MAX)
            .min(MAX_READ_BYTES);
        let bytes = read_range(&data, offset, max).map_err(failed)?;
        // Read after the bytes, so that it never says less than they are.
        let size = data.metadata().map_err(failed)?.len();
        Ok(ArtifactChunk {
            bytes: bytes.into(),
            info: ArtifactInfo {
                id: id.clone(),
                mime: facts.mime,
                name: facts.name,
                size,
                created: facts.created,
            },
        })
    }

    fn delete(&self, scope: &Scope, session: &SessionId) -> io::Result<()> {
        let Some(directory) = Directory::find(&self.root, scope, session)? else {
            return Ok(());
        };
        let counted = self.counted(scope, session);
        let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted = None;
        directory.clear()?;
        Directory::remove(&self.root, scope, session)
    }

    fn find(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
    ) -> Result<Directory, ArtifactError> {
        Directory::find(&self.root, scope, session)
            .map_err(|error| broken(id, error))?
            .ok_or_else(|| ArtifactError::NotFound(id.clone()))
    }
}

fn broken(id: &ArtifactId, source: io::Error) -> ArtifactError {
    if source.kind() == io::ErrorKind::NotFound {
        return ArtifactError::NotFound(id.clone());
    }
    ArtifactError::Io {
        id: id.clone(),
        source,
    }
}

#[async_trait]
impl ArtifactStore for FileArtifacts {
    async fn create(
        &self,
        scope: &Scope,
        session: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        let (scope, session) = (scope.clone(), session.clone());
        self.blocking(move |inner| inner.create(&scope, &session, new))
            .await
    }

    async fn append(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError> {
        let (scope, session, id) = (scope.clone(), session.clone(), id.clone());
        self.blocking(move |inner| inner.append(&scope, &session, &id, &bytes))
            .await
    }

    async fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        offset: u64,
        max: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        let (scope, session, id) = (scope.clone(), session.clone(), id.clone());
        self.blocking(move |inner| inner.read(&scope, &session, &id, offset, max))
            .await
    }

    async fn delete_session(
        &self,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<(), ArtifactError> {
        let (scope, session) = (scope.clone(), session.clone());
        self.blocking(move |inner| {
            inner
                .delete(&scope, &session)
                .map_err(|error| ArtifactError::Unavailable {
                    why: format!("the artifacts of {session} cannot be deleted: {error}"),
                })
        })
        .await
    }
}
