//! The supervisors as the nursery has them: reaped, woken where one was stopped, and neither their trees nor their control groups
//! left where one is killed or stopped.
//!
//! The nursery is the next reaper above them. So what a supervisor leaves that was killed comes to the
//! nursery, also what had left its session and its parents, and is ended there.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

use super::{cgroup, tree};
use crate::descriptors::send_with_fds;
use crate::wire::Looked;

/// How long what was left may take to go before it is told as there still.
const HUNT: Duration = Duration::from_secs(5);

/// Between two rounds of killing.
const ROUND: Duration = Duration::from_millis(5);

/// How long supervisors may take to end their trees once nobody is there that they report to. They
/// need five seconds at most; what takes longer was kept from it.
const ALONE: Duration = Duration::from_secs(10);

/// Between two times that they are told to go on.
const BETWEEN_CALLS: Duration = Duration::from_millis(500);

/// Has the kernel wake this process where it is stopped when its parent ends: what is stopped sees
/// nothing of that by itself. It is sent when the thread ends that has started it, too, which does no
/// harm.
pub(super) fn go_on_without_a_parent() -> rustix::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::CONT))
}

/// The supervisors that were forked here, and what is left of others.
#[derive(Default)]
pub(super) struct Wards {
    supervisors: Vec<Pid>,
    hunt: Option<Hunt>,
    alone: Option<Alone>,
}

/// The search for what supervisors that were killed have left.
struct Hunt {
    until: Instant,
    groups: Vec<PathBuf>,
    /// Who waits for what comes of it.
    asking: Vec<OwnedFd>,
}

/// Nobody is there that they report to.
struct Alone {
    until: Instant,
    call: Instant,
}

impl Wards {
    pub(super) fn add(&mut self, supervisor: Pid) {
        self.supervisors.push(supervisor);
    }

    /// Looks for what is left, and says there what could not be ended.
    pub(super) fn look(&mut self, answer: OwnedFd) {
        self.hunt().asking.push(answer);
    }

    /// Whoever started us is dead: all of it is to end, also what is stopped.
    pub(super) fn are_alone(&mut self) {
        let now = Instant::now();
        self.alone = Some(Alone {
            until: now + ALONE,
            call: now,
        });
    }

    /// Collects whoever has ended, and wakes supervisors that somebody has stopped: who is stopped does
    /// not see the end of its child.
    pub(super) fn reap(&mut self) {
        loop {
            match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) if status.stopped() => {
                    // What is left of others stays stopped: it is being ended.
                    if self.supervisors.contains(&pid) {
                        // Not reaped yet, so that it is still the one.
                        let _ = kill_process(pid, Signal::CONT);
                    }
                }
                Ok(Some((pid, status))) => {
                    let before = self.supervisors.len();
                    self.supervisors.retain(|known| *known != pid);
                    // One that ends by itself has ended its tree before.
                    if self.supervisors.len() < before && status.signaled() {
                        let groups = cgroup::left_by(pid);
                        self.hunt().groups.extend(groups);
                    }
                }
                Err(Errno::INTR) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Goes on with what is under way.
    pub(super) fn advance(&mut self) {
        let now = Instant::now();
        if let Some(alone) = self.alone.as_mut().filter(|alone| now >= alone.call) {
            let signal = match now >= alone.until {
                false => Signal::CONT,
                true => Signal::KILL,
            };
            alone.call = now + BETWEEN_CALLS;
            for supervisor in &self.supervisors {
                // Not reaped yet, so that it is still the one.
                let _ = kill_process(*supervisor, signal);
            }
        }
        let Some(hunt) = &mut self.hunt else {
            return;
        };
        let left = tree::left(&self.supervisors);
        cgroup::remove_empty(&mut hunt.groups);
        if left.is_empty() && hunt.groups.is_empty() || now >= hunt.until {
            let looked = Looked(left).encode();
            for answer in &hunt.asking {
                // Whoever does not hear it sees the end of the socket.
                let _ = send_with_fds(answer, &looked, &[]);
            }
            self.hunt = None;
        } else {
            tree::kill_descendants(&self.supervisors);
        }
    }

    /// When to go on, where there is something to go on with.
    pub(super) fn timeout(&self) -> Option<Timespec> {
        let now = Instant::now();
        let alone = self.alone.as_ref().map(|alone| alone.call);
        let wait = match &self.hunt {
            Some(_) => Some(ROUND),
            None => alone.map(|call| call.saturating_duration_since(now)),
        };
        wait.and_then(|wait| Timespec::try_from(wait).ok())
    }

    /// Whether there is nobody to wait for.
    pub(super) fn are_gone(&self) -> bool {
        self.supervisors.is_empty() && self.hunt.is_none()
    }

    fn hunt(&mut self) -> &mut Hunt {
        let until = Instant::now() + HUNT;
        let hunt = self.hunt.get_or_insert_with(|| Hunt {
            until,
            groups: Vec::new(),
            asking: Vec::new(),
        });
        // Each has its whole time.
        hunt.until = until;
        hunt
    }
}
