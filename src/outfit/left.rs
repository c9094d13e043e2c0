//! The bound on what all sessions together leave on disk of the output of their jobs.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use outfitter_sandbox::left::{ALL_LEFT_SPOOL_BYTES, keep_within};

use super::Outfitter;
use super::folders::{Folders, folders, looked};

/// How often it is looked at, at most: sessions are opened more often than they leave much.
const BETWEEN_LOOKS: Duration = Duration::from_secs(600);

/// When it was last looked at.
#[derive(Debug, Default)]
pub(super) struct LastLook(Mutex<Option<Instant>>);

impl LastLook {
    /// Whether it is time for another, which begins with this.
    fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= BETWEEN_LOOKS);
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}

impl Outfitter {
    /// Removes the oldest output of sessions that nobody is in, where all of it is too much.
    pub(super) async fn bound_left_output(&self) {
        if !self.last_look.is_due() {
            return;
        }
        let seen = looked(&self.session_dirs(), |root| {
            let Folders { found, mut unread } = folders(root);
            let swept = keep_within(ALL_LEFT_SPOOL_BYTES, &found);
            if swept.removed > 0 {
                let gone = swept.removed;
                tracing::info!("removed {gone} bytes that commands of earlier sessions printed");
            }
            unread.extend(swept.stays);
            Folders { found, unread }
        })
        .await;
        for why in seen.unread {
            tracing::warn!("what commands of earlier sessions printed is not all bounded: {why}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was one for all of a process, whatever directory each of them was of.
    #[test]
    fn each_has_looks_of_its_own() {
        let (one, other) = (LastLook::default(), LastLook::default());
        assert!(one.is_due());
        assert!(!one.is_due());
        assert!(other.is_due());
    }
}
