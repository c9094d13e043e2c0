//! Whether there can be control groups here.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether this machine lets us make a control group for this, as far as that can be seen without
/// asking our own code: where a hierarchy of version 1 has the controller, or our own group of version
/// 2 hands it on, by making one.
pub(crate) fn can_make_a_group(controller: &str) -> bool {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let places = own.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (names, within) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        if names.is_empty() {
            let of_two =
                ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(|at| Path::new(at).join(within));
            return of_two.into_iter().find(|dir| {
                let handed = fs::read_to_string(dir.join("cgroup.subtree_control"));
                handed.is_ok_and(|all| all.split_whitespace().any(|one| one == controller))
            });
        }
        let has = names.split(',').any(|name| name == controller);
        has.then(|| Path::new("/sys/fs/cgroup").join(names).join(within))
    });
    let name = format!("outfitter-looks-{controller}-{}", std::process::id());
    places.into_iter().any(|place| {
        let dir = place.join(format!("{name}-{}", LOOKS.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir(&dir).is_ok_and(|()| fs::remove_dir(&dir).is_ok())
    })
}

/// Several tests may look at once.
static LOOKS: AtomicU32 = AtomicU32::new(0);
