//! Control groups: limits on a whole tree, where this machine lets us make some.
//!
//! Both kinds are there on machines of today, sometimes together: one hierarchy for everything
//! (version 2), or one for each controller (version 1). Neither has to be writable, so nothing here
//! fails a start: what could not be had is said, and limits of single processes stand in for it.
//!
//! Moving a process into a group costs the kernel up to some 20 ms after a quiet time, so a group is
//! made only for a limit that nothing cheaper can enforce.
//!
//! Format and names: the kernel's `admin-guide/cgroup-v1` and `admin-guide/cgroup-v2`.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, getpid};

use super::hierarchies::{Kind, MEMBERS, Place, places};

/// Groups of dead supervisors are looked for by this beginning of their names.
const PREFIX: &str = "outfitter-";

/// Who writes it to the members of a group is in that then.
const MYSELF: &str = "0";

/// A group is empty once the kernel has buried its last member; that may take a moment.
const REMOVALS: u32 = 50;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(2);

/// Files of counters are short.
const MAX_COUNTERS: usize = 4096;

/// What is to be limited for the whole tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) memory_bytes: Option<u64>,
    pub(super) processes: Option<u64>,
}

/// The groups that the child enters. We stay outside: memory that no process of the tree holds, as a
/// file in memory is, would end whoever is left in them.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<Group>);

#[derive(Debug)]
struct Group {
    path: PathBuf,
    handle: OwnedFd,
    /// Opened by us, for the child to write to.
    members: Rc<OwnedFd>,
    /// Where we are.
    before: PathBuf,
    kind: Kind,
    memory: bool,
    processes: bool,
}

impl Groups {
    /// Makes groups with these limits, as far as they can be had.
    pub(super) fn make(wanted: Wanted) -> Self {
        let mut groups = Self::default();
        if wanted == Wanted::default() {
            return groups;
        }
        let (Ok(own), Ok(mounts)) = (
            fs::read_to_string("/proc/self/cgroup"),
            fs::read_to_string("/proc/self/mountinfo"),
        ) else {
            return groups;
        };
        for place in places(&own, &mounts) {
            let limits = Wanted {
                memory_bytes: wanted
                    .memory_bytes
                    .filter(|_| place.has("memory") && !groups.limit_memory()),
                processes: wanted
                    .processes
                    .filter(|_| place.has("pids") && !groups.limit_processes()),
            };
            if limits == Wanted::default() {
                continue;
            }
            if let Ok(group) = place.make(limits) {
                groups.0.push(group);
            }
        }
        groups
    }

    /// For the child, which enters them before it becomes anything.
    pub(super) fn entrances(&self) -> Entrances {
        let members = self.0.iter().map(|group| Rc::clone(&group.members));
        Entrances(members.collect())
    }

    pub(super) fn limit_memory(&self) -> bool {
        self.0.iter().any(|group| group.memory)
    }

    pub(super) fn limit_processes(&self) -> bool {
        self.0.iter().any(|group| group.processes)
    }

    /// Which version counts memory, if one does.
    pub(super) fn memory_version(&self) -> Option<u8> {
        let group = self.0.iter().find(|group| group.memory);
        group.map(|group| group.kind.version())
    }

    /// Which version counts processes, if one does.
    pub(super) fn processes_version(&self) -> Option<u8> {
        let group = self.0.iter().find(|group| group.processes);
        group.map(|group| group.kind.version())
    }

    /// How many processes were killed for want of memory.
    pub(super) fn killed_for_memory(&self) -> u64 {
        let counted = self.0.iter().filter(|group| group.memory).map(|group| {
            let file = match group.kind {
                Kind::Version1 => "memory.oom_control",
                Kind::Version2 => "memory.events",
            };
            counter(&group.handle, file, "oom_kill")
        });
        counted.sum()
    }

    /// How many processes were not made for want of room.
    pub(super) fn refused_processes(&self) -> u64 {
        let counted = self.0.iter().filter(|group| group.processes);
        counted
            .map(|group| counter(&group.handle, "pids.events", "max"))
            .sum()
    }

    /// Removes the groups. Nobody may be in them any more.
    pub(super) fn leave(self) {
        for group in self.0 {
            // We are in it still where we could not go back. What cannot be removed now is removed by
            // a later supervisor.
            let _ = fs::write(group.before.join(MEMBERS), MYSELF);
            for _ in 0..REMOVALS {
                match fs::remove_dir(&group.path) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        std::thread::sleep(BETWEEN_REMOVALS);
                    }
                    Ok(()) | Err(_) => break,
                }
            }
        }
    }
}

