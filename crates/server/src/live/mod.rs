//! Runs under way: who owns them, who follows them, how they end.

mod hub;
mod mailbox;
mod runs;

pub(crate) use hub::Begun;
pub(crate) use mailbox::Mailbox;
pub(crate) use runs::{Live, LiveRun, Place, stopping};
