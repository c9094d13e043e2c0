//! How much may be kept.

use outfitter_core::ArtifactError;

/// The bounds of artifacts, in bytes but for the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactLimits {
    /// Of one artifact.
    pub one: u64,
    /// Of all artifacts of a session together; in memory, of all sessions.
    pub total: u64,
    /// How many artifacts those may be.
    pub count: u64,
}

impl ArtifactLimits {
    /// On disk: 256 MiB each, 2 GiB and 10,000 a session.
    pub const ON_DISK: Self = Self {
        one: 256 << 20,
        total: 2 << 30,
        count: 10_000,
    };
    /// In memory: 64 MiB each, 256 MiB and 10,000 in the whole store.
    pub const IN_MEMORY: Self = Self {
        one: 64 << 20,
        total: 256 << 20,
        count: 10_000,
    };
}

/// What is kept now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) bytes: u64,
    pub(super) count: u64,
}

impl Kept {
    /// Whether there is room for one more artifact.
    pub(super) fn room_for_one(self, limits: &ArtifactLimits) -> Result<(), ArtifactError> {
        if self.count >= limits.count {
            return Err(ArtifactError::Unavailable {
                why: format!("there are {} artifacts already", limits.count),
            });
        }
        Ok(())
    }

    /// Whether an artifact of `size` bytes may grow by `more`.
    pub(super) fn room_for(
        self,
        limits: &ArtifactLimits,
        size: u64,
        more: u64,
    ) -> Result<(), ArtifactError> {
        if size.saturating_add(more) > limits.one {
            return Err(ArtifactError::TooLarge { limit: limits.one });
        }
        if self.bytes.saturating_add(more) > limits.total {
            return Err(ArtifactError::Unavailable {
                why: format!("all artifacts together have {} bytes at most", limits.total),
            });
        }
        Ok(())
    }
}
