//! Landlock rules: exact roots, no signals out, no abstract sockets, and no TCP when the network is
//! off. Built by the supervisor, entered by the child.
//!
//! A rule on a plain file may only hold rights that files have; the kernel answers anything else by
//! enforcing less than was asked.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError,
};
use rustix::fs::FileType;

use super::devices::{NODES, SHARED_MEMORY};
use super::mounts::View;
use super::roots::{Root, Roots, is_in, refusal};
use crate::landlock_rights::Rights;
use crate::spec::Network;
use crate::stage::Stage;
use crate::wire::Failure;

/// The newest ABI we know (see `landlock_rights`); the crate leaves out what the kernel does not.
const NEWEST: ABI = ABI::V10;

/// The rules for a child that has its own mount namespace.
pub(super) fn with_mounts(
    roots: &Roots,
    view: &View,
    network: Network,
) -> Result<RulesetCreated, Failure> {
    let mut rules = Rules::new(network)?;
    rules.roots(roots)?;
    for root in &roots.read {
        rules.allow_root(root, reading())?;
    }
    for path in &view.devices {
        rules.allow(Path::new(path), device())?;
    }
    for path in view
        .covered
        .iter()
        .map(PathBuf::as_path)
        .chain([Path::new("/dev")])
    {
        rules.allow(path, AccessFs::ReadDir.into())?;
    }
    rules.allow(Path::new(SHARED_MEMORY), everything())?;
    for path in &roots.blank {
        rules.allow(path, AccessFs::ReadFile.into())?;
    }
    Ok(rules.0)
}

/// The rules for a child that sees the file system as it is.
pub(super) fn without_mounts(roots: &Roots, network: Network) -> Result<RulesetCreated, Failure> {
    let hidden: Vec<PathBuf> = roots.hide.iter().chain(&roots.private).cloned().collect();
    if let Some(hidden) = hidden.iter().find(|path| is_in(path, &roots.writable())) {
        let text = format!(
            "{} lies in a writable root and only a mount namespace can hide it",
            hidden.display()
        );
        return Err(refusal(libc::EPERM, &text));
    }
    let mut rules = Rules::new(network)?;
    rules.roots(roots)?;
    for root in &roots.read {
        if hidden.iter().any(|secret| secret.starts_with(&root.path)) {
            for path in without(&root.path, &hidden) {
                rules.allow(&path, reading())?;
            }
        } else {
            rules.allow_root(root, reading())?;
        }
    }
    for path in NODES.iter().map(Path::new).filter(|path| path.exists()) {
        rules.allow(path, device())?;
    }
    Ok(rules.0)
}

fn everything() -> BitFlags<AccessFs> {
    Rights::all().files
}

fn reading() -> BitFlags<AccessFs> {
    AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir
}

fn device() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev
}

struct Rules(RulesetCreated);

impl Rules {
    fn new(network: Network) -> Result<Self, Failure> {
        let build = || {
            let mut ruleset = Ruleset::default()
                .handle_access(everything())?
                .scope(Rights::all().scopes)?;
            match network {
                Network::Off | Network::Alone => {
                    ruleset = ruleset.handle_access(Rights::all().net)?;
                }
                // Its own network leads nowhere but out by the one way.
                Network::On | Network::Outlet => {}
            }
            ruleset.create()
        };
        build().map(Self).map_err(|error| failure(&error, ""))
    }

    /// What every child has: the writable roots, and `/proc`.
    fn roots(&mut self, roots: &Roots) -> Result<(), Failure> {
        for root in roots.write.iter().chain(&roots.holes) {
            self.allow_root(root, everything())?;
        }
        self.allow(Path::new("/proc"), AccessFs::ReadFile | AccessFs::ReadDir)
    }

    /// By the handle: its name may lead elsewhere by now.
    fn allow_root(&mut self, root: &Root, rights: BitFlags<AccessFs>) -> Result<(), Failure> {
        self.add(&root.handle, rights)
            .map_err(|error| failure(&error, &root.path.to_string_lossy()))
    }

    fn allow(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), Failure> {
        let name = path.to_string_lossy();
        let fd = PathFd::new(path).map_err(|error| failure(&error, &name))?;
        self.add(fd, rights).map_err(|error| failure(&error, &name))
    }

    fn add(&mut self, fd: impl AsFd, rights: BitFlags<AccessFs>) -> Result<(), RulesetError> {
        let is_directory = rustix::fs::fstat(fd.as_fd())
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir());
        let rights = if is_directory {
            rights
        } else {
            rights & AccessFs::from_file(NEWEST)
        };
        (&mut self.0)
            .add_rule(PathBeneath::new(fd, rights))
            .map(drop)
    }
}

/// What is in a root besides the hidden paths in it: rules can only allow. What appears in such a
/// directory later is not readable.
fn without(root: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut kept = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        if is_in(&path, hidden) {
            continue;
        }
        if !hidden.iter().any(|secret| secret.starts_with(&path)) {
            kept.push(path);
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&path) else {
            continue;
        };
        for entry in entries.flatten() {
            // A link is followed to something that has its own rule or none.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                pending.push(entry.path());
            }
        }
    }
    kept
}

fn failure(error: &(dyn std::error::Error + 'static), path: &str) -> Failure {
    let mut errno = libc::EIO;
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(code) = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::raw_os_error)
        {
            errno = code;
        }
        cause = error.source();
    }
    Failure {
        stage: Stage::Landlock,
        errno,
        detail: if path.is_empty() {
            error.to_string()
        } else {
            path.to_owned()
        },
    }
}
