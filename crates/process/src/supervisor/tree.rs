//! The processes of a tree: finding and signalling all of them.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use super::reaper::Scope;
use crate::sys;

/// How often newly found processes are stopped before the killing begins. A tree that forks faster
/// than this is killed in the rounds that follow.
const STOP_ROUNDS: usize = 16;

/// `SIGTERM` to all but these, and `SIGCONT` so that the stopped ones can hear it.
pub(super) fn ask(scope: Scope, but: &[Pid]) {
    for signal in [Signal::TERM, Signal::CONT] {
        if but.is_empty() {
            signal_all(scope, signal);
        } else {
            let mut found = descendants(&[]);
            found.retain(|one| !but.contains(&one.pid));
            send(&found, signal);
        }
    }
}

/// `SIGKILL` to all. To be repeated until nobody is left.
pub(super) fn kill(scope: Scope) {
    match scope {
        Scope::Namespace => signal_all(scope, Signal::KILL),
        Scope::Descendants => kill_descendants(&[]),
    }
}

/// `SIGKILL` to all whose ancestor we are, but for these and theirs. To be repeated until nobody is
/// left.
pub(super) fn kill_descendants(but: &[Pid]) {
    // What is stopped cannot fork while its relatives are being looked up.
    let mut known = 0;
    for _ in 0..STOP_ROUNDS {
        let found = descendants(but);
        send(&found, Signal::STOP);
        if found.len() == known {
            break;
        }
        known = found.len();
    }
    send(&descendants(but), Signal::KILL);
}

/// The process ids of all whose ancestor we are, but for these and theirs.
pub(super) fn left(but: &[Pid]) -> Vec<u32> {
    let found = descendants(but).into_iter();
    found.map(|found| number(found.pid)).collect()
}

/// Process ids that are still there.
pub(super) fn survivors(scope: Scope) -> Vec<u32> {
    match scope {
        Scope::Namespace => processes()
            .filter(|pid| *pid != getpid())
            .map(number)
            .collect(),
        Scope::Descendants => left(&[]),
    }
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

fn signal_all(scope: Scope, signal: Signal) {
    match scope {
        Scope::Namespace if getpid().is_init() => sys::signal_whole_namespace(signal.as_raw()),
        Scope::Namespace | Scope::Descendants => send(&descendants(&[]), signal),
    }
}

#[derive(Clone, Copy)]
struct Found {
    pid: Pid,
    parent: Pid,
}

fn send(found: &[Found], signal: Signal) {
    for one in found {
        // A number may be reused between the look and the signal; a pidfd may not, so look again
        // once it is held.
        let Ok(pidfd) = pidfd_open(one.pid, PidfdFlags::empty()) else {
            continue;
        };
        if parent_of(one.pid).is_some_and(|parent| parent == one.parent || parent == getpid()) {
            // Gone since, or not ours to signal: the next round or the report says so.
            let _ = pidfd_send_signal(pidfd, signal);
        }
    }
}

/// Everybody whose ancestor we are, parents before children, but for these and theirs.
fn descendants(but: &[Pid]) -> Vec<Found> {
    let everybody: Vec<Found> = processes()
        .filter_map(|pid| {
            let parent = parent_of(pid)?;
            Some(Found { pid, parent })
        })
        .collect();
    let mut ours: Vec<Found> = Vec::new();
    let mut ancestors = vec![getpid()];
    while let Some(ancestor) = ancestors.pop() {
        for found in everybody.iter().filter(|found| found.parent == ancestor) {
            let is_new = ours.iter().all(|known| known.pid != found.pid);
            if is_new && !but.contains(&found.pid) {
                ours.push(*found);
                ancestors.push(found.pid);
            }
        }
    }
    ours
}

fn processes() -> impl Iterator<Item = Pid> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Pid::from_raw)
}

/// The fourth field of `stat`. The second is a name in parentheses that may hold anything.
fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let _state = fields.next()?;
    fields.next()?.parse().ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_parent_is_read_from_proc() {
        assert_eq!(parent_of(getpid()), rustix::process::getppid());
    }
}
