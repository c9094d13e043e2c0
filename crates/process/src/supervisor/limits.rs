//! Limits on what a tree uses, each by the cheapest means that holds here.
//!
//! Processes: a control group where a number was asked for, which is to hold exactly; else the process
//! namespace itself where the kernel counts there (Linux 6.14 and later), else a control group, else
//! the limit of the user, which does not hold root. Memory: a control group, else the limit of each
//! process. Time of the processor: the limit of each process.

use rustix::fs::{Access, StatVfsMountFlags};
use rustix::process::{Resource, Rlimit, geteuid};

use super::cgroup::{Entrances, Groups, Wanted};
use super::evidence::Seen;
use crate::exit::{Limit, Reached};
use crate::spec::{Confined, Confinement, Level, Limits};
use crate::sys;

/// The first kernel whose process namespaces have a `pid_max` of their own.
const PID_MAX_FROM: (u32, u32) = (6, 14);

/// The numbers that a namespace gives out once: when they have gone round, the kernel keeps the lowest
/// 300 out of reach (`RESERVED_PIDS`), also of who has none of them.
const GIVEN_ONCE: u64 = 300;

/// Seconds for which a process that goes on at `SIGXCPU` may still run.
///
/// The signal comes first because it says which limit ended a process; `SIGKILL` may be anybody's.
const TO_LEAVE: u64 = 1;

const PID_MAX: &str = "/proc/sys/kernel/pid_max";

/// What holds a tree, and what is to be said of it in the end.
#[derive(Debug)]
pub(super) struct Held {
    groups: Groups,
    limits: Limits,
    /// Whether the process namespace counts, or is going to.
    by_namespace: bool,
    /// Whether nothing else would hold the number of processes.
    needs_a_count: bool,
    telling: Telling,
}

/// What the notes are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    /// Limits that could not be had.
    Missing,
    /// By what each limit is held.
    All,
}

impl Held {
    /// Makes what limits the tree. To be called before anything is started.
    pub(super) fn begin(limits: Limits, confinement: &Confinement) -> Self {
        let by_namespace =
            is_full(confinement) && kernel() >= Some(PID_MAX_FROM) && pid_max_is_writable();
        // What stops a command that runs away need not be exact: the namespace will do, and for
        // everybody but root the limit of the user.
        let asked_for = limits.processes != Limits::DEFAULT.processes;
        let is_held = by_namespace || !geteuid().is_root();
        let count = (asked_for || !is_held) && !is_ours(confinement);
        let groups = Groups::make(Wanted {
            memory_bytes: limits.memory_bytes,
            processes: count.then_some(limits.processes),
        });
        Self {
            groups,
            limits,
            by_namespace,
            needs_a_count: is_full(confinement) && geteuid().is_root(),
            telling: Telling::Missing,
        }
    }

    /// The ways into what limits the tree, for the child.
    pub(super) fn entrances(&self) -> Entrances {
        self.groups.entrances()
    }

    /// The first process of a namespace: nobody in it, not even root, gets more numbers.
    pub(super) fn inside(&mut self) {
        if self.by_namespace && !self.groups.limit_processes() {
            let most = self.limits.processes.saturating_add(GIVEN_ONCE);
            // Where it cannot be written after all, the other limits stand and the notes say so.
            self.by_namespace = std::fs::write(PID_MAX, most.to_string()).is_ok();
        }
    }

    /// Limits of the child itself, which its children inherit.
    pub(super) fn of_each_process(&self) -> Limits {
        Limits {
            memory_bytes: self
                .limits
                .memory_bytes
                .filter(|_| !self.groups.limit_memory()),
            // What else the user runs is no part of the tree.
            processes: match self.groups.limit_processes() {
                true => u64::MAX,
                false => self.limits.processes,
            },
            ..self.limits
        }
    }

    /// What the groups count.
    pub(super) fn counted(&self) -> Vec<Limit> {
        let memory = self.groups.limit_memory().then_some(Limit::Memory);
        let processes = self.groups.limit_processes().then_some(Limit::Processes);
        memory.into_iter().chain(processes).collect()
    }

    /// Which limits could not be had; for people.
    pub(super) fn notes(&self) -> Vec<String> {
        match self.telling {
            Telling::Missing => self.missing(),
            Telling::All => self.all(),
        }
    }

    /// Says by what each limit of the tree is held, in the place of what could not be had.
    pub(super) fn explain(&mut self) {
        self.telling = Telling::All;
    }

