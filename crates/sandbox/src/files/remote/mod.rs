//! The files of a session on another machine, by SFTP.
//!
//! SFTP knows names and no directory handles. So a path is resolved here, part by part: each is
//! looked at without being followed, and a link is read and followed only as far as it stays beneath
//! the root. Between that look and the use a program of the same account there can exchange a
//! directory for a link; nothing in SFTP closes that gap. It opens nothing to whoever can run
//! programs in that account already.
//!
//! - `inner`: [`RemoteFiles`], the implementation of [`outfitter_core::Files`]
//! - `place`: from a caller's path to a name there
//! - `read`, `write`, `parents`, `temporary`: single files
//! - `commit`: several changes made together
//! - `scan`: directories; `find`, `search`: what is asked of them
//! - `copy`: import and export
//!
//! Files have no identity that SFTP shows: what is protected is known by its path alone, and a hard
//! link to it under another name is not.

mod commit;
mod copy;
mod find;
mod inner;
mod parents;
mod place;
mod read;
mod scan;
mod search;
mod temporary;
mod write;

pub(crate) use copy::lay;
pub(crate) use inner::{Inner, RemoteFiles};
