//! Where the commands of a session run and its files live.
//!
//! - [`files`]: the files of a session, by directory handle
//! - [`local`], [`bwrap`], [`passthrough`]: the backends whose commands are processes of this machine
//! - [`browser`]: a browser that shows one page, held as a command is
//! - [`ssh`]: the backend whose commands are processes of another machine
//! - `process_sandbox`, `hold`, `mount_plan`: what they share, and what holds their commands
//! - [`network`]: the network by host
//! - [`host`], `roots`, `system_roots`, `toolchains`, `venv`, `environment`, `scratch`: what a
//!   command sees, may read, and calls home
//! - [`effective`]: the same as lists for people
//! - [`opened`]: paths that no configuration can open
//! - `launch`, `running`: how a command is started, and what is told of it while it runs
//! - `jobs`, `job`, `spool`: the commands of a session, and their output; `recorded`: a list of them
//! - `view`, `complaint`, `perhaps`: what a command says that it was refused, and what of that is true
//! - [`left`]: the bound on what closed sessions leave of it
//! - [`occupied`]: who is in the directory of a session
//! - `secrets`: credentials that are opened by their own name alone
//! - [`protected`]: what no tool and no command may reach, wherever it lies
//! - [`startup`]: what makes programs run outside the sandbox later, and is read only

#![cfg(target_os = "linux")]

pub mod browser;
pub mod bwrap;
mod complaint;
pub mod effective;
mod environment;
pub mod files;
mod hold;
pub mod host;
mod identities;
mod job;
mod jobs;
mod launch;
pub mod left;
mod lists;
pub mod local;
mod mount_plan;
pub mod network;
pub mod occupied;
pub mod opened;
pub mod passthrough;
mod perhaps;
mod process_sandbox;
pub mod protected;
mod recorded;
mod records;
mod roots;
mod running;
mod scratch;
mod secrets;
mod spool;
pub mod ssh;
pub mod startup;
mod system_roots;
mod toolchains;
mod venv;
mod view;

pub use effective::{Effective, Listed, Outline};
pub use files::{FileLimits, FileQuota, LocalFiles, QuotaCounts};
pub use host::Host;
pub use jobs::{MAX_ENDED_JOBS, MAX_RUNNING_JOBS};
pub use local::{LocalPolicy, Session};
pub use process_sandbox::ProcessSandbox;
pub use protected::Protected;
pub use recorded::{Recorded, RecordedState, recorded_jobs};
pub use records::MAX_LOST_JOBS;
pub use spool::{ALL_SPOOL_BYTES, LEFT_SPOOL_BYTES, SESSION_SPOOL_BYTES, SPOOL_BYTES};

// What a backend is opened with.
pub use network::{AllowedHosts, BadHost, Reach};
pub use outfitter_process::{Limits, SupervisorProgram, Support, probe};
