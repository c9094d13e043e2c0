//! Time: UTC Unix milliseconds, from a clock that is handed in.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// UTC Unix milliseconds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct UnixMs(pub u64);

impl UnixMs {
    /// This instant and `span` more, as far as the type reaches.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)),
        )
    }
}

/// Where the time comes from, so that tests and replays decide it.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> UnixMs;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixMs {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        UnixMs(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}
