//! A child that runs, as its parent holds it: the async side.

use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Signal, pidfd_send_signal};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

use crate::error::{ChildError, SpawnError};
use crate::exit::Exit;
use crate::input::Input;
use crate::loss::{Keeper, Loss};
use crate::output::Output;
use crate::start::START_TIMEOUT;
use crate::wire::{Failure, Frames, Garbled, Report, encode_kill};

/// The longest a tree is asked politely before it is killed.
pub const MAX_GRACE: Duration = Duration::from_secs(2);

/// How long a supervisor may take to end a tree beyond the grace: it kills for five seconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running child: its handle, its input and its output.
#[derive(Debug)]
pub struct Spawned {
    /// Waits for it and ends it. Dropping it kills the whole tree.
    pub child: Child,
    /// What it prints.
    pub output: Output,
    /// What it reads, with [`Stdin::Pipe`](crate::Stdin::Pipe) only.
    pub input: Option<Input>,
    /// What it connects to in its own network, with [`Network::Outlet`] only. It does not block.
    pub outlet: Option<TcpListener>,
}

/// The handle of a running child. Dropping it kills the whole tree at once.
#[derive(Debug)]
pub struct Child {
    control: UnixStream,
    frames: Frames,
    exit: Option<Exit>,
    /// What is to be said with its end.
    notes: Vec<String>,
    supervisor: Supervisor,
    /// When the supervisor has had time enough for what it was asked.
    patience: Option<Instant>,
    /// As long as it may be needed: it keeps the nursery.
    keeper: Option<Keeper>,
    loss: Option<Loss>,
}

/// A supervisor as its parent holds it. The nursery reaps it.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) pid: u32,
    pub(crate) pidfd: OwnedFd,
}

impl Supervisor {
    fn kill(&self) {
        // It may have ended by itself, which is as good.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }

    /// Has it go on where somebody has stopped it: it would not hear us.
    fn wake(&self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::CONT);
    }
}

/// Why there is no report.
enum Unheard {
    /// The supervisor has ended, or speaks nonsense.
    Lost,
    Io(ChildError),
}

impl Child {
    pub(crate) fn new(control: UnixStream, supervisor: Supervisor, keeper: Keeper) -> Self {
        Self {
            control,
            frames: Frames::default(),
            exit: None,
            notes: Vec::new(),
            supervisor,
            patience: None,
            keeper: Some(keeper),
            loss: None,
        }
    }

    /// Ends one that is not to start any more.
    pub(crate) fn abandon(&self) {
        self.supervisor.kill();
    }

    /// Says it with the child's end.
    pub(crate) fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    /// Gives the order, and waits until the program runs, or may have run: what became of it is then
    /// for [`wait`](Self::wait) to say. An error means that it has not.
    pub(crate) async fn give(&mut self, order: &[u8], until: Instant) -> Result<(), SpawnError> {
        // Where it hung up meanwhile it may have said why; reading tells.
        let _ = timeout_at(until, self.control.write_all(order)).await;
        let mut may_run = false;
        loop {
            match timeout_at(until, self.report()).await {
                Ok(Ok(Report::Starting)) => may_run = true,
                Ok(Ok(Report::Started)) => return Ok(()),
                Ok(Ok(Report::Failed(failure))) => return Err(failed(failure)),
                Ok(Ok(Report::Exited(_)) | Err(_)) if may_run => return Ok(()),
                Ok(Ok(Report::Exited(_)) | Err(_)) => return Err(SpawnError::Killed),
                Err(_elapsed) => {
                    self.abandon();
                    return match may_run {
                        true => Ok(()),
                        false => Err(SpawnError::Unresponsive {
                            seconds: START_TIMEOUT.as_secs(),
                        }),
                    };
                }
            }
        }
    }

