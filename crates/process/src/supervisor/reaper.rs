//! Waiting for the child, for the rest of its tree, and for the parent's wishes.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

use super::control::{Control, Wish};
use super::evidence::Seen;
use super::limits::Held;
use super::nursery::drain;
use super::tree;
use crate::exit::{Ending, Exit};
use crate::wire::Report;

/// How long what the child left behind may go on printing after its end.
const DRAIN: Duration = Duration::from_millis(200);

/// How long killed processes may take to go before they are reported as survivors.
const KILL_BOUND: Duration = Duration::from_secs(5);

/// Between two rounds of killing, where processes may have been made meanwhile.
const ROUND: Duration = Duration::from_millis(5);

/// Which processes are the child's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of our process namespace but us: the kernel knows them.
    Namespace,
    /// Our descendants: orphans come to us, because we are their subreaper.
    Descendants,
}

/// Who is not asked to end when the tree is. Nobody is spared when it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spared {
    Nobody,
    /// It holds the others, and ends when they have.
    TheChild,
}

#[derive(Clone, Copy)]
enum Phase {
    Running,
    /// The child has ended; the rest may still print.
    Draining {
        until: Instant,
    },
    /// The tree was asked to end.
    Asked {
        until: Instant,
    },
    /// The tree is being killed.
    Killing {
        until: Instant,
    },
}

/// What is watched, and what is to be said with its end.
pub(super) struct Watch {
    pub(super) child: Pid,
    pub(super) scope: Scope,
    pub(super) spared: Spared,
    pub(super) notes: Vec<String>,
}

/// Waits until nothing of the tree is left, and reports how the child ended.
pub(super) fn run(control: &mut Control, signals: &OwnedFd, watch: Watch, held: &Held) {
    let Watch {
        child,
        scope,
        spared,
        mut notes,
    } = watch;
    let mut reaper = Reaper {
        child,
        scope,
        spared,
        phase: Phase::Running,
        ending: None,
        left_behind: false,
        killed: 0,
        signals: Vec::new(),
        parent_gone: false,
    };
    let survivors = loop {
        if reaper.reap() {
            break Vec::new();
        }
        if let Some(survivors) = reaper.advance() {
            break survivors;
        }
        reaper.sleep(control, signals);
        reaper.listen(control);
    };
    let seen = Seen {
        by_itself: reaper.ending.filter(|_| reaper.left_behind),
        others: reaper.signals,
    };
    notes.extend(held.notes());
    control.report(&Report::Exited(Exit {
        // Only a child that could not even be killed has no ending.
        ending: reaper.ending.unwrap_or(Ending::Signal(libc::SIGKILL)),
        killed_children: reaper.killed,
        survivors,
        reached: held.reached(&seen),
        counted: held.counted(),
        notes,
    }));
}

struct Reaper {
    child: Pid,
    scope: Scope,
    spared: Spared,
    phase: Phase,
    ending: Option<Ending>,
    /// Whether the child ended before anybody asked it to: only what is there then was left behind
    /// by it.
    left_behind: bool,
    killed: u32,
    /// What ended others before anybody asked.
    signals: Vec<i32>,
    parent_gone: bool,
}

impl Reaper {
    /// Collects whoever has ended; true when there is nobody left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => self.note(pid, status),
                Ok(None) => return false,
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }

    fn note(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.child {
            self.ending = Some(match status.terminating_signal() {
                Some(signal) => Ending::Signal(signal),
                None => Ending::Code(status.exit_status().unwrap_or_default()),
            });
            if let Phase::Running = self.phase {
                self.left_behind = true;
                self.phase = Phase::Draining {
                    until: Instant::now() + DRAIN,
                };
            }
            return;
        }
        match self.phase {
            Phase::Running | Phase::Draining { .. } => {
                let signal = status.terminating_signal();
                let is_new = |signal: &i32| !self.signals.contains(signal);
                self.signals.extend(signal.filter(is_new));
            }
            Phase::Asked { .. } | Phase::Killing { .. } => {
                if self.left_behind && status.signaled() {
                    self.killed += 1;
                }
            }
        }
    }

    /// Acts on time that has passed. Gives the survivors when there is no more to wait for.
    fn advance(&mut self) -> Option<Vec<u32>> {
        let now = Instant::now();
        match self.phase {
            Phase::Running => None,
            Phase::Draining { until } | Phase::Asked { until } => {
                if now >= until {
                    self.kill();
                }
                None
            }
            Phase::Killing { until } if now >= until => Some(tree::survivors(self.scope)),
            Phase::Killing { .. } => {
                tree::kill(self.scope);
                None
            }
        }
    }

    fn kill(&mut self) {
        self.phase = Phase::Killing {
            until: Instant::now() + KILL_BOUND,
        };
        tree::kill(self.scope);
    }

    fn sleep(&self, control: &Control, signals: &OwnedFd) {
        let until = match self.phase {
            Phase::Running => None,
            Phase::Draining { until } | Phase::Asked { until } => Some(until),
            Phase::Killing { .. } => Some(Instant::now() + ROUND),
        };
        let timeout = until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec::try_from(left).unwrap_or(Timespec {
                tv_sec: 1,
                tv_nsec: 0,
            })
        });
        let mut fds = vec![PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN)];
        if !self.parent_gone {
            fds.push(PollFd::from_borrowed_fd(control.socket(), PollFlags::IN));
            fds.push(PollFd::from_borrowed_fd(control.parent(), PollFlags::IN));
        }
        // An interrupted or failed wait is only an early look around.
        let _ = poll(&mut fds, timeout.as_ref());
        drain(signals);
    }

    fn listen(&mut self, control: &mut Control) {
        if self.parent_gone {
            return;
        }
        match control.wish() {
            Wish::Nothing => {}
            Wish::Kill(grace_ms) => match self.phase {
                Phase::Running | Phase::Draining { .. } => {
                    self.phase = Phase::Asked {
                        until: Instant::now() + Duration::from_millis(u64::from(grace_ms)),
                    };
                    tree::ask(
                        self.scope,
                        match self.spared {
                            Spared::Nobody => &[],
                            Spared::TheChild => std::slice::from_ref(&self.child),
                        },
                    );
                }
                Phase::Asked { .. } | Phase::Killing { .. } => {}
            },
            Wish::Gone => {
                self.parent_gone = true;
                self.kill();
            }
        }
        if !self.parent_gone && is_readable(control.parent()) {
            self.parent_gone = true;
            self.kill();
        }
    }
}

fn is_readable(fd: std::os::fd::BorrowedFd<'_>) -> bool {
    const NOW: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    poll(&mut fds, Some(&NOW)).is_ok_and(|ready| ready > 0)
}
