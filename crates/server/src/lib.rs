//! The HTTP surface: runs as NDJSON and as AG-UI, questions and approvals, sessions, artifacts,
//! tools.
//!
//! A [`Server`] is made of [`ServerParts`] and serves one listener until it is told to stop. What
//! it does not know itself comes through seams: [`Principals`] says who calls, [`Directory`] says
//! what there is, [`SessionHolds`] keeps other processes from a session.
//!
//! * A run is owned by the server, not by the connection that started it; any number of
//!   connections follow it, each through its own bounded mailbox.
//! * A run that waits holds nothing. One timer for all of them wakes at the earliest expiry.
//! * `docs/protocols/http.md` is the protocol.

mod app;
mod body;
mod calls;
mod connection;
mod deleting;
mod entries;
mod follow;
mod gate;
mod live;
mod parts;
mod principals;
mod problem;
mod query;
mod recovery;
mod routes;
mod seats;
mod server;
mod stream;
mod waits;
mod watched;
#[cfg(test)]
mod watched_tests;

pub use gate::DEFAULT_BODY_BYTES;
pub use parts::{
    Directory, MountMcp, Mounted, NoDirectory, ServerConfig, ServerParts, SessionHold, SessionHolds,
};
pub use principals::{Caller, LocalPrincipals, Principals};
pub use server::{ServeError, Server};
