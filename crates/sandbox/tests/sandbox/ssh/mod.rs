//! Commands on another machine, which is this one behind an `sshd` of the test's own.

mod files;
mod identity;
mod jobs;
mod keys;
mod packs;
mod refused;
pub(crate) mod server;
mod sshd;
