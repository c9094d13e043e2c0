//! Blocking work that ends soon after nobody waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use outfitter_core::FilesError;

/// Whether the caller has gone.
#[derive(Debug, Clone, Default)]
pub(super) struct Gone(Arc<AtomicBool>);

impl Gone {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error for work whose result nobody will see.
    pub(super) fn check(&self) -> Result<(), FilesError> {
        if self.is_set() {
            return Err(FilesError::Unavailable {
                why: "the call was cancelled".to_owned(),
            });
        }
        Ok(())
    }
}

struct SetWhenDropped(Gone);

impl Drop for SetWhenDropped {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs file work on a thread that may block. When the future is dropped the work is told, and
/// stops at its next step; a single write is always finished.
pub(super) async fn blocking<T, F>(work: F) -> Result<T, FilesError>
where
    T: Send + 'static,
    F: FnOnce(&Gone) -> Result<T, FilesError> + Send + 'static,
{
    let gone = Gone::default();
    let told = gone.clone();
    let _guard = SetWhenDropped(gone);
    match tokio::task::spawn_blocking(move || work(&told)).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            // The pipeline catches panics of tools; this is one.
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(FilesError::Unavailable {
                why: "the program is ending".to_owned(),
            }),
        },
    }
}
