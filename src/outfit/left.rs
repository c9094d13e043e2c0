//! The bound on what all sessions together leave on disk of the output of their jobs.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use outfitter_sandbox::left::{ALL_LEFT_SPOOL_BYTES, keep_within};

use super::Outfitter;
use super::forget::folders;

/// How often it is looked at, at most: sessions are opened more often than they leave much.
const BETWEEN_LOOKS: Duration = Duration::from_secs(600);

/// When it was last looked at by this program.
static LAST_LOOK: Mutex<Option<Instant>> = Mutex::new(None);

impl Outfitter {
    /// Removes the oldest output of sessions that nobody is in, where all of it is too much.
    pub(super) async fn bound_left_output(&self) {
        if !is_due() {
            return;
        }
        let root = self.session_dirs();
        let looked = tokio::task::spawn_blocking(move || {
            let gone = keep_within(ALL_LEFT_SPOOL_BYTES, &folders(&root));
            if gone > 0 {
                tracing::info!("removed {gone} bytes that commands of earlier sessions printed");
            }
        });
        // A panic there is in the log.
        let _ = looked.await;
    }
}

fn is_due() -> bool {
    let mut last = LAST_LOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let due = last.is_none_or(|last| last.elapsed() >= BETWEEN_LOOKS);
    if due {
        *last = Some(Instant::now());
    }
    due
}
