//! Commands on another machine, which is this one behind an `sshd` of the test's own.

mod jobs;
mod refused;
mod server;
