//! Where a path leads that may go anywhere, for what is protected on its way.
//!
//! Whoever may reach the whole machine is still not told what is in a protected directory: not by
//! an error that differs where a name is free. So such a path is followed here part by part and
//! link by link, and refused as soon as it enters what is protected, whether it comes to anything
//! there or not. What is opened later is judged again.

use outfitter_core::FileKind;
use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, ResolveFlags};
use rustix::io::Errno;

use super::Here;
use super::beneath::open_beneath;
use super::handle::real_path;
use crate::files::facts::Pinned;
use crate::files::limits::MAX_LINKS;
use crate::files::machine::Machine;
use crate::files::root::{Root, visible_parts};
use crate::files::session::Inner;

/// Why a path is protected by where it leads, if it is.
pub(super) fn into_protected(
    files: &Inner<Here>,
    root: &Root<Here>,
    relative: &str,
) -> Option<&'static str> {
    let mut here = open(&root.handle, ".").ok()?;
    let mut left = parts(relative);
    let mut links = 0;
    while let Some(part) = left.pop() {
        let mut reached = real_path(&here).ok()?;
        if part != ".." {
            reached.push(&part);
            if let Some(why) = files.protected.covers(&reached) {
                return Some(why);
            }
        }
        let Ok(next) = open(&here, &part) else {
            reached.extend(left.iter().rev());
            return files.protected.covers(&reached);
        };
        let next = Pinned::new(next).ok()?;
        match next.kind() {
            FileKind::Directory => here = next.handle,
            FileKind::Symlink => {
                links += 1;
                let target = Here.target(&next.handle).ok()?;
                if links > MAX_LINKS {
                    return None;
                }
                if target.starts_with('/') {
                    here = open(&files.whole().ok()?.handle, ".").ok()?;
                }
                left.append(&mut parts(&target));
            }
            FileKind::File | FileKind::Special => return None,
        }
    }
    None
}

/// What has a name in a directory, itself.
fn open(directory: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW;
    open_beneath(directory, name, flags, ResolveFlags::NO_MAGICLINKS)
}

/// The parts of a path, the first one last.
fn parts(path: &str) -> Vec<String> {
    let parts = visible_parts(path).into_iter().rev();
    parts.map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::files::LocalFiles;
    use crate::protected::Protected;

    #[test]
    fn a_way_into_what_is_protected_is_one_whether_or_not_it_comes_to_anything() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let at = |path: &str| home.join(path);
        fs::create_dir_all(at("ws/deep")).unwrap();
        fs::create_dir_all(at(".ssh/keys")).unwrap();
        fs::write(at(".ssh/id_rsa"), "x").unwrap();
        fs::write(at("ws/plain"), "x").unwrap();
        for (link, to) in [
            ("ssh", "../.ssh"),
            ("again", "ssh"),
            ("far", at(".ssh").to_str().unwrap()),
            ("key", "../.ssh/id_rsa"),
            ("no-key", "../.ssh/id_none"),
            ("deep/up", "../.."),
            ("round", "round"),
            ("nowhere", "../nothing"),
        ] {
            symlink(to, at("ws").join(link)).unwrap();
        }
        let files = LocalFiles::open(&at("ws"), Protected::of_home(&home)).unwrap();
        let files = files.inner();
        for into in [
            "ssh",
            "ssh/id_rsa",
            "ssh/id_none",
            "ssh/keys/none",
            "again/none/more",
            "far/none",
            "key",
            "no-key",
            "no-key/x",
            "key/x",
            "deep/up/.ssh/none",
            "deep/../ssh/none",
            "./deep//up/ws/ssh",
        ] {
            let why = into_protected(files, &files.workspace, into);
            assert!(why.is_some(), "{into}");
        }
        for not in [
            "plain",
            "plain/x",
            "missing",
            "deep/up/ws/plain",
            "round",
            "nowhere/x",
            "deep/up",
        ] {
            let why = into_protected(files, &files.workspace, not);
            assert_eq!(why, None, "{not}");
        }
    }
}
