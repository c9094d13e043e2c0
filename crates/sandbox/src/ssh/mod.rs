//! Commands on another machine, over SSH.
//!
//! - `connection`: one connection, made again when it drops
//! - `remote`: what we are told of the other machine
//! - `host_key`: who it must be
//! - `prove`: how it is shown who we are
//! - `script`: what runs there, a few lines of POSIX shell
//! - `launch`, `job`: how commands are started there, and one that runs
//! - `sftp`: the files there
//! - `packs`: trees of ours that are laid in there
//! - `sandbox`: the backend
//!
//! The account on the other machine is the boundary: nothing confines a command within it.

mod connection;
mod host_key;
mod job;
mod launch;
mod packs;
mod prove;
mod remote;
mod sandbox;
mod script;
pub(crate) mod sftp;

pub(crate) use job::RemoteCommand;
pub use launch::MAX_REMOTE_JOBS;
pub use packs::LaidPack;
pub use remote::{Identity, Remote};
pub use sandbox::{SshSession, open, remove};
