//! Where artifacts are kept, or counted.

use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_core::{
    ArtifactChunk, ArtifactError, ArtifactId, ArtifactInfo, ArtifactStore, NewArtifact, Scope,
    SessionId, SystemClock,
};

/// One artifact after the other; it keeps the first bytes, which are read again, and counts the rest.
#[derive(Default)]
pub(crate) struct Shelf {
    pub(crate) limit: Option<u64>,
    pub(crate) kept: Mutex<Vec<Kept>>,
}

pub(crate) struct Kept {
    pub(crate) new: NewArtifact,
    pub(crate) start: Vec<u8>,
    pub(crate) size: u64,
    pub(crate) largest_append: usize,
}

const KEPT_BYTES: usize = 1 << 16;

#[async_trait]
impl ArtifactStore for Shelf {
    async fn create(
        &self,
        _: &Scope,
        _: &SessionId,
        new: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        let mut kept = self.kept.lock().unwrap();
        kept.push(Kept {
            new,
            start: Vec::new(),
            size: 0,
            largest_append: 0,
        });
        Ok(ArtifactId::new(format!("art_{}", kept.len())).unwrap())
    }
    async fn append(
        &self,
        _: &Scope,
        _: &SessionId,
        _: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError> {
        let mut kept = self.kept.lock().unwrap();
        let last = kept.last_mut().unwrap();
        if let Some(limit) = self.limit
            && last.size + bytes.len() as u64 > limit
        {
            return Err(ArtifactError::TooLarge { limit });
        }
        let room = KEPT_BYTES - last.start.len();
        last.start
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        last.size += bytes.len() as u64;
        last.largest_append = last.largest_append.max(bytes.len());
        Ok(())
    }
    async fn read(
        &self,
        _: &Scope,
        _: &SessionId,
        id: &ArtifactId,
        offset: u64,
        max: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        let kept = self.kept.lock().unwrap();
        let number = id
            .as_str()
            .strip_prefix("art_")
            .and_then(|n| n.parse::<usize>().ok());
        let one = number.and_then(|number| kept.get(number.checked_sub(1)?));
        let one = one.ok_or_else(|| ArtifactError::NotFound(id.clone()))?;
        let from = one.start.len().min(usize::try_from(offset).unwrap());
        let to = one.start.len().min(from + usize::try_from(max).unwrap());
        Ok(ArtifactChunk {
            bytes: Bytes::copy_from_slice(&one.start[from..to]),
            info: ArtifactInfo {
                id: id.clone(),
                mime: one.new.mime.clone(),
                name: one.new.name.clone(),
                size: one.start.len() as u64,
                created: outfitter_core::Clock::now(&SystemClock),
            },
        })
    }
    async fn delete_session(&self, _: &Scope, _: &SessionId) -> Result<(), ArtifactError> {
        Ok(())
    }
}
