//! Where a call's history goes: the seam between the pipeline and whoever owns the session.

use async_trait::async_trait;

use crate::{AppendError, CallId, EntryBody, Progress};

/// Why something was not recorded. The run cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("record what happened")]
pub struct JournalError(#[from] pub AppendError);

/// Records entries of one run and shows them, in this order.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Appends all entries in one transaction, then shows those that are events.
    ///
    /// # Errors
    /// [`JournalError`] when nothing was appended; nothing is shown then.
    async fn record(&self, entries: Vec<EntryBody>) -> Result<(), JournalError>;

    /// The progress of a call.
    fn progress(&self, call: &CallId) -> Progress;

    /// Ends the progress of a call: what is buffered is shown, then the closing event if anything
    /// was shown at all, and nothing after it.
    fn close_progress(&self, call: &CallId);
}
