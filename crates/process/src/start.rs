//! Starting a child: the nursery is asked for a supervisor, and the supervisor is given its order.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as BlockingStream;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

use crate::child::{Child, Spawned, Supervisor};
use crate::descriptors::{Wait, receive_with_fds, send_with_fds};
use crate::error::SpawnError;
use crate::input::Ends;
use crate::loss::Keeper;
use crate::nursery::{Age, AskError, Asked, Lost, Running, our_pidfd};
use crate::outlet::{self, Channel};
use crate::output::Output;
use crate::program::SupervisorProgram;
use crate::spec::{ChildSpec, Confinement, Level, Net, Network, Stdin};
use crate::validate::validate;
use crate::wire::{
    ANSWER_BYTES, Answer, Garbled, HELLO, HELLO_WITH_CHANNEL, MAX_FRAME, Order, Task,
};

/// How long a supervisor may take until the child runs; a machine under load needs some of it.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a child is tried whose nursery ended before it had a supervisor: that may have been
/// another child's fault, or that of whoever ends processes here.
const ATTEMPTS: u32 = 3;

/// How long a nursery may take to fork, before another is asked: so much that one which has to come
/// back from swap first does, and that there is time left for the other.
const SILENCE: Duration = Duration::from_secs(20);

/// How often it is looked whether it was stopped, while it says nothing. Then it does not take longer.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Between two requests to a nursery that has many of them.
const BUSY: Duration = Duration::from_millis(1);

/// What is said with the command that found it so.
const STARTED_ANEW: &str =
    "the process that starts commands was gone, killed from outside, and was started anew";

/// The same where it was only given up.
const REPLACED: &str =
    "the process that starts commands did not answer, and another was started in its place";

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
    let plan = Plan {
        stdin: spec.stdin.clone(),
        net: spec.confinement.net(),
        is_held: match &spec.confinement {
            Confinement::Confined(confined) => confined.level == Level::Full,
            // What it wraps has namespaces that end with it.
            Confinement::Wrapper | Confinement::WrapperWithOutlet => true,
            Confinement::Unconfined => false,
        },
        wants_outlet: match &spec.confinement {
            Confinement::Confined(confined) => confined.network == Network::Outlet,
            Confinement::WrapperWithOutlet => true,
            Confinement::Unconfined | Confinement::Wrapper => false,
        },
        order: Order { task, spec }.encode(),
    };
    if plan.order.len() > MAX_FRAME {
        return Err(SpawnError::Invalid(
            "arguments and environment are too large",
        ));
    }
    let deadline = Instant::now() + START_TIMEOUT;
    let mut error = SpawnError::NotASupervisor;
    for _ in 0..ATTEMPTS {
        match attempt(program, &plan, deadline).await {
            Ok(spawned) => return Ok(spawned),
            Err(Missed::Refused(error)) => return Err(error),
            // Nothing has run, so it may be tried again.
            Err(Missed::Unheard(Age::Old | Age::Replacement(_))) => {
                error = SpawnError::NotASupervisor;
            }
            Err(Missed::Silent) => error = unresponsive(),
            // The first one that is gone at once is not the program it should be.
            Err(Missed::Unheard(Age::First)) => return Err(SpawnError::NotASupervisor),
        }
    }
    Err(error)
}

fn unresponsive() -> SpawnError {
    SpawnError::Unresponsive {
        seconds: START_TIMEOUT.as_secs(),
    }
}

/// Why there is no child.
enum Missed {
    Refused(SpawnError),
    /// The nursery, of this age, ended before there was a supervisor.
    Unheard(Age),
    /// The nursery did not answer, and was given up.
    Silent,
}

impl From<SpawnError> for Missed {
    fn from(error: SpawnError) -> Self {
        Self::Refused(error)
    }
}

/// What a child is to get, however often it is tried.
struct Plan {
    stdin: Stdin,
    net: Net,
    /// Whether the kernel ends all of it when its supervisor ends, however that does.
    is_held: bool,
    wants_outlet: bool,
    order: Vec<u8>,
}

