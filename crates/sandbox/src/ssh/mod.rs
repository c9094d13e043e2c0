//! Commands on another machine, over SSH.
//!
//! - `connection`: one connection, made again when it drops
//! - `host_key`: who the other machine must be
//! - `script`: what runs there, a few lines of POSIX shell
//! - `job`, `jobs`: commands that run there, and their output here
//! - `sftp`: the files there
//! - `sandbox`: the backend
//!
//! The account on the other machine is the boundary: nothing confines a command within it.

mod connection;
mod host_key;
mod job;
mod jobs;
mod sandbox;
mod script;
pub(crate) mod sftp;

pub use connection::{Identity, Remote};
pub use jobs::MAX_REMOTE_JOBS;
pub use sandbox::{BACKEND, SshSandbox, SshSession, open};
