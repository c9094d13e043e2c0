//! Word that bubblewrap has set everything up, and what it said where it has not.
//!
//! Bubblewrap ends with 1 and a line of its own where it fails, and a command may end so too. So
//! the last that happens inside before the command takes its place is a byte, through a pipe that
//! has a name as long as that takes: nothing else tells the one end from the other.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outfitter_core::SandboxError;
use outfitter_process::{SpawnError, Spawned};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

/// What is written once the pipe is open, and once the command is next.
const OPENED: u8 = b'o';
const READY: u8 = b'r';

/// Says that the command is next, and closes the pipe, inside.
pub(crate) const SAY_READY: &str = "printf r >&8\nexec 8>&-";

/// How such a pipe is called, in the session's directory.
const NAME: &str = "ready-";

/// How long setting up may take.
const SETUP_TIMEOUT: Duration = Duration::from_secs(60);

/// What is said of a failure is cut here.
const MAX_COMPLAINT: usize = 400;

/// The end of the pipe that is ours.
pub(crate) struct Ready {
    path: PathBuf,
    receiver: Receiver,
    /// Held until the other end is open: a pipe that nobody writes to is at its end.
    keeper: Option<Sender>,
}

/// What came of setting up.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    Ready,
    Failed,
}

impl Ready {
    /// A pipe in this directory.
    pub(crate) fn in_directory(dir: &Path, number: u64) -> io::Result<Self> {
        let path = dir.join(format!("{NAME}{number}"));
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let opened = OpenOptions::new()
            .open_receiver(&path)
            .and_then(|receiver| {
                let keeper = OpenOptions::new().open_sender(&path)?;
                Ok((receiver, keeper))
            });
        match opened {
            Ok((receiver, keeper)) => Ok(Self {
                path,
                receiver,
                keeper: Some(keeper),
            }),
            Err(error) => {
                let _ = std::fs::remove_file(&path);
                Err(error)
            }
        }
    }

    /// Removes what a program that was killed left of them.
    pub(crate) fn sweep(dir: &Path) {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let left = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(NAME));
        for entry in left {
            // One that stays is empty, and never opened again.
            let _ = std::fs::remove_file(entry.path());
        }
    }

    /// Its name, for who opens the other end.
    pub(crate) fn path(&self) -> OsString {
        self.path.clone().into()
    }

    /// Waits until the command runs.
    ///
    /// # Errors
    /// [`SandboxError::Unavailable`] where it never will, with what was said instead. Nothing of it
    /// is left then.
    pub(crate) async fn wait(mut self, spawned: &mut Spawned) -> Result<(), SandboxError> {
        match tokio::time::timeout(SETUP_TIMEOUT, self.came(spawned)).await {
            Ok(Came::Ready) => Ok(()),
            Ok(Came::Failed) => Err(not_run(&complaint(spawned).await)),
            Err(_) => {
                let seconds = SETUP_TIMEOUT.as_secs();
                Err(not_run(&format!(
                    "it was not ready after {seconds} seconds"
                )))
            }
        }
    }

    async fn came(&mut self, spawned: &mut Spawned) -> Came {
        let mut has_ended = false;
        loop {
            tokio::select! {
                // What was said before an end counts first.
                biased;
                _ = self.receiver.readable() => {}
                _ = spawned.child.wait(), if !has_ended => {
                    // Then the end of the pipe comes behind what was said, also where nobody ever
                    // opened it.
                    has_ended = true;
                    self.keeper = None;
                    continue;
                }
            }
            let mut said = [0];
            match self.receiver.try_read(&mut said) {
                Ok(1..) if said[0] == OPENED => self.keeper = None,
                Ok(1..) if said[0] == READY => return Came::Ready,
                Ok(_) => return Came::Failed,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Came::Failed,
            }
        }
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        // One that stays behind is removed with the session.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The beginning of what a program prints until it ends.
pub(crate) async fn complaint(spawned: &mut Spawned) -> String {
    let mut said = Vec::new();
    while let Ok(Some((_, bytes))) = spawned.output.next().await {
        let room = MAX_COMPLAINT.saturating_sub(said.len());
        said.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
    String::from_utf8_lossy(&said).trim().to_owned()
}

fn not_run(said: &str) -> SandboxError {
    let said = match said {
        "" => "it said nothing",
        said => said,
    };
    SandboxError::Unavailable {
        reason: format!("bwrap could not set the command up, and nothing was run: {said}"),
        hint: None,
    }
}

/// The failure to make one.
pub(crate) fn no_pipe(source: io::Error) -> SpawnError {
    SpawnError::Io {
        what: "make a pipe for word of bwrap",
        source,
    }
}
