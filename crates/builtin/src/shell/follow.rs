//! Following a job: what it prints is shown as it comes, until it ends or the waiting does.

use std::time::{Duration, Instant};

use outfitter_core::{JobId, Offset, OutputChunk, SandboxError, ToolContext};

use super::RANGE_BYTES;
use super::collect::Collector;
use super::delivered::{Key, ShellProgress, Way};
use super::tail::LOOK_BYTES;
use super::watch::Watch;

/// How often a backend without ranges is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// After an answer that came early and empty, so that an odd backend is not asked without pause.
const PAUSE: Duration = Duration::from_millis(5);

/// How many ranges a call takes that does not wait: more than a job's output is kept of, and an end
/// where one prints faster than it is read.
const MOST_RANGES_AT_ONCE: u32 = 1024;

/// How the following ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Followed {
    /// The job has ended and all its output has been shown.
    Ended,
    /// The waiting is over, also because what was waited for has been printed; the job goes on.
    StillRunning,
    /// The call is to stop.
    Stopped,
}

/// Who reads what a job prints.
pub(super) struct Readers<'p> {
    /// Takes what it has not got yet on the way.
    pub(super) collector: Collector,
    /// Ends the waiting when it has found what it looks for.
    pub(super) watch: Option<Watch<'p>>,
}

impl Readers<'_> {
    fn found(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::has_matched)
    }

    fn take(&mut self, from: Offset, chunk: &OutputChunk) {
        self.collector.take(from, chunk);
        if let Some(watch) = &mut self.watch {
            watch.take(from, chunk);
            if chunk.ended {
                watch.end();
            }
        }
    }

    fn look(&mut self, look: &OutputChunk) {
        if look.ended {
            self.collector.take_tail(look);
        }
        if let Some(watch) = &mut self.watch {
            watch.take_tail(look);
            if look.ended {
                watch.end();
            }
        }
    }
}

/// A job that a call waits for.
pub(super) struct Follow<'a> {
    pub(super) cx: &'a ToolContext,
    pub(super) job: &'a JobId,
    pub(super) progress: &'a ShellProgress,
    pub(super) until: Instant,
}

impl Follow<'_> {
    /// Shows what the job prints from the first byte on that has not been shown.
    pub(super) async fn run(&self, readers: &mut Readers<'_>) -> Result<Followed, SandboxError> {
        match self.by_ranges(readers).await {
            Err(SandboxError::Unsupported { .. }) => self.by_tail(readers).await,
            followed => followed,
        }
    }

    async fn by_ranges(&self, readers: &mut Readers<'_>) -> Result<Followed, SandboxError> {
        let key = Key::of(self.cx, self.job);
        let mut from = self.progress.next(&key);
        if let Some(watch) = &mut readers.watch {
            watch.catch_up(self.cx, self.job, from).await?;
        }
        let mut at_once = 0;
        loop {
            let wait = if readers.found() {
                Duration::ZERO
            } else {
                self.until.saturating_duration_since(Instant::now())
            };
            let chunk = tokio::select! {
                biased;
                () = self.cx.cancel.cancelled() => return Ok(Followed::Stopped),
                chunk = self.cx.sandbox.output(self.job, from, RANGE_BYTES, wait) => chunk?,
            };
            self.progress.show(self.cx, &key, from, &chunk);
            readers.take(from, &chunk);
            if chunk.ended {
                return self.ended(&key, Way::Ranges).await;
            }
            if wait.is_zero() {
                at_once += 1;
                if chunk.next == from || at_once >= MOST_RANGES_AT_ONCE {
                    return Ok(Followed::StillRunning);
                }
            } else if chunk.next == from {
                tokio::time::sleep(PAUSE.min(wait)).await;
            }
            from = chunk.next;
        }
    }

    /// Says what could not be shown, before the progress of the call is closed.
    async fn ended(&self, key: &Key, way: Way) -> Result<Followed, SandboxError> {
        let exit = self.cx.sandbox.wait(self.job).await?;
        self.progress.end(self.cx, key, way, &exit);
        Ok(Followed::Ended)
    }

    async fn by_tail(&self, readers: &mut Readers<'_>) -> Result<Followed, SandboxError> {
        let key = Key::of(self.cx, self.job);
        loop {
            let wait = self.until.saturating_duration_since(Instant::now());
            let look = self.cx.sandbox.tail(self.job, LOOK_BYTES).await?;
            self.progress.show_tail(self.cx, &key, &look);
            readers.look(&look);
            if look.ended {
                return self.ended(&key, Way::Tail).await;
            }
            if wait.is_zero() || readers.found() {
                return Ok(Followed::StillRunning);
            }
            tokio::select! {
                biased;
                () = self.cx.cancel.cancelled() => return Ok(Followed::Stopped),
                // The end of the job wakes us, so that a short command is told at once.
                exit = self.cx.sandbox.wait(self.job) => { exit?; }
                () = tokio::time::sleep(LOOK_INTERVAL.min(wait)) => {}
            }
        }
    }
}
