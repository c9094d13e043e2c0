//! The file system as a fully confined command sees it: everything read-only but the writable roots,
//! `/run` and `/tmp` empty, `/dev` and `/proc` of its own, credentials covered.
//!
//! Runs in a new mount namespace. Trees that are to stay are cloned first and attached again last,
//! on top of what covers their place.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use super::OrFail;
use super::devices::{LINKS, NODES, SHARED_MEMORY, SHARED_MEMORY_SIZE};
use super::roots::{Root, Roots, is_in};
use super::sockets::Sockets;
use crate::spec::Network;
use crate::stage::Stage;
use crate::sys::{MountAttributes, Recursive, set_mount_attributes};
use crate::wire::Failure;

/// Directories covered by an empty one: sockets, locks, and other people's temporary files.
const COVERED: [&str; 2] = ["/run", "/tmp"];

/// Room for the directories that lead to a root below a covered one; nothing else is written there.
const COVER_SIZE: &str = "1m";

/// Stand-ins for hidden things, while the view is being built.
pub(super) const EMPTY_FILE: &str = "/dev/.empty-file";
const EMPTY_DIRECTORY: &str = "/dev/.empty-directory";

/// What was built, for the Landlock rules that go with it.
pub(super) struct View {
    /// Empty directories that may be listed.
    pub(super) covered: Vec<PathBuf>,
    /// Device files that are there.
    pub(super) devices: Vec<&'static str>,
    /// The local sockets of the machine that were to be covered.
    pub(super) sockets: Sockets,
}

/// Builds the view. Afterwards nothing can change it: the child has no capability to mount.
pub(super) fn build(roots: &Roots, network: Network) -> Result<View, Failure> {
    let covered: Vec<PathBuf> = COVERED
        .iter()
        .filter_map(|path| Path::new(path).canonicalize().ok())
        .collect();
    let sockets = match network {
        Network::On => Sockets::listening(roots, &covered),
        // There are none to connect with.
        Network::Off | Network::Alone | Network::Outlet => Sockets::default(),
    };
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .or_fail(Stage::Mounts, "/")?;
    set_mount_attributes(
        root.as_fd(),
        Recursive::Yes,
        MountAttributes {
            set: 0,
            propagation: libc::MS_PRIVATE,
        },
    )
    .or_fail(Stage::Mounts, "private propagation")?;

    let writable = clone_roots(roots.write.iter(), WRITABLE)?;
    let holes = clone_roots(roots.holes.iter(), WRITABLE)?;
    let behind_covers = roots.read.iter().filter(|root| is_in(&root.path, &covered));
    let readable = clone_roots(behind_covers, READ_ONLY)?;
    let fixed = clone_roots(roots.fixed.iter(), READ_ONLY)?;
    let nodes = clone_nodes()?;

    set_mount_attributes(root.as_fd(), Recursive::Yes, attributes(READ_ONLY))
        .or_fail(Stage::Mounts, "read-only root")?;

    let mut covers = Vec::with_capacity(COVERED.len() + 1);
    for path in &covered {
        covers.push(attach_tmpfs(path, "0755", COVER_SIZE)?);
    }
    covers.push(attach_tmpfs(Path::new("/dev"), "0755", COVER_SIZE)?);
    mount_proc()?;
    let devices = fill_dev(&nodes).or_fail(Stage::Mounts, "/dev")?;
    let shared = attach_shared_memory()?;

    // What is writable may lie in what is readable, never the other way round.
    for tree in readable.iter().chain(&writable) {
        tree.attach()?;
    }
    pin_parents(roots)?;
    for tree in &fixed {
        tree.attach()?;
    }
    hide(&roots.hide)?;
    if network == Network::On {
        let there = |path: &&PathBuf| path.symlink_metadata().is_ok();
        hide(
            &roots
                .sealed
                .iter()
                .filter(there)
                .cloned()
                .collect::<Vec<_>>(),
        )?;
        sockets.cover()?;
    }
    for path in &roots.private {
        covers.push(attach_tmpfs(path, "0755", COVER_SIZE)?);
    }
    for tree in &holes {
        tree.attach()?;
    }
    for path in &roots.blank {
        cover_with(EMPTY_FILE, path)?;
    }

    std::fs::remove_file(EMPTY_FILE).or_fail(Stage::Mounts, EMPTY_FILE)?;
    std::fs::remove_dir(EMPTY_DIRECTORY).or_fail(Stage::Mounts, EMPTY_DIRECTORY)?;
    for cover in &covers {
        set_mount_attributes(cover.as_fd(), Recursive::No, attributes(READ_ONLY))
            .or_fail(Stage::Mounts, "read-only covers")?;
    }
    drop(shared);
    Ok(View {
        covered,
        devices,
        sockets,
    })
}

const WRITABLE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
pub(super) const READ_ONLY: u64 = WRITABLE | libc::MOUNT_ATTR_RDONLY;

const fn attributes(set: u64) -> MountAttributes {
    MountAttributes {
        set,
        propagation: 0,
    }
}

/// A tree that is detached from its place and will be attached at the same place again.
struct Tree<'a> {
    path: &'a Path,
    mount: OwnedFd,
}

