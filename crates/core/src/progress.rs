//! What a running tool prints, for those who watch.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Where something was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The tool's own words.
    Info,
}

impl Stream {
    /// The word, as it stands in every output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Info => "info",
        }
    }
}

/// What takes the progress of one call. It never blocks: it merges, and counts what it drops.
pub trait ProgressSink: Send + Sync {
    /// Takes bytes as they were printed; characters may be split over calls.
    fn emit(&self, stream: Stream, bytes: &[u8]);

    /// Says that this many bytes were printed and are not to be had. A sink that shows nothing has
    /// nothing to say.
    fn lost(&self, _stream: Stream, _bytes: u64) {}

    /// Ends it: what is gathered is shown, then the closing event, and nothing after. A sink that
    /// gathers nothing has nothing to do.
    fn close(&self) {}
}

/// The progress of one call. What is emitted is shown to people, never stored, never read by a
/// model. Without a reader it does nothing.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn ProgressSink>>);

impl Progress {
    /// Progress into a sink.
    #[must_use]
    pub fn into(sink: Arc<dyn ProgressSink>) -> Self {
        Self(Some(sink))
    }

    /// Progress that nobody reads.
    #[must_use]
    pub fn nowhere() -> Self {
        Self(None)
    }

    /// Shows bytes. Never blocks; after the call has ended it does nothing.
    pub fn emit(&self, stream: Stream, bytes: &[u8]) {
        if let (Some(sink), false) = (&self.0, bytes.is_empty()) {
            sink.emit(stream, bytes);
        }
    }

    /// Says that bytes were printed and cannot be shown, so that who watches knows of the gap.
    pub fn lost(&self, stream: Stream, bytes: u64) {
        if let (Some(sink), true) = (&self.0, bytes > 0) {
            sink.lost(stream, bytes);
        }
    }

    /// Ends it before the call does. The pipeline ends it in any case.
    pub fn close(&self) {
        if let Some(sink) = &self.0 {
            sink.close();
        }
    }

    /// Shows a line of the tool's own.
    pub fn info(&self, line: &str) {
        self.emit(Stream::Info, line.as_bytes());
        self.emit(Stream::Info, b"\n");
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() {
            "Progress(to a sink)"
        } else {
            "Progress(nowhere)"
        })
    }
}
