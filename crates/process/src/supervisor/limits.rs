//! Limits on what a tree uses, each by the cheapest means that holds here.
//!
//! Processes: the process namespace itself where the kernel counts there (Linux 6.14 and later), else
//! a control group, else the limit of the user, which does not hold root. Memory: a control group,
//! else the limit of each process. Time of the processor: the limit of each process.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, geteuid};

use super::cgroup::{Entrances, Groups, Wanted};
use crate::exit::{Ending, Limit, Reached};
use crate::spec::{Confined, Confinement, Level, Limits};
use crate::sys;

/// The first kernel whose process namespaces have a `pid_max` of their own.
const PID_MAX_FROM: (u32, u32) = (6, 14);

/// The least value that `pid_max` takes: the kernel keeps the lowest 300 numbers.
const LEAST_PID_MAX: u64 = 301;

/// The kernel's limit counts ticks, and what it tells of a process is measured.
const COUNTED_OTHERWISE: Duration = Duration::from_millis(200);

/// What a shell adds to the number of the signal that ended its command.
const SHELL_ADDS: i32 = 128;

const PID_MAX: &str = "/proc/sys/kernel/pid_max";

/// What holds a tree, and what is to be said of it in the end.
#[derive(Debug)]
pub(super) struct Held {
    groups: Groups,
    limits: Limits,
    by_namespace: bool,
    notes: Vec<String>,
}

impl Held {
    /// Makes what limits the tree. To be called before anything is started.
    pub(super) fn begin(limits: Limits, confinement: &Confinement) -> Self {
        let by_namespace = is_full(confinement) && kernel() >= Some(PID_MAX_FROM);
        // Everybody but root is held by the limit of the user, unless a smaller one was asked for.
        let asked_for = limits.processes != Limits::DEFAULT.processes;
        let held_by_user = !geteuid().is_root() && !asked_for;
        let exact = limits.processes >= LEAST_PID_MAX;
        let count = !(held_by_user || by_namespace && exact || is_ours(confinement));
        let groups = Groups::make(Wanted {
            memory_bytes: limits.memory_bytes,
            processes: count.then_some(limits.processes),
        });
        let mut notes = Vec::new();
        if limits.memory_bytes.is_some() && !groups.limit_memory() {
            notes.push(
                "memory is limited for each process and not for all together: no control group \
                 can be made here"
                    .to_owned(),
            );
        }
        Self {
            groups,
            limits,
            by_namespace,
            notes,
        }
    }

    /// The ways into what limits the tree, for the child.
    pub(super) fn entrances(&self) -> Entrances {
        self.groups.entrances()
    }

    /// The first process of a namespace: nobody in it, not even root, gets more numbers.
    pub(super) fn inside(&self) {
        if self.by_namespace {
            let most = self.limits.processes.max(LEAST_PID_MAX);
            // Where `/proc/sys` cannot be written the other limits stand.
            let _ = std::fs::write(PID_MAX, most.to_string());
        }
    }

    /// Limits of the child itself, which its children inherit.
    pub(super) fn of_each_process(&self) -> Limits {
        Limits {
            memory_bytes: self
                .limits
                .memory_bytes
                .filter(|_| !self.groups.limit_memory()),
            ..self.limits
        }
    }

    /// Which limits could not be had, for people.
    pub(super) fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Says by what each limit of the tree is held, in the place of what could not be had.
    pub(super) fn explain(&mut self) {
        let memory = match self.groups.memory_version() {
            Some(version) => format!("memory by a control group (version {version})"),
            None => "memory of each process by itself (no control group can be made)".to_owned(),
        };
        let user = "the limit of the user, which does not hold root";
        let processes = match self.groups.processes_version() {
            _ if self.by_namespace && self.limits.processes >= LEAST_PID_MAX => {
                "processes by their namespace".to_owned()
            }
            Some(version) => format!("processes by a control group (version {version})"),
            None => format!("processes by {user}"),
        };
        self.notes = vec![memory, processes];
    }

    /// What the limits did; read when the tree is gone. `by_itself` is how the child ended, if nobody
    /// asked it to.
    pub(super) fn reached(&self, by_itself: Option<Ending>) -> Vec<Reached> {
        let mut reached = Vec::new();
        // The kernel says it to the process alone, by a signal; a shell passes that on in its code.
        let ended_by = |signals: &[i32]| match by_itself {
            Some(Ending::Signal(signal)) => signals.contains(&signal),
            Some(Ending::Code(code)) => signals.contains(&(code - SHELL_ADDS)),
            None => false,
        };
        if let Some(most) = self.limits.cpu_seconds
            && ended_by(&[libc::SIGKILL, libc::SIGXCPU])
            && sys::time_of_children() + COUNTED_OTHERWISE >= Duration::from_secs(most)
        {
            reached.push(Reached {
                limit: Limit::Time,
                said: format!("the limit of {most} s of the processor was reached"),
            });
        }
        if ended_by(&[libc::SIGXFSZ]) {
            reached.push(Reached {
                limit: Limit::FileSize,
                said: format!(
                    "no file may have more than {} MiB",
                    self.limits.file_bytes / (1024 * 1024)
                ),
            });
        }
        let killed = self.groups.killed_for_memory();
        if let Some(bytes) = self.limits.memory_bytes.filter(|_| killed > 0) {
            reached.push(Reached {
                limit: Limit::Memory,
                said: format!(
                    "the memory limit of {} MiB was reached, and {killed} of its processes were killed",
                    bytes / (1024 * 1024)
                ),
            });
        }
        let refused = self.groups.refused_processes();
        if refused > 0 {
            reached.push(Reached {
                limit: Limit::Processes,
                said: format!(
                    "the limit of {} processes was reached, and {refused} were not started",
                    self.limits.processes
                ),
            });
        }
        reached
    }

    /// Removes the groups, which are empty.
    pub(super) fn end(self) {
        self.groups.leave();
    }
}

fn is_full(confinement: &Confinement) -> bool {
    match confinement {
        Confinement::Confined(Confined { level, .. }) => *level == Level::Full,
        Confinement::Unconfined | Confinement::Wrapper | Confinement::WrapperWithOutlet => false,
    }
}

/// A program that nobody confines is one the operator trusts.
fn is_ours(confinement: &Confinement) -> bool {
    *confinement == Confinement::Unconfined
}

/// Version and patch level of the kernel.
fn kernel() -> Option<(u32, u32)> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Puts limits on this process and on what it starts.
pub(super) fn apply(limits: Limits) -> rustix::io::Result<()> {
    let mut all = vec![
        (Resource::Core, 0),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, limits.processes),
        (Resource::Fsize, limits.file_bytes),
    ];
    // Data and not address space: many runtimes reserve far more addresses than they use.
    all.extend(limits.memory_bytes.map(|bytes| (Resource::Data, bytes)));
    all.extend(limits.cpu_seconds.map(|seconds| (Resource::Cpu, seconds)));
    for (resource, most) in all {
        let hard = rustix::process::getrlimit(resource).maximum;
        let limit = Some(hard.map_or(most, |hard| hard.min(most)));
        rustix::process::setrlimit(
            resource,
            Rlimit {
                current: limit,
                maximum: limit,
            },
        )?;
    }
    Ok(())
}