async fn attempt(
    program: &SupervisorProgram,
    plan: &Plan,
    deadline: Instant,
) -> Result<Spawned, Missed> {
    let Ends {
        ours: input,
        theirs: stdin,
    } = Ends::of(&plan.stdin).map_err(io_error("make the command's input"))?;
    let (output, writers) = Output::new().map_err(io_error("make the command's pipes"))?;
    let channel = plan
        .wants_outlet
        .then(Channel::new)
        .transpose()
        .map_err(io_error("make the way to the network"))?;
    let (ours, theirs) = control_pair(stdin.as_ref(), channel.as_ref())
        .map_err(io_error("make the supervisor's socket"))?;
    // The message holds it until the supervisor takes it; another copy would keep a pipe open.
    drop(stdin);
    let control = UnixStream::from_std(ours).map_err(io_error("watch the supervisor's socket"))?;
    let fds = [&theirs, &writers.stdout, &writers.stderr].map(AsFd::as_fd);
    let asked = ask(program, plan.net, &fds, deadline).await?;
    // From here on they are the supervisor's, whose end is heard only then.
    drop((theirs, writers));

    let supervisor = hear(program, &asked, &control, deadline).await?;
    let keeper = Keeper {
        nursery: asked.of.clone(),
        is_held: plan.is_held,
    };
    let mut child = Child::new(control, supervisor, keeper);
    match asked.age {
        Age::Old | Age::First => {}
        Age::Replacement(Lost::Gone) => child.note(STARTED_ANEW),
        Age::Replacement(Lost::Unresponsive) => child.note(REPLACED),
    }
    if let Err(error) = child.give(&plan.order, deadline).await {
        child.abandon();
        return Err(error.into());
    }
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

/// Until the nursery has taken what it was asked before.
async fn ask(
    program: &SupervisorProgram,
    net: Net,
    fds: &[BorrowedFd<'_>; 3],
    deadline: Instant,
) -> Result<Asked, Missed> {
    let mut patience = Patience::begin(deadline);
    loop {
        match program.nursery().ask(program.path(), net, fds) {
            Ok(asked) => return Ok(asked),
            Err(AskError::Busy(running)) => {
                tokio::time::sleep(BUSY).await;
                patience.with(program, &running)?;
            }
            Err(AskError::Start(error)) => {
                return Err(io_error("start the supervisor")(error).into());
            }
        }
    }
}

/// The supervisor that this nursery was asked for.
async fn hear(
    program: &SupervisorProgram,
    asked: &Asked,
    control: &UnixStream,
    deadline: Instant,
) -> Result<Supervisor, Missed> {
    let mut patience = Patience::begin(deadline);
    loop {
        match timeout_at(patience.next, first_word(control)).await {
            Ok(Ok(Some(supervisor))) => return Ok(supervisor),
            Ok(Ok(None)) => return Err(Missed::Unheard(asked.age)),
            Ok(Err(error)) => return Err(io_error("start the supervisor")(error).into()),
            Err(_elapsed) => patience.with(program, &asked.of)?,
        }
    }
}

/// With a nursery that says nothing: it may have much to do. One that is stopped has not.
struct Patience {
    until: Instant,
    /// When to look whether it is stopped.
    next: Instant,
}

impl Patience {
    fn begin(deadline: Instant) -> Self {
        let now = Instant::now();
        Self {
            until: deadline.min(now + SILENCE),
            next: now + BETWEEN_LOOKS,
        }
    }

    /// Gives the nursery up where there is none left, and goes with whoever did.
    fn with(&mut self, program: &SupervisorProgram, running: &Arc<Running>) -> Result<(), Missed> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + BETWEEN_LOOKS;
        if running.is_given_up() {
            return Err(Missed::Silent);
        }
        if now >= self.until || running.is_stopped() {
            program.nursery().give_up(running);
            return Err(Missed::Silent);
        }
        Ok(())
    }
}

/// The supervisor's first word; none where the socket ends without.
async fn first_word(control: &UnixStream) -> io::Result<Option<Supervisor>> {
    let mut bytes = [0; ANSWER_BYTES];
    let heard = control.async_io(Interest::READABLE, || {
        receive_with_fds(control, &mut bytes, Wait::No)
    });
    let (count, fds) = match heard.await {
        Ok(heard) => heard,
        // It went with what we have sent.
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
        Err(error) => return Err(error),
    };
    if count == 0 {
        return Ok(None);
    }
    match Answer::decode(&bytes[..count]) {
        // Without it we have too many descriptors to take another.
        Ok(Answer::Here(pid)) => match fds.into_iter().next() {
            Some(pidfd) => Ok(Some(Supervisor { pid, pidfd })),
            None => Err(io::Error::from_raw_os_error(libc::EMFILE)),
        },
        Ok(Answer::NotForked(errno)) => Err(io::Error::from_raw_os_error(errno)),
        Err(Garbled) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Our end and the supervisor's, with our own pidfd already under way to it: a number could be
/// another process by the time it is looked up. With it goes what the child reads.
fn control_pair(
    stdin: Option<&OwnedFd>,
    channel: Option<&Channel>,
) -> io::Result<(BlockingStream, OwnedFd)> {
    let (ours, theirs) = BlockingStream::pair()?;
    let myself = our_pidfd()?;
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
    send_with_fds(&ours, &[hello], &fds)?;
    ours.set_nonblocking(true)?;
    Ok((ours, OwnedFd::from(theirs)))
}

fn io_error(what: &'static str) -> impl Fn(io::Error) -> SpawnError {
    move |source| SpawnError::Io { what, source }
}
