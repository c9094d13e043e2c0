//! Looking for processes from outside.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::world::HANGS;

/// A name for a process that no other process has.
pub(crate) fn mark() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("outfitter-mark-{}-{number}-end", std::process::id())
}

/// The processes that call themselves so: `exec -a MARK`.
fn named(mark: &str) -> Vec<u32> {
    processes()
        .into_iter()
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).next() == Some(mark.as_bytes())
        })
        .collect()
}

fn processes() -> Vec<u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Waits until there is such a process.
#[track_caller]
pub(crate) fn until_there(mark: &str) {
    until(|| !named(mark).is_empty(), "the process never starts");
}

/// Waits until there is no such process. It is killed with what started it, so that takes no time
/// of its own.
#[track_caller]
pub(crate) fn gone(mark: &str) {
    until(|| named(mark).is_empty(), "the process lives on");
}

#[track_caller]
fn until(holds: impl Fn() -> bool, why: &str) {
    let limit = Instant::now() + HANGS;
    while !holds() {
        assert!(Instant::now() < limit, "{why}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The command lines of a process and of all its descendants.
pub(crate) fn command_lines_below(root: u32) -> Vec<String> {
    let parents: Vec<(u32, u32)> = processes()
        .into_iter()
        .filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let after = stat.rsplit_once(')')?.1;
            Some((pid, after.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut family = vec![root];
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        family.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        at += 1;
    }
    family
        .iter()
        .filter_map(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}
