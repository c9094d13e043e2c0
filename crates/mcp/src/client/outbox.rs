//! What we say to a server: whole lines, in order, without a task of its own.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use outfitter_process::Input;
use tokio::io::AsyncWrite as _;
use tokio::sync::Notify;

/// How much may wait for a server that does not read.
const MAX_WAITING_BYTES: usize = 32 * 1024 * 1024;

/// Lines on their way to a server.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Something waits.
    waiting: Notify,
}

struct State {
    input: Option<Input>,
    queue: VecDeque<Vec<u8>>,
    /// How much of the first line has been written.
    written: usize,
    bytes: usize,
}

/// Why a line was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotSent {
    /// Its input is closed.
    #[error("it does not listen any more")]
    Closed,
    /// Too much waits already.
    #[error("it does not read what it is sent")]
    Full,
}

impl Outbox {
    pub(crate) fn new(input: Input) -> Self {
        Self {
            state: Mutex::new(State {
                input: Some(input),
                queue: VecDeque::new(),
                written: 0,
                bytes: 0,
            }),
            waiting: Notify::new(),
        }
    }

    /// Sends a line, at once where the pipe has room for it: then no other task has to run before
    /// the server reads it. Otherwise it waits for [`Outbox::write`].
    pub(crate) fn send(&self, line: Vec<u8>) -> Result<(), NotSent> {
        let mut state = self.lock();
        if state.input.is_none() {
            return Err(NotSent::Closed);
        }
        if state.bytes + line.len() > MAX_WAITING_BYTES {
            return Err(NotSent::Full);
        }
        let idle = state.queue.is_empty();
        state.bytes += line.len();
        state.queue.push_back(line);
        if idle {
            match state.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(())) => return Ok(()),
                Poll::Ready(Err(_)) => {
                    drop(state);
                    self.waiting.notify_one();
                    return Err(NotSent::Closed);
                }
                Poll::Pending => {}
            }
        }
        drop(state);
        self.waiting.notify_one();
        Ok(())
    }

    /// Writes what waits, for ever. It ends when nobody reads any more.
    pub(crate) async fn write(&self) {
        loop {
            self.waiting.notified().await;
            if poll_fn(|cx| self.lock().poll(cx)).await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.lock().input.is_some()
    }

    /// The end of the server's input.
    pub(crate) fn close(&self) {
        self.lock().close();
        self.waiting.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.input.is_none() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        while let (Some(line), Some(input)) = (self.queue.front(), &mut self.input) {
            match Pin::new(input).poll_write(cx, &line[self.written..]) {
                Poll::Ready(Ok(count)) => {
                    self.written += count;
                    if self.written == line.len() {
                        self.bytes -= line.len();
                        self.written = 0;
                        self.queue.pop_front();
                    }
                }
                Poll::Ready(Err(error)) => {
                    self.close();
                    return Poll::Ready(Err(error));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }

    fn close(&mut self) {
        self.input = None;
        self.queue.clear();
        self.written = 0;
        self.bytes = 0;
    }
}
