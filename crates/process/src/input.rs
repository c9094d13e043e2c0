//! What a child reads as its standard input.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::AsyncWrite;
use tokio::net::unix::pipe::Sender;

use crate::spec::Stdin;

/// The writing end of a child's standard input. Dropping it, or shutting it down, is the end of the
/// child's input. A child that reads no more makes writes fail with `BrokenPipe`.
#[derive(Debug)]
pub struct Input(Option<Sender>);

/// Our end, where there is one, and the child's.
pub(crate) struct Ends {
    pub(crate) ours: Option<Input>,
    pub(crate) theirs: Option<OwnedFd>,
}

impl Ends {
    pub(crate) fn of(stdin: &Stdin) -> io::Result<Self> {
        match stdin {
            Stdin::Null => Ok(Self {
                ours: None,
                theirs: None,
            }),
            Stdin::Bytes(bytes) => Ok(Self {
                ours: None,
                theirs: Some(in_memory(bytes)?),
            }),
            Stdin::Pipe => {
                let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
                // Only our end never blocks: the child's is what programs expect of an input.
                rustix::io::ioctl_fionbio(&writer, true)?;
                Ok(Self {
                    ours: Some(Input(Some(Sender::from_owned_fd_unchecked(writer)?))),
                    theirs: Some(reader),
                })
            }
        }
    }
}

/// A file without a name, so that nobody has to feed a child that reads slowly or not at all.
fn in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("stdin", flags)?);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(file.as_fd(), seals)?;
    Ok(file.into())
}

impl AsyncWrite for Input {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Some(sender) => Pin::new(sender).poll_write(cx, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Some(sender) => Pin::new(sender).poll_flush(cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The runtime's own does nothing, and then the child would wait for ever.
        self.0 = None;
        Poll::Ready(Ok(()))
    }
}
