//! Why there is no picture. The texts read on after "failed to show the page:".

use outfitter_core::chain;
use outfitter_process::{ChildError, SpawnError};

/// Why a page was not shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// No browser that we know is installed.
    #[error("there is no Chromium here")]
    Missing,
    /// This machine cannot hold it, and it is not run without that.
    #[error("nothing can hold a browser on this machine: {0}")]
    Unheld(String),
    /// It was not started.
    #[error("the browser was not started: {}", chain(.0))]
    Spawn(#[source] SpawnError),
    /// It was lost while it ran.
    #[error("the browser was lost: {}", chain(.0))]
    Child(#[source] ChildError),
    /// The folder that it works in.
    #[error("the folder of the browser: {0}")]
    Folder(#[source] std::io::Error),
    /// It ended by itself.
    #[error("the browser ended{}", .0)]
    Ended(String),
    /// It refused something, or said what nobody expects.
    #[error("the browser said: {0}")]
    Refused(String),
    /// It took too long.
    #[error("the page was not shown within {seconds} s")]
    Timeout {
        /// How long it had.
        seconds: u64,
    },
    /// The picture has too many bytes.
    #[error("the picture has more than {most} bytes")]
    TooLarge {
        /// How many it may have.
        most: usize,
    },
    /// The call was stopped.
    #[error("it was stopped")]
    Cancelled,
}
