//! How long a credential is good.

use std::time::Duration;

/// How long a credential is good: 300 to 600 seconds, long enough for one call of a tool and too
/// short to be worth stealing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lifetime(u64);

/// A lifetime out of its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a credential is good for 300 to 600 seconds, not {0}")]
pub struct InvalidLifetime(u64);

impl Lifetime {
    /// The shortest, and the default.
    pub const SHORTEST: Self = Self(300);
    /// The longest.
    pub const LONGEST: Self = Self(600);

    /// So many seconds.
    ///
    /// # Errors
    /// [`InvalidLifetime`] below 300 and above 600.
    pub fn seconds(seconds: u64) -> Result<Self, InvalidLifetime> {
        let lifetime = Self(seconds);
        if (Self::SHORTEST..=Self::LONGEST).contains(&lifetime) {
            Ok(lifetime)
        } else {
            Err(InvalidLifetime(seconds))
        }
    }

    pub(crate) fn as_seconds(self) -> u64 {
        self.0
    }

    /// The span.
    #[must_use]
    pub fn span(self) -> Duration {
        Duration::from_secs(self.0)
    }
}
