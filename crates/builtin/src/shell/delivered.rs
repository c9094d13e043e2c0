//! Which output of a job its session has been shown already.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use outfitter_core::{Exit, JobId, Offset, OutputChunk, Scope, SessionId, Stream, ToolContext};

use super::tail::Tails;

/// How many jobs are remembered; the one unused for longest is forgotten, and would be shown from
/// its start again.
const MAX_JOBS: usize = 256;

/// Which job of which session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    scope: Scope,
    session: SessionId,
    job: JobId,
}

impl Key {
    pub(super) fn of(cx: &ToolContext, job: &JobId) -> Self {
        Self {
            scope: Scope::from(&*cx.who),
            session: cx.session.clone(),
            job: job.clone(),
        }
    }
}

/// How far the progress of each job has been shown, so that a later wait goes on exactly there.
/// Shared by the tools that show it.
#[derive(Debug, Default)]
pub struct ShellProgress(Mutex<VecDeque<(Key, Shown)>>);

/// What has been shown of one job.
#[derive(Debug, Clone, Default)]
struct Shown {
    next: Offset,
    /// For a backend without ranges: the end of the output when it was last looked at.
    tails: Tails,
    /// Whether what is missing was said.
    ended: bool,
}

/// How the output of a job is had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Any part of it.
    Ranges,
    /// Only its end.
    Tail,
}

impl ShellProgress {
    /// The first byte that has not been shown.
    pub(super) fn next(&self, key: &Key) -> Offset {
        self.with(key, |shown| shown.next)
    }

    /// Shows a chunk that was read from `from` on, unless another wait has shown it meanwhile.
    pub(super) fn show(&self, cx: &ToolContext, key: &Key, from: Offset, chunk: &OutputChunk) {
        self.with(key, |shown| {
            if shown.next == from {
                for (stream, bytes) in &chunk.pieces {
                    cx.progress.emit(*stream, bytes);
                }
                shown.next = chunk.next;
            }
        });
    }

    /// Shows what a look at the end of the output has that the one before had not.
    pub(super) fn show_tail(&self, cx: &ToolContext, key: &Key, chunk: &OutputChunk) {
        self.with(key, |shown| {
            let fresh = shown.tails.take(chunk);
            if let Some((stream, bytes)) = fresh.missed {
                cx.progress.lost(stream, bytes);
            }
            for (stream, new) in fresh.pieces {
                cx.progress.emit(stream, &new);
            }
        });
    }

    /// Says what of a job that has ended could not be shown, once.
    pub(super) fn end(&self, cx: &ToolContext, key: &Key, how: Way, exit: &Exit) {
        self.with(key, |shown| {
            if std::mem::replace(&mut shown.ended, true) {
                return;
            }
            match how {
                // The sandbox itself has not kept the rest.
                Way::Ranges => cx.progress.lost(Stream::Stdout, exit.dropped_bytes),
                Way::Tail => {
                    for (stream, bytes) in shown.tails.missed(exit) {
                        cx.progress.lost(stream, bytes);
                    }
                }
            }
        });
    }

    fn with<T>(&self, key: &Key, act: impl FnOnce(&mut Shown) -> T) -> T {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, mut shown) = match jobs.iter().position(|(known, _)| known == key) {
            Some(at) => jobs
                .remove(at)
                .unwrap_or_else(|| (key.clone(), Shown::default())),
            None => (key.clone(), Shown::default()),
        };
        let result = act(&mut shown);
        if jobs.len() >= MAX_JOBS {
            jobs.pop_front();
        }
        jobs.push_back((key, shown));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use outfitter_core::{Progress, ProgressSink};
    use std::sync::Arc;

    #[derive(Default)]
    struct Screen(Mutex<Vec<u8>>);

    impl ProgressSink for Screen {
        fn emit(&self, _: Stream, bytes: &[u8]) {
            self.0.lock().unwrap().extend_from_slice(bytes);
        }
    }

    fn chunk(text: &'static str, next: u64) -> OutputChunk {
        OutputChunk {
            pieces: vec![(Stream::Stdout, Bytes::from_static(text.as_bytes()))],
            next: Offset(next),
            ended: false,
        }
    }

    #[test]
    fn two_waits_on_one_job_show_each_byte_once() {
        let screen = Arc::new(Screen::default());
        let mut cx = ToolContext::detached();
        cx.progress = Progress::into(screen.clone());
        let progress = ShellProgress::default();
        let key = Key::of(&cx, &JobId::new("job_1").unwrap());
        progress.show(&cx, &key, Offset(0), &chunk("abc", 3));
        progress.show(&cx, &key, Offset(0), &chunk("abc", 3));
        progress.show(&cx, &key, Offset(3), &chunk("def", 6));
        assert_eq!(progress.next(&key), Offset(6));
        assert_eq!(*screen.0.lock().unwrap(), b"abcdef");
    }

    #[test]
    fn sessions_do_not_share_what_was_shown_and_the_memory_is_bounded() {
        let (here, there) = (ToolContext::detached(), ToolContext::detached());
        let job = JobId::new("job_1").unwrap();
        let progress = ShellProgress::default();
        progress.show(&here, &Key::of(&here, &job), Offset(0), &chunk("abc", 3));
        assert_eq!(progress.next(&Key::of(&there, &job)), Offset(0));
        for number in 0..2 * MAX_JOBS {
            let job = JobId::new(format!("job_{number}")).unwrap();
            progress.show(&here, &Key::of(&here, &job), Offset(0), &chunk("abc", 3));
        }
        assert_eq!(progress.0.lock().unwrap().len(), MAX_JOBS);
    }
}