    fn missing(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.limits.memory_bytes.is_some() && !self.groups.limit_memory() {
            notes.push(
                "memory is limited for each process and not for all together: no control group \
                 can be made here"
                    .to_owned(),
            );
        }
        if self.needs_a_count && !self.by_namespace && !self.groups.limit_processes() {
            notes.push(
                "processes are not limited: the command runs as root, the process namespace does \
                 not count, and no control group can be made here"
                    .to_owned(),
            );
        }
        notes
    }

    fn all(&self) -> Vec<String> {
        let memory = match self.groups.memory_version() {
            Some(version) => format!("memory by a control group (version {version})"),
            None => "memory of each process by itself (no control group can be made)".to_owned(),
        };
        let user = "the limit of the user, which does not hold root";
        let processes = match self.groups.processes_version() {
            Some(version) if self.by_namespace => format!(
                "processes by a control group (version {version}), the default number of them by \
                 their namespace"
            ),
            Some(version) => format!("processes by a control group (version {version})"),
            None if self.by_namespace => format!(
                "processes by their namespace (up to {GIVEN_ONCE} more until its numbers have gone \
                 round once)"
            ),
            None => format!("processes by {user}"),
        };
        vec![memory, processes]
    }

    /// What the limits did; read when the tree is gone.
    pub(super) fn reached(&self, seen: &Seen) -> Vec<Reached> {
        let mut reached = Vec::new();
        let time = self
            .limits
            .cpu_seconds
            .and_then(|most| seen.of_time(most, sys::time_of_children()));
        reached.extend(time.map(|said| Reached {
            limit: Limit::Time,
            said,
        }));
        if let Some(evidence) = seen.of(&[libc::SIGXFSZ]) {
            let most = self.limits.file_bytes / (1024 * 1024);
            reached.push(Reached {
                limit: Limit::FileSize,
                said: evidence.said(
                    &format!("no file may have more than {most} MiB"),
                    &format!("wanted more than {most} MiB in one file"),
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

/// Whether the first process of a namespace may limit it: in many containers `/proc/sys` is mounted
/// read-only. Who is not root now makes a user namespace, in which they may what root may here.
fn pid_max_is_writable() -> bool {
    let is_read_only = rustix::fs::statvfs(PID_MAX).map_or(true, |found| {
        found.f_flag.contains(StatVfsMountFlags::RDONLY)
    });
    let may = || !geteuid().is_root() || rustix::fs::access(PID_MAX, Access::WRITE_OK).is_ok();
    !is_read_only && may()
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
        (Resource::Core, 0, 0),
        (Resource::Nofile, limits.open_files, limits.open_files),
        (Resource::Nproc, limits.processes, limits.processes),
        (Resource::Fsize, limits.file_bytes, limits.file_bytes),
    ];
    // Data and not address space: many runtimes reserve far more addresses than they use.
    all.extend(
        limits
            .memory_bytes
            .map(|bytes| (Resource::Data, bytes, bytes)),
    );
    all.extend(
        limits
            .cpu_seconds
            .map(|seconds| (Resource::Cpu, seconds, seconds.saturating_add(TO_LEAVE))),
    );
    for (resource, soft, hard) in all {
        let most = rustix::process::getrlimit(resource).maximum;
        let within = |limit: u64| Some(most.map_or(limit, |most| most.min(limit)));
        rustix::process::setrlimit(
            resource,
            Rlimit {
                current: within(soft),
                maximum: within(hard),
            },
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// Of a tree of root's that has no control group.
    #[rstest]
    #[case::the_namespace_counts(
        true,
        &[],
        "processes by their namespace (up to 300 more until its numbers have gone round once)"
    )]
    #[case::nothing_counts(
        false,
        &["processes are not limited: the command runs as root, the process namespace does not \
           count, and no control group can be made here"],
        "processes by the limit of the user, which does not hold root"
    )]
    fn that_nothing_counts_the_processes_is_said_with_the_command_and_by_the_probe(
        #[case] by_namespace: bool,
        #[case] notes: &[&str],
        #[case] explained: &str,
    ) {
        let mut held = Held {
            groups: Groups::default(),
            limits: Limits::DEFAULT,
            by_namespace,
            needs_a_count: true,
            telling: Telling::Missing,
        };
        assert_eq!(held.notes(), notes);
        held.explain();
        assert_eq!(held.notes().last().unwrap(), explained);
    }
}