fn clone_roots<'a>(
    roots: impl Iterator<Item = &'a Root>,
    bits: u64,
) -> Result<Vec<Tree<'a>>, Failure> {
    roots
        .map(|root| {
            let mount = clone_tree(&root.handle, Path::new(""), bits)
                .or_fail(Stage::Mounts, &root.path.to_string_lossy())?;
            Ok(Tree {
                path: &root.path,
                mount,
            })
        })
        .collect()
}

fn clone_nodes() -> Result<Vec<Tree<'static>>, Failure> {
    let bits = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
    let there = NODES.iter().map(Path::new).filter(|path| path.exists());
    there
        .map(|path| {
            let mount =
                clone_tree(CWD, path, bits).or_fail(Stage::Mounts, &path.to_string_lossy())?;
            Ok(Tree { path, mount })
        })
        .collect()
}

/// A detached copy of what is at a path below a handle, or of the handle itself, with its mounts.
pub(super) fn clone_tree(at: impl AsFd, path: &Path, bits: u64) -> io::Result<OwnedFd> {
    let mount = open_tree(
        at,
        path,
        OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW,
    )?;
    set_mount_attributes(mount.as_fd(), Recursive::Yes, attributes(bits))?;
    Ok(mount)
}

impl Tree<'_> {
    fn attach(&self) -> Result<(), Failure> {
        make_place(self.path, &self.mount)
            .and_then(|()| attach(&self.mount, self.path))
            .or_fail(Stage::Mounts, &self.path.to_string_lossy())
    }
}

/// Makes the directories that lead to a root below a covered one, and the file for a root that is
/// one. Elsewhere the place is there already.
fn make_place(path: &Path, mount: &OwnedFd) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let stat = rustix::fs::fstat(mount)?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() {
        return std::fs::create_dir_all(path);
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::File::create_new(path).map(drop)
}

pub(super) fn attach(mount: &OwnedFd, path: &Path) -> io::Result<()> {
    Ok(move_mount(
        mount,
        "",
        CWD,
        path,
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
    )?)
}

fn new_mount(kind: &str, options: &[(&str, &str)], bits: MountAttrFlags) -> io::Result<OwnedFd> {
    let fs = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options.iter().chain(&[("source", kind)]) {
        fsconfig_set_string(fs.as_fd(), *key, *value)?;
    }
    fsconfig_create(fs.as_fd())?;
    Ok(fsmount(fs.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, bits)?)
}

fn attach_tmpfs(path: &Path, mode: &str, size: &str) -> Result<OwnedFd, Failure> {
    let bits = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    new_mount("tmpfs", &[("mode", mode), ("size", size)], bits)
        .and_then(|mount| {
            attach(&mount, path)?;
            Ok(mount)
        })
        .or_fail(Stage::Mounts, &path.to_string_lossy())
}

fn mount_proc() -> Result<(), Failure> {
    // Read-only: as root, `/proc/sys` is writable without any capability.
    let bits = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    new_mount("proc", &[], bits)
        .and_then(|mount| attach(&mount, Path::new("/proc")))
        .or_fail(Stage::Proc, "")
}

fn fill_dev(nodes: &[Tree<'_>]) -> io::Result<Vec<&'static str>> {
    for node in nodes {
        std::fs::File::create_new(node.path)?;
        attach(&node.mount, node.path)?;
    }
    for (link, target) in LINKS {
        std::os::unix::fs::symlink(target, link)?;
    }
    std::fs::create_dir(SHARED_MEMORY)?;
    std::fs::create_dir(EMPTY_DIRECTORY)?;
    std::fs::File::create_new(EMPTY_FILE)?;
    Ok(NODES
        .into_iter()
        .filter(|name| nodes.iter().any(|node| node.path == Path::new(name)))
        .collect())
}

fn attach_shared_memory() -> Result<OwnedFd, Failure> {
    attach_tmpfs(Path::new(SHARED_MEMORY), "1777", SHARED_MEMORY_SIZE)
}

/// Makes the directories between a writable root and what is fixed or covered in it mounts of their own: what
/// is mounted cannot be renamed. Else a command could move `~/.config` away, and the next would find
/// nothing to cover at its old place.
fn pin_parents(roots: &Roots) -> Result<(), Failure> {
    let writable = roots.writable();
    let mut parents: Vec<&Path> = roots
        .hide
        .iter()
        .chain(&roots.private)
        .chain(roots.fixed.iter().map(|root| &root.path))
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|path| is_in(path, &writable) && !writable.iter().any(|root| root == path))
        .collect();
    parents.sort_unstable();
    parents.dedup();
    for path in parents {
        clone_tree(CWD, path, WRITABLE)
            .and_then(|mount| attach(&mount, path))
            .or_fail(Stage::Mounts, &path.to_string_lossy())?;
    }
    Ok(())
}

/// Covers what must never be read although it lies in a root.
fn hide(paths: &[PathBuf]) -> Result<(), Failure> {
    for path in paths {
        let is_directory = path
            .symlink_metadata()
            .or_fail(Stage::Mounts, &path.to_string_lossy())?
            .is_dir();
        cover_with(
            if is_directory {
                EMPTY_DIRECTORY
            } else {
                EMPTY_FILE
            },
            path,
        )?;
    }
    Ok(())
}

fn cover_with(stand_in: &str, path: &Path) -> Result<(), Failure> {
    clone_tree(CWD, Path::new(stand_in), READ_ONLY)
        .and_then(|mount| attach(&mount, path))
        .or_fail(Stage::Mounts, &path.to_string_lossy())
}
