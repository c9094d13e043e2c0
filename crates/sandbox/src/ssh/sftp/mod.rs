//! Files of the other machine, by SFTP version 3 (draft-ietf-secsh-filexfer-02) with the extensions
//! of OpenSSH (its `PROTOCOL` file, section 4).
//!
//! - `packet`: what is asked and answered, as bytes
//! - `line`: one channel, on which several questions may be on their way
//! - `client`: what a caller asks, one question or one file at a time

mod client;
mod line;
mod packet;

pub(crate) use client::{Handle, Sftp};
pub(crate) use packet::{Attrs, Fault, OpenFlags};
