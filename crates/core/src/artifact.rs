//! Content too large or too binary to inline.

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{ArtifactId, Scope, SessionId, UnixMs};

/// What a new artifact is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewArtifact {
    /// Its media type.
    pub mime: String,
    /// What it is, for people.
    pub name: String,
}

/// What is known of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactInfo {
    /// Its id.
    pub id: ArtifactId,
    /// Its media type.
    pub mime: String,
    /// What it is, for people.
    pub name: String,
    /// Its size in bytes now.
    pub size: u64,
    /// When it was made.
    pub created: UnixMs,
}

/// Some bytes of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactChunk {
    /// The bytes.
    pub bytes: Bytes,
    /// What is known of the whole.
    pub info: ArtifactInfo,
}

/// Why an artifact was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// No such artifact of this session.
    #[error("find the artifact {0}")]
    NotFound(ArtifactId),
    /// Over the bound of one artifact.
    #[error("keep the artifact: it is larger than {limit} bytes")]
    TooLarge {
        /// The bound.
        limit: u64,
    },
    /// There is nowhere to keep it.
    #[error("keep an artifact: {why}")]
    Unavailable {
        /// Why.
        why: String,
    },
    /// The system failed.
    #[error("use the artifact {id}")]
    Io {
        /// Which one.
        id: ArtifactId,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// Where artifacts are kept. One session never sees another's.
#[async_trait]
pub trait ArtifactStore: Send + Sync {
    /// Makes an empty one.
    ///
    /// # Errors
    /// [`ArtifactError`].
    async fn create(
        &self,
        scope: &Scope,
        session: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError>;

    /// Adds bytes to its end.
    ///
    /// # Errors
    /// [`ArtifactError::TooLarge`] when it would grow over the bound; what was there stays.
    async fn append(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError>;

    /// Reads at most `max` bytes from `offset` on.
    ///
    /// # Errors
    /// [`ArtifactError::NotFound`] also for another session's.
    async fn read(
        &self,
        scope: &Scope,
        session: &SessionId,
        id: &ArtifactId,
        offset: u64,
        max: u64,
    ) -> Result<ArtifactChunk, ArtifactError>;

    /// Deletes all artifacts of a session.
    ///
    /// # Errors
    /// [`ArtifactError`].
    async fn delete_session(&self, scope: &Scope, session: &SessionId)
    -> Result<(), ArtifactError>;
}

/// A store that keeps nothing, for calls that have none.
#[derive(Debug, Clone, Copy, Default)]
pub struct RefusingArtifacts;

impl RefusingArtifacts {
    fn refuse<T>() -> Result<T, ArtifactError> {
        Err(ArtifactError::Unavailable {
            why: "this call has no artifact store".to_owned(),
        })
    }
}

#[async_trait]
impl ArtifactStore for RefusingArtifacts {
    async fn create(
        &self,
        _: &Scope,
        _: &SessionId,
        _: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        Self::refuse()
    }
    async fn append(
        &self,
        _: &Scope,
        _: &SessionId,
        _: &ArtifactId,
        _: Bytes,
    ) -> Result<(), ArtifactError> {
        Self::refuse()
    }
    async fn read(
        &self,
        _: &Scope,
        _: &SessionId,
        id: &ArtifactId,
        _: u64,
        _: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        Err(ArtifactError::NotFound(id.clone()))
    }
    async fn delete_session(&self, _: &Scope, _: &SessionId) -> Result<(), ArtifactError> {
        Ok(())
    }
}