    /// Waits until the child and everything it started are gone. Safe to cancel and to repeat. A
    /// supervisor that was asked to end it and does not is ended itself, and what it leaves by the
    /// nursery.
    ///
    /// # Errors
    /// [`ChildError::SupervisorLost`] if the supervisor was killed, with what is left then.
    pub async fn wait(&mut self) -> Result<Exit, ChildError> {
        loop {
            if let Some(exit) = &self.exit {
                return Ok(exit.clone());
            }
            if let Some(loss) = &mut self.loss {
                let remainder = loss.settle().await;
                return Err(ChildError::SupervisorLost { remainder });
            }
            let report = match self.patience {
                None => self.report().await,
                Some(until) => match timeout_at(until, self.report()).await {
                    Ok(report) => report,
                    Err(_elapsed) => {
                        self.patience = None;
                        self.supervisor.kill();
                        continue;
                    }
                },
            };
            match report {
                Ok(Report::Exited(mut exit)) => {
                    exit.notes.append(&mut self.notes);
                    self.keeper = None;
                    self.exit = Some(exit);
                }
                Ok(Report::Starting | Report::Started) => {}
                Ok(Report::Failed(_)) | Err(Unheard::Lost) => {
                    // One that is there still and speaks nonsense is not one.
                    self.supervisor.kill();
                    let pidfd = self.supervisor.pidfd.try_clone();
                    self.loss = Some(Loss::of(pidfd, self.keeper.take()));
                }
                Err(Unheard::Io(error)) => return Err(error),
            }
        }
    }

    /// Asks the supervisor to end the tree: `SIGTERM` to all of it, `SIGKILL` to what is left after
    /// `grace` (at most [`MAX_GRACE`]). Does not wait; [`wait`](Self::wait) does. After the end it
    /// does nothing.
    ///
    /// # Errors
    /// [`ChildError::Io`] if the request cannot be sent.
    pub fn request_kill(&mut self, grace: Duration) -> Result<(), ChildError> {
        let grace = grace.min(MAX_GRACE);
        let millis = u32::try_from(grace.as_millis()).unwrap_or(0);
        self.supervisor.wake();
        self.patience
            .get_or_insert_with(|| Instant::now() + grace + PATIENCE);
        match self.control.try_write(&encode_kill(millis)) {
            Ok(_) => Ok(()),
            // Gone already: its last report is still there to be read.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(source) => Err(ChildError::Io {
                what: "ask the supervisor to end the command",
                source,
            }),
        }
    }

    /// [`request_kill`](Self::request_kill) and [`wait`](Self::wait): returns as soon as the tree is
    /// gone.
    ///
    /// # Errors
    /// As both.
    pub async fn kill(&mut self, grace: Duration) -> Result<Exit, ChildError> {
        self.request_kill(grace)?;
        self.wait().await
    }

    /// The supervisor's process id, for diagnostics.
    #[must_use]
    pub fn supervisor_id(&self) -> u32 {
        self.supervisor.pid
    }

    async fn report(&mut self) -> Result<Report, Unheard> {
        loop {
            match self.frames.next() {
                Ok(Some(payload)) => {
                    return Report::decode(&payload).map_err(|Garbled| Unheard::Lost);
                }
                Ok(None) => {}
                Err(Garbled) => return Err(Unheard::Lost),
            }
            self.control.readable().await.map_err(control_error)?;
            let mut buffer = [0_u8; 512];
            match self.control.try_read(&mut buffer) {
                Ok(0) => return Err(Unheard::Lost),
                Ok(count) => self.frames.push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The supervisor went without reading all that we sent.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return Err(Unheard::Lost);
                }
                Err(error) => return Err(control_error(error)),
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The end of the socket is word enough for one that runs.
        if self.exit.is_none() {
            self.supervisor.wake();
        }
    }
}

fn failed(failure: Failure) -> SpawnError {
    SpawnError::Setup {
        stage: failure.stage,
        detail: failure.detail,
        source: io::Error::from_raw_os_error(failure.errno),
    }
}

fn control_error(source: io::Error) -> Unheard {
    Unheard::Io(ChildError::Io {
        what: "read from the supervisor",
        source,
    })
}
