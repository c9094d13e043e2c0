//! Starting a child and holding it: the async side.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream as BlockingStream;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

use crate::error::{ChildError, SpawnError};
use crate::exit::Exit;
use crate::input::{Ends, Input};
use crate::outlet::{self, Channel};
use crate::output::Output;
use crate::program::{SUPERVISE_WORD, SupervisorProgram};
use crate::reexec::{SupervisorProcess, send_with_fds};
use crate::spec::{ChildSpec, Confinement, Network};
use crate::wire::{
    Failure, Frames, Garbled, HELLO, HELLO_WITH_CHANNEL, MAX_FRAME, Order, Report, Task,
    encode_kill,
};

/// How long a supervisor may take until the child runs; a machine under load needs some of it.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest a tree is asked politely before it is killed.
pub const MAX_GRACE: Duration = Duration::from_secs(2);

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
    /// Held so that the runtime reaps the supervisor.
    supervisor: SupervisorProcess,
}

/// Starts a child under a supervisor and waits until its program runs.
///
/// # Errors
/// [`SpawnError`]; then nothing is left running. Nothing is ever run with less confinement than the
/// specification says.
pub async fn spawn(program: &SupervisorProgram, spec: ChildSpec) -> Result<Spawned, SpawnError> {
    start(program, spec, Task::Execute).await
}

pub(crate) async fn start(
    program: &SupervisorProgram,
    spec: ChildSpec,
    task: Task,
) -> Result<Spawned, SpawnError> {
    validate(&spec, task)?;
    let ends = Ends::of(&spec.stdin).map_err(io_error("make the command's input"))?;
    let wants_outlet = match &spec.confinement {
        Confinement::Confined(confined) => confined.network == Network::Outlet,
        Confinement::WrapperWithOutlet => true,
        Confinement::Unconfined | Confinement::Wrapper => false,
    };
    let order = Order { task, spec }.encode();
    if order.len() > MAX_FRAME {
        return Err(SpawnError::Invalid(
            "arguments and environment are too large",
        ));
    }
    let (output, writers) = Output::new().map_err(io_error("make the command's pipes"))?;
    let Ends {
        ours: input,
        theirs: stdin,
    } = ends;
    let channel = wants_outlet
        .then(Channel::new)
        .transpose()
        .map_err(io_error("make the way to the network"))?;
    let (ours, theirs) = control_pair(stdin.as_ref(), channel.as_ref())
        .map_err(io_error("make the supervisor's socket"))?;
    // The message holds it until the supervisor takes it; another copy would keep a pipe open.
    drop(stdin);
    let mut supervisor = SupervisorProcess::start(
        program.path(),
        SUPERVISE_WORD,
        [
            Stdio::from(theirs),
            Stdio::from(writers.stdout),
            Stdio::from(writers.stderr),
        ],
    )
    .map_err(io_error("start the supervisor"))?;

    let mut child = match UnixStream::from_std(ours) {
        Ok(control) => Child {
            control,
            frames: Frames::default(),
            exit: None,
            supervisor,
        },
        Err(source) => {
            supervisor.kill();
            return Err(io_error("watch the supervisor's socket")(source));
        }
    };
    match tokio::time::timeout(START_TIMEOUT, child.give(&order)).await {
        Ok(Ok(())) => {
            let outlet = channel.map(|channel| outlet::take(channel.ours));
            Ok(Spawned {
                child,
                output,
                input,
                outlet: outlet
                    .transpose()
                    .map_err(io_error("take the way to the network"))?,
            })
        }
        Ok(Err(error)) => {
            child.supervisor.kill();
            Err(error)
        }
        Err(_elapsed) => {
            child.supervisor.kill();
            Err(SpawnError::Unresponsive {
                seconds: START_TIMEOUT.as_secs(),
            })
        }
    }
}

impl Child {
    async fn give(&mut self, order: &[u8]) -> Result<(), SpawnError> {
        if self.control.write_all(order).await.is_err() {
            // It may have said why before it hung up; reading tells.
            return match self.report().await {
                Ok(Report::Failed(failure)) => Err(failed(failure)),
                Ok(_) | Err(_) => Err(SpawnError::NotASupervisor),
            };
        }
        match self.report().await {
            Ok(Report::Started) => Ok(()),
            Ok(Report::Failed(failure)) => Err(failed(failure)),
            Ok(Report::Exited(_)) | Err(_) => Err(SpawnError::NotASupervisor),
        }
    }

