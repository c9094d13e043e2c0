//! The local sockets of this machine that a command could connect to with the network on.
//!
//! A socket is connected to and not opened, which neither a read-only mount nor Landlock before its
//! ninth ABI holds back. So those that somebody listens on are covered, as far as there is room.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;

use super::mounts::{EMPTY_FILE, READ_ONLY, attach, clone_tree};
use super::roots::{Roots, is_in};
use super::{OrFail, landlock_abi};
use crate::stage::Stage;
use crate::wire::Failure;

/// More sockets than that, outside of what is covered anyway, are left as they are, and that is said.
const MAX_SOCKETS: usize = 1024;

/// From this ABI of Landlock on a rule holds those that are not covered, too.
const HELD_FROM_ABI: i32 = 9;

/// Sockets that are in sight.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sockets {
    to_cover: Vec<PathBuf>,
    /// How many more there are.
    too_many: usize,
}

impl Sockets {
    /// Those with a name that somebody listens on now and that lie in no root and in nothing that is
    /// covered. To be read before the view has a `/proc` of its own.
    pub(super) fn listening(roots: &Roots, covered: &[PathBuf]) -> Self {
        named(roots, covered)
    }

    /// Covers them. One that is gone by now needs no cover.
    pub(super) fn cover(&self) -> Result<(), Failure> {
        cover(&self.to_cover)
    }

    /// What of it is less than it should be; for people.
    pub(super) fn notes(&self) -> Vec<String> {
        let many = match landlock_abi() {
            HELD_FROM_ABI.. => 0,
            _ => self.too_many,
        };
        let note = format!(
            "{many} local sockets of this machine were not covered, because more than {MAX_SOCKETS} \
             listen here: the command could connect to those that it may write to"
        );
        Vec::from_iter((many > 0).then_some(note))
    }
}

fn named(roots: &Roots, covered: &[PathBuf]) -> Sockets {
    let listed = std::fs::read_to_string("/proc/self/net/unix").unwrap_or_default();
    let named = listed
        .lines()
        .filter_map(|line| line.find(" /").map(|at| &line[at + 1..]));
    let found = named
        .filter_map(|path| Path::new(path).canonicalize().ok())
        .filter(|path| !roots.opens(path));
    still_in_sight(found, covered)
}

/// Those that nothing covers yet, each once: the others take no room from them.
fn still_in_sight(found: impl Iterator<Item = PathBuf>, covered: &[PathBuf]) -> Sockets {
    let mut found: Vec<PathBuf> = found.filter(|path| !is_in(path, covered)).collect();
    found.sort_unstable();
    found.dedup();
    let too_many = found.len().saturating_sub(MAX_SOCKETS);
    found.truncate(MAX_SOCKETS);
    Sockets {
        to_cover: found,
        too_many,
    }
}

fn cover(paths: &[PathBuf]) -> Result<(), Failure> {
    use std::os::unix::fs::FileTypeExt;
    let is_socket = |path: &Path| {
        path.symlink_metadata()
            .is_ok_and(|found| found.file_type().is_socket())
    };
    for path in paths.iter().filter(|path| is_socket(path)) {
        let stand_in =
            clone_tree(CWD, Path::new(EMPTY_FILE), READ_ONLY).or_fail(Stage::Mounts, EMPTY_FILE)?;
        match attach(&stand_in, path) {
            Err(error) if is_gone(&error) => {}
            covered => covered.or_fail(Stage::Mounts, &path.to_string_lossy())?,
        }
    }
    Ok(())
}

/// Whether a path that was there a moment ago leads nowhere now.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_that_are_covered_anyway_left_no_room_for_the_others() {
        let covered = [PathBuf::from("/run"), PathBuf::from("/tmp")];
        let hidden = (0..=MAX_SOCKETS).map(|number| PathBuf::from(format!("/run/{number}")));
        let other = PathBuf::from("/var/lib/database/socket");
        let found = hidden.chain([other.clone(), other.clone()]);
        let alone = Sockets {
            to_cover: vec![other],
            too_many: 0,
        };
        assert_eq!(still_in_sight(found, &covered), alone);
    }

    #[test]
    fn sockets_beyond_the_bound_are_counted() {
        let found = (0..MAX_SOCKETS + 3).map(|number| PathBuf::from(format!("/var/{number}")));
        let sockets = still_in_sight(found, &[]);
        assert_eq!(sockets.to_cover.len(), MAX_SOCKETS);
        assert_eq!(sockets.too_many, 3);
    }

    #[test]
    fn a_socket_that_could_not_be_covered_stayed_in_sight_and_nothing_was_said() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        // Outside of a view there is nothing to cover it with.
        let failure = cover(&[socket]).unwrap_err();
        assert_eq!(failure.stage, Stage::Mounts);
        assert!(cover(&[dir.path().join("gone")]).is_ok());
    }

    #[test]
    fn of_what_may_go_wrong_only_a_path_that_is_gone_needs_no_cover() {
        let is_ignored = |errno| is_gone(&io::Error::from_raw_os_error(errno));
        assert!([libc::ENOENT, libc::ENOTDIR].into_iter().all(is_ignored));
        let others = [libc::EPERM, libc::EACCES, libc::ENOSPC, libc::EINVAL];
        assert!(!others.into_iter().any(is_ignored));
    }
}
