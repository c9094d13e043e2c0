//! Files of the other machine, by SFTP version 3 (draft-ietf-secsh-filexfer-02) with the extensions
//! of OpenSSH (its `PROTOCOL` file, section 4).
//!
//! - `ask`, `reply`, `attrs`: what is asked and answered, as bytes
//! - `line`: one channel, on which several questions may be on their way
//! - `client`: what a caller asks, one question or one file at a time

mod ask;
mod attrs;
mod client;
mod line;
mod reply;

pub(crate) use ask::OpenFlags;
pub(crate) use attrs::Attrs;
pub(crate) use client::{Handle, Sftp};
pub(crate) use reply::Fault;
