//! Answers, read from bytes.

use bytes::{Buf, Bytes};

use super::ask::VERSION;
use super::attrs::Attrs;

/// The longest answer that is taken; OpenSSH sends no longer one.
pub(super) const MAX_PACKET_BYTES: usize = 256 * 1024;

/// Why the other machine did not do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is no such file, or the path goes through something that is no directory.
    NotFound,
    /// The account may not.
    Denied,
    /// The path cannot be one, most often because a name is too long.
    BadPath,
    /// It failed, in the words of the server, which are few.
    Failed(String),
    /// The server does not do this.
    Unsupported,
    /// The connection is gone, or speaks another language.
    Lost(String),
}

/// The names of the extensions that the server has, or nothing where it speaks another version.
pub(super) fn extensions(packet: Bytes) -> Option<Vec<String>> {
    let mut packet = Packet(packet);
    (packet.byte()? == 2 && packet.number()? == VERSION).then_some(())?;
    let mut names = Vec::new();
    while packet.0.has_remaining() {
        names.push(String::from_utf8_lossy(&packet.text()?).into_owned());
        packet.text()?;
    }
    Some(names)
}

/// An answer.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    Done,
    /// There is no more to read.
    End,
    Fault(Fault),
    Handle(Bytes),
    Data(Bytes),
    Names(Vec<(Bytes, Attrs)>),
    Attrs(Attrs),
}

/// The answer in a packet, and to which question.
pub(super) fn reply(packet: Bytes) -> Option<(u32, Reply)> {
    let mut packet = Packet(packet);
    let code = packet.byte()?;
    let id = packet.number()?;
    let reply = match code {
        101 => status(&mut packet)?,
        102 => Reply::Handle(packet.text()?),
        103 => Reply::Data(packet.text()?),
        104 => {
            let count = packet.number()?;
            let mut names = Vec::new();
            for _ in 0..count {
                let name = packet.text()?;
                // The same in the form of `ls`.
                packet.text()?;
                names.push((name, packet.attrs()?));
            }
            Reply::Names(names)
        }
        105 => Reply::Attrs(packet.attrs()?),
        _ => return None,
    };
    Some((id, reply))
}

fn status(packet: &mut Packet) -> Option<Reply> {
    let code = packet.number()?;
    let said = packet.text().unwrap_or_default();
    let said = || String::from_utf8_lossy(&said).into_owned();
    Some(match code {
        0 => Reply::Done,
        1 => Reply::End,
        2 => Reply::Fault(Fault::NotFound),
        3 => Reply::Fault(Fault::Denied),
        5 => Reply::Fault(Fault::BadPath),
        6 | 7 => Reply::Fault(Fault::Lost(said())),
        8 => Reply::Fault(Fault::Unsupported),
        _ => Reply::Fault(Fault::Failed(said())),
    })
}

/// What is left of an answer; nothing of it is read twice.
pub(super) struct Packet(Bytes);

impl Packet {
    fn byte(&mut self) -> Option<u8> {
        self.0.has_remaining().then(|| self.0.get_u8())
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        (self.0.remaining() >= 4).then(|| self.0.get_u32())
    }

    pub(super) fn long(&mut self) -> Option<u64> {
        (self.0.remaining() >= 8).then(|| self.0.get_u64())
    }

    pub(super) fn text(&mut self) -> Option<Bytes> {
        let length = usize::try_from(self.number()?).ok()?;
        (self.0.remaining() >= length).then(|| self.0.split_to(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::FileKind;
    use proptest::prelude::*;

    #[test]
    fn an_answer_is_read_to_its_end_and_no_further() {
        let attrs = b"\x69\0\0\0\x07\0\0\0\x05\0\0\0\0\0\0\0\x09\0\0\x81\xa4";
        let (id, reply) = reply(Bytes::from_static(attrs)).unwrap();
        let Reply::Attrs(attrs) = reply else {
            panic!("{reply:?}")
        };
        assert_eq!(
            (id, attrs.size, attrs.mode, attrs.kind()),
            (7, 9, 0o100_644, FileKind::File)
        );
        let names = b"\x68\0\0\0\x01\xff\xff\xff\xff\0\0\0\x01a\0\0\0\0\0\0\0\0";
        assert!(super::reply(Bytes::from_static(names)).is_none());
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = reply(Bytes::from(bytes.clone()));
            let _ = extensions(Bytes::from(bytes));
        }
    }
}
