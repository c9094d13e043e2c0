//! The supervisor's process as its parent sees it, and the first message it gets.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::process::Stdio;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// A supervisor that was started. The runtime reaps it, also after this is dropped.
#[derive(Debug)]
pub(crate) struct SupervisorProcess(tokio::process::Child);

impl SupervisorProcess {
    /// Starts it with nothing but a word in its arguments and three descriptors: the control socket,
    /// and what will be the child's standard output and error.
    #[expect(
        clippy::disallowed_types,
        reason = "this is the one place where the house starts a process"
    )]
    pub(crate) fn start(
        program: &Path,
        word: &str,
        [control, stdout, stderr]: [Stdio; 3],
    ) -> io::Result<Self> {
        // The command keeps our copies of the descriptors open, so it must not live on.
        tokio::process::Command::new(program)
            .arg(word)
            .env_clear()
            .stdin(control)
            .stdout(stdout)
            .stderr(stderr)
            // Not in our terminal's foreground group: Ctrl-C reaches us, and we end the tree.
            .process_group(0)
            .spawn()
            .map(Self)
    }

    pub(crate) fn kill(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.0.start_kill();
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.0.id()
    }
}

/// The most descriptors that one byte carries.
pub(crate) const MAX_FDS: usize = 3;

/// Sends one byte that carries descriptors, at most [`MAX_FDS`].
pub(crate) fn send_with_fds(socket: impl AsFd, byte: u8, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    sendmsg(
        socket,
        &[IoSlice::new(&[byte])],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}
