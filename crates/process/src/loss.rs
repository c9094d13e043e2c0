//! The loss of a supervisor: what it leaves comes to the nursery, which ends it and says so.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as BlockingStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout_at};

use crate::error::Remainder;
use crate::nursery::{Looking, Running};
use crate::wire::Looked;

/// How long all of it may take: the nursery kills for five seconds.
const BOUND: Duration = Duration::from_secs(10);

/// Between two looks whether it is no more: it lets go of its socket a moment before.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// Between two questions to a nursery that has many of them.
const BUSY: Duration = Duration::from_millis(5);

/// Who has forked a supervisor, and what holds its child.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    pub(crate) nursery: Arc<Running>,
    /// Whether the kernel ends all of it when the supervisor ends.
    pub(crate) is_held: bool,
}

/// What is found out after a supervisor was lost. May be let go of half way and gone on with.
#[derive(Debug)]
pub(crate) struct Loss {
    keeper: Option<Keeper>,
    until: Instant,
    step: Step,
}

#[derive(Debug)]
enum Step {
    /// It is no more once this is readable, and what it leaves is the nursery's.
    Dying(OwnedFd),
    Asking,
    Hearing(UnixStream, Vec<u8>),
    Settled(Remainder),
}

impl Loss {
    /// Of this supervisor.
    pub(crate) fn of(supervisor: io::Result<OwnedFd>, keeper: Option<Keeper>) -> Self {
        Self {
            keeper,
            until: Instant::now() + BOUND,
            step: match supervisor {
                Ok(pidfd) => Step::Dying(pidfd),
                // Without a descriptor for it there is none for the question, either.
                Err(_) => Step::Asking,
            },
        }
    }

    /// What is left in the end.
    pub(crate) async fn settle(&mut self) -> Remainder {
        let until = self.until;
        loop {
            if let Step::Settled(remainder) = &self.step {
                return remainder.clone();
            }
            let next = timeout_at(until, self.next()).await;
            self.step = match next {
                Ok(Ok(step)) => step,
                Ok(Err(_)) | Err(_) => Step::Settled(self.unheard()),
            };
        }
    }

    async fn next(&mut self) -> io::Result<Step> {
        match &mut self.step {
            Step::Dying(pidfd) => {
                while !has_ended(pidfd) {
                    sleep(BETWEEN_LOOKS).await;
                }
                Ok(Step::Asking)
            }
            Step::Asking => {
                let (ours, theirs) = BlockingStream::pair()?;
                ours.set_nonblocking(true)?;
                loop {
                    let asking = self.keeper.as_ref();
                    let looking = asking.map(|keeper| keeper.nursery.look(theirs.as_fd()));
                    match looking.unwrap_or(Looking::Gone) {
                        Looking::Asked => break,
                        Looking::Busy => sleep(BUSY).await,
                        Looking::Gone => return Ok(Step::Settled(self.unheard())),
                    }
                }
                Ok(Step::Hearing(UnixStream::from_std(ours)?, Vec::new()))
            }
            Step::Hearing(answer, said) => {
                answer.read_to_end(said).await?;
                let looked = Looked::decode(said);
                Ok(Step::Settled(match looked {
                    Ok(Looked(left)) if left.is_empty() => Remainder::Nothing,
                    Ok(Looked(left)) => Remainder::Survivors(left),
                    Err(_) => self.unheard(),
                }))
            }
            Step::Settled(remainder) => Ok(Step::Settled(remainder.clone())),
        }
    }

    /// What is known without the nursery.
    fn unheard(&self) -> Remainder {
        if self.keeper.as_ref().is_some_and(|keeper| keeper.is_held) {
            Remainder::Nothing
        } else {
            Remainder::Unknown
        }
    }
}

/// Whether the process is no more, and its children have gone to who is next above it.
fn has_ended(pidfd: &OwnedFd) -> bool {
    const NOW: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    // What cannot be watched is not waited for.
    poll(&mut fds, Some(&NOW)).map_or(true, |ready| ready > 0)
}
