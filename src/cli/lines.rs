//! Lines that a person types.

use std::io::{self, BufRead as _};
use std::sync::{Mutex, PoisonError};

use tokio::task::JoinHandle;

/// What is waited for at stdin. A thread that reads cannot be called back: who stops waiting leaves
/// it to the next, who would otherwise lose the line that it brings.
static READING: Mutex<Option<Reading>> = Mutex::new(None);

type Reading = JoinHandle<io::Result<Option<String>>>;

/// The next line of the person; none at an empty one or the end.
pub(crate) async fn line() -> Option<String> {
    let line = read_line().await?;
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The next line of the person, also an empty one; none at the end. It may be dropped before it
/// ends, and loses no line by that.
pub(super) async fn read_line() -> Option<String> {
    Waiting(Some(begun())).line().await
}

fn begun() -> Reading {
    let left = slot().take();
    left.unwrap_or_else(|| {
        tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            let bytes = io::stdin().lock().read_line(&mut line)?;
            Ok((bytes > 0).then_some(line))
        })
    })
}

fn slot() -> std::sync::MutexGuard<'static, Option<Reading>> {
    READING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One who waits, and leaves what has not come to the next.
struct Waiting(Option<Reading>);

impl Waiting {
    async fn line(mut self) -> Option<String> {
        let read = self.0.as_mut()?.await;
        self.0 = None;
        read.ok()?.ok()?
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(reading) = self.0.take() {
            *slot() = Some(reading);
        }
    }
}
