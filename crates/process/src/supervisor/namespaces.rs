//! New namespaces: mount, process ids, IPC, network when it is off, and user where we are not
//! allowed to make the others.

use std::ffi::c_int;
use std::os::fd::OwnedFd;

use rustix::process::{DumpableBehavior, Pid, Signal};
use rustix::thread::CapabilitySet;

use super::OrFail;
use crate::stage::Stage;
use crate::sys;
use crate::wire::Failure;

/// Which process this is after the split.
pub(super) enum Side {
    /// The guard.
    Outside(Inner),
    /// The first process of the namespaces; whose user must still be mapped.
    Inside(UserNamespace),
}

/// The inner process as the guard holds it.
pub(super) struct Inner {
    pub(super) pid: Pid,
    pub(super) pidfd: OwnedFd,
}

/// Whether there is a user namespace, and who we were outside of it.
#[derive(Clone, Copy)]
pub(super) enum UserNamespace {
    None,
    New { uid: u32, gid: u32 },
}

/// What a supervisor has done before it had its order.
pub(super) enum Ahead {
    Nothing,
    /// It has given itself a network of its own, or could not.
    Network(Result<(), Failure>),
}

impl Ahead {
    /// Does it.
    pub(super) fn of_a_network() -> Self {
        Self::Network(leave_the_network())
    }

    /// What came of it, if it was done; else it is done now.
    pub(super) fn network(self) -> Result<(), Failure> {
        match self {
            Self::Nothing => leave_the_network(),
            Self::Network(Ok(())) => Ok(()),
            // There may be room by now where there was none.
            Self::Network(Err(failure)) => leave_the_network().map_err(|_| failure),
        }
    }
}

/// Splits into a process outside and one inside. Root makes the namespaces as it is, so that owners
/// of files keep their names; anyone else, and root without the capability, makes a user namespace
/// first.
pub(super) fn enter() -> Result<Side, Failure> {
    let flags = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    let user = UserNamespace::here();
    let may = rustix::thread::capabilities(None)
        .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    if may && let Ok(side) = split(flags, UserNamespace::None) {
        return Ok(side);
    }
    split(flags | libc::CLONE_NEWUSER, user).or_fail(Stage::Namespaces, "")
}

fn split(flags: c_int, user: UserNamespace) -> std::io::Result<Side> {
    Ok(match sys::fork_into(flags)? {
        Some((pid, pidfd)) => Side::Outside(Inner { pid, pidfd }),
        None => Side::Inside(user),
    })
}

/// Gives this process, and what it starts, a network of its own. Root makes it as it is; anyone else
/// makes a user namespace first, and is in it who they were.
fn leave_the_network() -> Result<(), Failure> {
    let user = UserNamespace::here();
    if sys::unshare(libc::CLONE_NEWNET).is_ok() {
        return Ok(());
    }
    sys::unshare(libc::CLONE_NEWNET | libc::CLONE_NEWUSER).or_fail(Stage::Namespaces, "")?;
    user.map()
}

/// The first steps inside: die with the guard, and be somebody.
pub(super) fn settle(user: UserNamespace) -> Result<(), Failure> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .or_fail(Stage::Prepare, "parent death signal")?;
    user.map()
}

impl UserNamespace {
    /// A new one, in which we are who we are now.
    fn here() -> Self {
        Self::New {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        }
    }

    fn map(self) -> Result<(), Failure> {
        match self {
            Self::None => Ok(()),
            Self::New { uid, gid } => {
                // Our `/proc` files are root's as long as nobody may look into us.
                rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable)
                    .or_fail(Stage::UserMap, "dumpable")?;
                // In this order: a group map may only be written once setgroups is denied.
                for (file, text) in [
                    ("/proc/self/setgroups", "deny".to_owned()),
                    ("/proc/self/uid_map", format!("{uid} {uid} 1")),
                    ("/proc/self/gid_map", format!("{gid} {gid} 1")),
                ] {
                    std::fs::write(file, text).or_fail(Stage::UserMap, file)?;
                }
                super::hide_from_others()
            }
        }
    }
}
