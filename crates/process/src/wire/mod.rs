//! What the parent, the nursery and the supervisors say to each other.
//!
//! The parent and the nursery have a socket of packets: one byte that carries the parent's pidfd, and
//! then one for each child that is to be started, which carries the supervisor's end of a socket of
//! its own and the child's two outputs, or one for a look, which carries the socket that its
//! [`Looked`] comes by. Nothing else goes there, so the nursery knows no order.
//!
//! The parent and a supervisor have a stream socket. First comes one byte that carries the parent's
//! pidfd and perhaps what the child reads; the supervisor answers with [`Answer`]. From then on it is
//! frames, a little-endian `u32` length and that many bytes: the parent sends one [`Order`], and later
//! at most a few kill requests; the supervisor answers `started` or `failed`, and in the end `exited`.
//! Secrets travel here and never in argv.

mod answer;
mod codec;
mod looked;
mod order;
mod report;

pub(crate) use answer::{ANSWER_BYTES, Answer};
pub(crate) use codec::{Frames, Garbled, MAX_FRAME};
pub(crate) use looked::Looked;
pub(crate) use order::{Order, Task};
pub(crate) use report::{Failure, Report};

use codec::{Reader, Writer};

/// The byte that makes a process the nursery, with the parent's pidfd; one that reads anything else
/// was not started by us. Changes with the format.
pub(crate) const NURSERY: u8 = 0xA8;

/// The byte that asks it for a supervisor.
pub(crate) const SUPERVISE: u8 = 0xA9;

/// The byte that asks it for one in a network of its own.
pub(crate) const SUPERVISE_APART: u8 = 0xAA;

/// The byte that asks it to end what supervisors that were killed have left, and to say what is still
/// there then.
pub(crate) const LOOK: u8 = 0xAB;

/// The byte that carries the parent's pidfd and the child's standard input to a supervisor.
pub(crate) const HELLO: u8 = 0xA3;

/// The same, where the second descriptor is the one over which the way out is sent back.
pub(crate) const HELLO_WITH_CHANNEL: u8 = 0xA4;

/// The one request after the order: end the tree, politely for this many milliseconds.
pub(crate) fn encode_kill(grace_ms: u32) -> Vec<u8> {
    let mut w = Writer::default();
    w.u32(grace_ms);
    w.frame()
}

pub(crate) fn decode_kill(payload: &[u8]) -> Result<u32, Garbled> {
    let mut r = Reader::of(payload);
    let grace_ms = r.u32()?;
    r.end()?;
    Ok(grace_ms)
}