    /// Waits until the child and everything it started are gone. Safe to cancel and to repeat.
    ///
    /// # Errors
    /// [`ChildError::SupervisorLost`] if the supervisor was killed from outside.
    pub async fn wait(&mut self) -> Result<Exit, ChildError> {
        loop {
            if let Some(exit) = &self.exit {
                return Ok(exit.clone());
            }
            match self.report().await? {
                Report::Exited(exit) => self.exit = Some(exit),
                Report::Started => {}
                Report::Failed(_) => return Err(ChildError::SupervisorLost),
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
        let millis = u32::try_from(grace.min(MAX_GRACE).as_millis()).unwrap_or(0);
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
    pub fn supervisor_id(&self) -> Option<u32> {
        self.supervisor.id()
    }

    async fn report(&mut self) -> Result<Report, ChildError> {
        loop {
            match self.frames.next() {
                Ok(Some(payload)) => {
                    return Report::decode(&payload).map_err(|Garbled| ChildError::SupervisorLost);
                }
                Ok(None) => {}
                Err(Garbled) => return Err(ChildError::SupervisorLost),
            }
            self.control.readable().await.map_err(control_error)?;
            let mut buffer = [0_u8; 512];
            match self.control.try_read(&mut buffer) {
                Ok(0) => return Err(ChildError::SupervisorLost),
                Ok(count) => self.frames.push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The supervisor went without reading all that we sent.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return Err(ChildError::SupervisorLost);
                }
                Err(error) => return Err(control_error(error)),
            }
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

/// Our end and the supervisor's, with our own pidfd already under way to it: a number could be
/// another process by the time it is looked up. With it goes what the child reads.
fn control_pair(
    stdin: Option<&OwnedFd>,
    channel: Option<&Channel>,
) -> io::Result<(BlockingStream, OwnedFd)> {
    let (ours, theirs) = BlockingStream::pair()?;
    let myself = rustix::process::pidfd_open(
        rustix::process::getpid(),
        rustix::process::PidfdFlags::empty(),
    )?;
    let hello = match channel {
        Some(_) => HELLO_WITH_CHANNEL,
        None => HELLO,
    };
    let theirs_of = channel.map(|channel| &channel.theirs);
    let fds: Vec<_> = [Some(&myself), theirs_of, stdin]
        .into_iter()
        .flatten()
        .map(AsFd::as_fd)
        .collect();
    send_with_fds(&ours, hello, &fds)?;
    ours.set_nonblocking(true)?;
    Ok((ours, OwnedFd::from(theirs)))
}

fn validate(spec: &ChildSpec, task: Task) -> Result<(), SpawnError> {
    if task == Task::Execute && spec.argv.first().is_none_or(|program| program.is_empty()) {
        return Err(SpawnError::Invalid("there is no program to run"));
    }
    if !spec.cwd.is_absolute() {
        return Err(SpawnError::Invalid(
            "the working directory must be absolute",
        ));
    }
    let zero = |bytes: &[u8]| bytes.contains(&0);
    if spec.argv.iter().any(|arg| zero(arg.as_bytes())) {
        return Err(SpawnError::Invalid("an argument contains a zero byte"));
    }
    for (name, value) in &spec.env {
        let name = name.as_bytes();
        if name.is_empty() || name.contains(&b'=') || zero(name) || zero(value.as_bytes()) {
            return Err(SpawnError::Invalid(
                "an environment variable has an impossible name or value",
            ));
        }
    }
    if zero(spec.cwd.as_os_str().as_bytes()) {
        return Err(SpawnError::Invalid(
            "the working directory contains a zero byte",
        ));
    }
    if let Confinement::Confined(confined) = &spec.confinement {
        let roots = [
            &confined.write,
            &confined.read,
            &confined.hide,
            &confined.private,
            &confined.blank,
        ];
        for path in roots.into_iter().flatten() {
            if !path.is_absolute() || zero(path.as_os_str().as_bytes()) {
                return Err(SpawnError::Invalid(
                    "a sandbox root must be an absolute path",
                ));
            }
        }
    }
    Ok(())
}

fn io_error(what: &'static str) -> impl Fn(io::Error) -> SpawnError {
    move |source| SpawnError::Io { what, source }
}

fn control_error(source: io::Error) -> ChildError {
    ChildError::Io {
        what: "read from the supervisor",
        source,
    }
}
