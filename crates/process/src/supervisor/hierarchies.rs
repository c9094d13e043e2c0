//! Hierarchies of control groups: which of them are mounted, and where in each we are.
//!
//! Format: the kernel's `admin-guide/cgroup-v1` and `admin-guide/cgroup-v2`.

use std::fs;
use std::path::{Path, PathBuf};

/// The file of a group that names who is in it.
pub(super) const MEMBERS: &str = "cgroup.procs";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One controller to a hierarchy.
    Version1,
    /// All controllers in one.
    Version2,
}

impl Kind {
    pub(super) fn version(self) -> u8 {
        match self {
            Self::Version1 => 1,
            Self::Version2 => 2,
        }
    }
}

/// A hierarchy, and where in it we are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) kind: Kind,
    pub(super) here: PathBuf,
    pub(super) controllers: Vec<String>,
}

impl Place {
    pub(super) fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|known| known == controller)
    }

    /// Where groups are made.
    pub(super) fn above(&self) -> PathBuf {
        match self.kind {
            Kind::Version1 => self.here.clone(),
            // A group with members cannot give controllers to groups in it, but for the topmost.
            Kind::Version2 => {
                let parent = self.here.parent().filter(|dir| dir.join(MEMBERS).exists());
                parent.unwrap_or(&self.here).to_owned()
            }
        }
    }
}

/// Every hierarchy that is mounted and that we are in, version 2 first.
pub(super) fn places(own: &str, mounts: &str) -> Vec<Place> {
    let mut places: Vec<Place> = own
        .lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let id = fields.next()?;
            let controllers = fields.next()?;
            let within = fields.next()?;
            let names: Vec<String> = controllers.split(',').map(str::to_owned).collect();
            if id == "0" && controllers.is_empty() {
                let here = inside(mounts, within, |kind, _| kind == "cgroup2")?;
                let offered = fs::read_to_string(here.join("cgroup.controllers"));
                let controllers = offered.unwrap_or_default();
                return Some(Place {
                    kind: Kind::Version2,
                    here,
                    controllers: controllers.split_whitespace().map(str::to_owned).collect(),
                });
            }
            let here = inside(mounts, within, |kind, options| {
                kind == "cgroup"
                    && names
                        .iter()
                        .all(|name| options.split(',').any(|option| option == name))
            })?;
            Some(Place {
                kind: Kind::Version1,
                here,
                controllers: names,
            })
        })
        .collect();
    places.sort_by_key(|place| place.kind == Kind::Version1);
    places
}

/// Where a group is in the file system: `mountinfo` says which part of a hierarchy is mounted where.
fn inside(mounts: &str, within: &str, is_it: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let mut system = system.split(' ');
        let kind = system.next()?;
        let options = system.nth(1)?;
        if !is_it(kind, options) {
            return None;
        }
        let mut mount = mount.split(' ');
        let root = mount.nth(3)?;
        let point = mount.next()?;
        let below = Path::new(within).strip_prefix(root).ok()?;
        Some(Path::new(point).join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
31 23 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
32 31 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate
38 31 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
39 31 0:34 /docker/1 /sys/fs/cgroup/cpu,pids rw - cgroup cgroup rw,cpu,pids
";

    #[test]
    fn hierarchies_are_found_by_what_is_mounted() {
        let own = "9:name=systemd:/\n5:memory:/a/b\n4:cpu,pids:/docker/1/c\n0::/x\n";
        let found: Vec<(Kind, String)> = places(own, MOUNTS)
            .into_iter()
            .map(|place| (place.kind, place.here.display().to_string()))
            .collect();
        assert_eq!(
            found,
            [
                (Kind::Version2, "/sys/fs/cgroup/unified/x".to_owned()),
                (Kind::Version1, "/sys/fs/cgroup/memory/a/b".to_owned()),
                (Kind::Version1, "/sys/fs/cgroup/cpu,pids/c".to_owned()),
            ]
        );
    }

    #[test]
    fn a_group_outside_of_what_is_mounted_is_no_place() {
        assert_eq!(places("4:cpu,pids:/elsewhere\n", MOUNTS), []);
    }
}