/// The ways into the groups, which hold in any namespace.
#[derive(Debug, Default)]
pub(super) struct Entrances(Vec<Rc<OwnedFd>>);

impl Entrances {
    /// Takes this process into them.
    pub(super) fn enter(&self) -> rustix::io::Result<()> {
        for members in &self.0 {
            rustix::io::write(&**members, MYSELF.as_bytes())?;
        }
        Ok(())
    }
}

impl Place {
    fn make(&self, limits: Wanted) -> io::Result<Group> {
        let above = self.above();
        if self.kind == Kind::Version2 {
            // They may be given already, or not be ours to give.
            let _ = fs::write(above.join("cgroup.subtree_control"), "+memory +pids");
        }
        remove_the_left_behind(&above);
        let path = above.join(name_of(getpid()));
        fs::create_dir(&path)?;
        let made = self.limit_and_try(&path, limits);
        if made.is_err() {
            let _ = fs::remove_dir(&path);
        }
        let (handle, members) = made?;
        Ok(Group {
            path,
            handle,
            members: Rc::new(members),
            before: self.here.clone(),
            kind: self.kind,
            memory: limits.memory_bytes.is_some(),
            processes: limits.processes.is_some(),
        })
    }

    fn limit_and_try(&self, path: &Path, limits: Wanted) -> io::Result<(OwnedFd, OwnedFd)> {
        if let Some(bytes) = limits.memory_bytes {
            let (file, swap, most_swap) = match self.kind {
                Kind::Version1 => (
                    "memory.limit_in_bytes",
                    "memory.memsw.limit_in_bytes",
                    bytes,
                ),
                Kind::Version2 => ("memory.max", "memory.swap.max", 0),
            };
            fs::write(path.join(file), bytes.to_string())?;
            // Not there where the kernel does not count swap.
            let _ = fs::write(path.join(swap), most_swap.to_string());
        }
        if let Some(most) = limits.processes {
            fs::write(path.join("pids.max"), most.to_string())?;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())?;
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let members = rustix::fs::open(path.join(MEMBERS), flags, Mode::empty())?;
        // Whether a process may be moved is known once one was.
        fs::write(path.join(MEMBERS), MYSELF)?;
        let _ = fs::write(self.here.join(MEMBERS), MYSELF);
        Ok((handle, members))
    }
}

/// How the groups of a supervisor are called.
fn name_of(maker: Pid) -> String {
    format!("{PREFIX}{}", maker.as_raw_nonzero())
}

/// Where groups can be.
fn everywhere() -> Vec<PathBuf> {
    let (Ok(own), Ok(mounts)) = (
        fs::read_to_string("/proc/self/cgroup"),
        fs::read_to_string("/proc/self/mountinfo"),
    ) else {
        return Vec::new();
    };
    let places = places(&own, &mounts).into_iter();
    let counting = places.filter(|place| place.has("memory") || place.has("pids"));
    counting.map(|place| place.above()).collect()
}

/// Removes what all supervisors that were killed have left, as far as nobody is in it any more.
pub(super) fn sweep() {
    everywhere()
        .iter()
        .for_each(|above| remove_the_left_behind(above));
}

/// The groups that a supervisor has made and that are there still.
pub(super) fn left_by(maker: Pid) -> Vec<PathBuf> {
    let name = name_of(maker);
    let groups = everywhere().into_iter().map(|above| above.join(&name));
    groups.filter(|path| path.exists()).collect()
}

/// Removes groups, and keeps those in which somebody is still.
pub(super) fn remove_empty(groups: &mut Vec<PathBuf>) {
    groups.retain(|path| {
        fs::remove_dir(path).is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
    });
}

/// Whether a process is no more, or only its exit code, which nobody may ever collect.
fn is_gone(pid: &str) -> bool {
    let Ok(stat) = fs::read_to_string(Path::new("/proc").join(pid).join("stat")) else {
        return !Path::new("/proc").join(pid).exists();
    };
    // The state stands behind the name, which may hold anything but ends there.
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|rest| rest.starts_with(['Z', 'X']))
}

/// Groups whose supervisors were killed: they are empty, and their makers are gone.
fn remove_the_left_behind(above: &Path) {
    let Ok(entries) = fs::read_dir(above) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if maker.is_some_and(is_gone) {
            // One that is not empty stays.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// A number that stands behind its name.
fn counter(group: &OwnedFd, file: &str, name: &str) -> u64 {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(group, file, flags, Mode::empty()) else {
        return 0;
    };
    let mut bytes = vec![0; MAX_COUNTERS];
    let count = rustix::io::read(&file, &mut bytes).unwrap_or(0);
    let text = String::from_utf8_lossy(&bytes[..count]);
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
        .unwrap_or(0)
}
