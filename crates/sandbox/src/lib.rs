//! Where the commands of a session run and its files live.
//!
//! - [`files`]: the files of a session, by directory handle
//! - [`local`], [`passthrough`]: the two backends of this machine
//! - [`host`], [`roots`], `environment`, `scratch`: what a command sees, may read, and calls home
//! - `jobs`, `job`, `spool`: commands that run, and their output
//! - [`protected`]: what no tool and no command may reach, wherever it lies
//! - [`startup`]: what makes programs run outside the sandbox later, and is read only

#![cfg(target_os = "linux")]

mod environment;
pub mod files;
pub mod host;
mod job;
mod jobs;
pub mod local;
pub mod passthrough;
pub mod protected;
pub mod roots;
mod scratch;
mod spool;
pub mod startup;

pub use files::{FileLimits, LocalFiles};
pub use host::Host;
pub use jobs::{MAX_ENDED_JOBS, MAX_RUNNING_JOBS};
pub use local::{LocalPolicy, LocalSandbox, Session};
pub use passthrough::PassthroughSandbox;
pub use protected::Protected;
pub use roots::ReadableRoots;
pub use spool::SPOOL_BYTES;

// What a backend is opened with.
pub use outfitter_process::{Network, SupervisorProgram, Support, probe};
