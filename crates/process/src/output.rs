//! What a child prints, in the order in which it arrives.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use bytes::Bytes;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::error::ChildError;

/// The most that is taken from a pipe at once: what a pipe holds.
const PIECE_BYTES: usize = 64 * 1024;

/// Which of a child's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The reading ends of a child's output.
///
/// Nothing is read ahead: what is not taken stays in the pipe, and a child that prints into a full
/// pipe waits. So nothing is lost and nothing grows. Both pipes hang on one epoll instance, whose
/// ready list is the order in which they became readable.
#[derive(Debug)]
pub struct Output {
    ready: AsyncFd<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    queue: VecDeque<Stream>,
    buffer: Vec<u8>,
}

/// The ends that go to the supervisor.
pub(crate) struct Writers {
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

enum Taken {
    Piece(Stream, Bytes),
    Nothing,
    Ended,
}

impl Output {
    pub(crate) fn new() -> io::Result<(Self, Writers)> {
        let (stdout, stdout_writer) = reading_pipe()?;
        let (stderr, stderr_writer) = reading_pipe()?;
        let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (fd, stream) in [(&stdout, Stream::Stdout), (&stderr, Stream::Stderr)] {
            epoll::add(&ready, fd, data_of(stream), epoll::EventFlags::IN)?;
        }
        // SAFETY: the descriptor is owned by what is registered, always the same, and closed only
        // after it was taken out of the runtime.
        let ready = unsafe { AsyncFd::register_with_interest(ready, Interest::READABLE) }
            .map_err(io::Error::from)?;
        let output = Self {
            ready,
            stdout: Some(stdout),
            stderr: Some(stderr),
            queue: VecDeque::with_capacity(2),
            buffer: Vec::new(),
        };
        let writers = Writers {
            stdout: stdout_writer,
            stderr: stderr_writer,
        };
        Ok((output, writers))
    }

    /// The next piece, at most 64 KiB; `None` when both streams have ended. Safe to cancel.
    ///
    /// # Errors
    /// [`ChildError::Io`] if a pipe cannot be read.
    pub async fn next(&mut self) -> Result<Option<(Stream, Bytes)>, ChildError> {
        loop {
            match self.take().map_err(read_error)? {
                Taken::Piece(stream, bytes) => return Ok(Some((stream, bytes))),
                Taken::Ended => return Ok(None),
                Taken::Nothing => {
                    let mut guard = self.ready.readable().await.map_err(read_error)?;
                    refill(&mut self.queue, guard.get_inner()).map_err(read_error)?;
                    if self.queue.is_empty() {
                        guard.clear_ready();
                    }
                }
            }
        }
    }

    /// A piece that is already there. After the child's exit was reported the writers are dead, so
    /// what this yields until `None` is all that will ever come.
    ///
    /// # Errors
    /// [`ChildError::Io`] if a pipe cannot be read.
    pub fn try_next(&mut self) -> Result<Option<(Stream, Bytes)>, ChildError> {
        loop {
            match self.take().map_err(read_error)? {
                Taken::Piece(stream, bytes) => return Ok(Some((stream, bytes))),
                Taken::Ended => return Ok(None),
                Taken::Nothing => {
                    refill(&mut self.queue, self.ready.get_ref()).map_err(read_error)?;
                    if self.queue.is_empty() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn take(&mut self) -> io::Result<Taken> {
        while let Some(stream) = self.queue.pop_front() {
            let slot = match stream {
                Stream::Stdout => &mut self.stdout,
                Stream::Stderr => &mut self.stderr,
            };
            let Some(fd) = slot else { continue };
            self.buffer.clear();
            self.buffer.reserve(PIECE_BYTES);
            match rustix::io::read(&*fd, spare_capacity(&mut self.buffer)) {
                Ok(0) => {
                    epoll::delete(self.ready.get_ref(), &*fd)?;
                    *slot = None;
                }
                Ok(_) => return Ok(Taken::Piece(stream, Bytes::copy_from_slice(&self.buffer))),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if self.stdout.is_none() && self.stderr.is_none() {
            Ok(Taken::Ended)
        } else {
            Ok(Taken::Nothing)
        }
    }
}

fn refill(queue: &mut VecDeque<Stream>, ready: &OwnedFd) -> io::Result<()> {
    const NOW: rustix::event::Timespec = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut events = Vec::with_capacity(2);
    match epoll::wait(ready, spare_capacity(&mut events), Some(&NOW)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    queue.extend(events.iter().map(|event: &epoll::Event| {
        let data = event.data;
        if data.u64() == 0 {
            Stream::Stdout
        } else {
            Stream::Stderr
        }
    }));
    Ok(())
}

fn data_of(stream: Stream) -> epoll::EventData {
    epoll::EventData::new_u64(match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    })
}

/// Only our end never blocks: the child's end is what programs expect of a standard output.
fn reading_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    Ok((reader, writer))
}

fn read_error(source: io::Error) -> ChildError {
    ChildError::Io {
        what: "read the command's output",
        source,
    }
}
