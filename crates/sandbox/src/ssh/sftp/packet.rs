//! Questions and answers as bytes.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use outfitter_core::FileKind;

/// The longest answer that is taken; OpenSSH sends no longer one.
pub(super) const MAX_PACKET_BYTES: usize = 256 * 1024;

/// The most bytes of a file in one question or answer, which every server takes.
pub(super) const PIECE_BYTES: usize = 32 * 1024;

const VERSION: u32 = 3;

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

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenFlags {
    Read,
    Write,
    Append,
    /// For writing, and nothing may have the name.
    New,
}

impl OpenFlags {
    fn bits(self) -> u32 {
        match self {
            Self::Read => 0x01,
            Self::Write => 0x02,
            Self::Append => 0x02 | 0x04,
            Self::New => 0x02 | 0x08 | 0x20,
        }
    }
}

/// Facts of a file. What the server does not say is 0, and of type nothing that is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Attrs {
    pub(crate) size: u64,
    pub(crate) owner: (u32, u32),
    pub(crate) mode: u32,
    /// Unix seconds.
    pub(crate) modified: u32,
}

impl Attrs {
    pub(crate) fn kind(&self) -> FileKind {
        match self.mode & 0o170_000 {
            0o100_000 => FileKind::File,
            0o040_000 => FileKind::Directory,
            0o120_000 => FileKind::Symlink,
            _ => FileKind::Special,
        }
    }
}

const HAS_SIZE: u32 = 0x01;
const HAS_OWNER: u32 = 0x02;
const HAS_MODE: u32 = 0x04;
const HAS_TIMES: u32 = 0x08;
const HAS_MORE: u32 = 0x8000_0000;

/// A question.
#[derive(Debug, Clone)]
pub(super) enum Ask<'a> {
    Lstat(&'a str),
    Readlink(&'a str),
    Open {
        path: &'a str,
        flags: OpenFlags,
        mode: u32,
    },
    Close(&'a [u8]),
    Read {
        handle: &'a [u8],
        at: u64,
        most: u32,
    },
    Write {
        handle: &'a [u8],
        at: u64,
        bytes: &'a [u8],
    },
    Fstat(&'a [u8]),
    SetMode {
        handle: &'a [u8],
        mode: u32,
    },
    SetOwner {
        handle: &'a [u8],
        owner: (u32, u32),
    },
    Truncate {
        handle: &'a [u8],
        size: u64,
    },
    SetModeOf {
        path: &'a str,
        mode: u32,
    },
    Opendir(&'a str),
    Readdir(&'a [u8]),
    Remove(&'a str),
    Mkdir {
        path: &'a str,
        mode: u32,
    },
    Rmdir(&'a str),
    /// To a name that nothing has.
    Rename {
        from: &'a str,
        to: &'a str,
    },
    Symlink {
        target: &'a str,
        path: &'a str,
    },
    /// `posix-rename@openssh.com`: replaces what has the name, in one step.
    Replace {
        from: &'a str,
        to: &'a str,
    },
    /// `hardlink@openssh.com`.
    Hardlink {
        from: &'a str,
        to: &'a str,
    },
    /// `fsync@openssh.com`.
    Sync(&'a [u8]),
}

impl Ask<'_> {
    /// Whether asking again does no harm, and needs nothing of the connection it was asked on.
    pub(super) fn may_be_repeated(&self) -> bool {
        matches!(
            self,
            Self::Lstat(_)
                | Self::Readlink(_)
                | Self::Opendir(_)
                | Self::Open {
                    flags: OpenFlags::Read,
                    ..
                }
        )
    }

    pub(super) fn write(&self, id: u32, out: &mut BytesMut) {
        let start = out.len();
        out.put_u32(0);
        out.put_u8(self.code());
        out.put_u32(id);
        match self {
            Self::Lstat(path)
            | Self::Readlink(path)
            | Self::Opendir(path)
            | Self::Remove(path)
            | Self::Rmdir(path) => put(out, path),
            Self::Open { path, flags, mode } => {
                put(out, path);
                out.put_u32(flags.bits());
                put_mode(out, *mode);
            }
            Self::Close(handle) | Self::Fstat(handle) | Self::Readdir(handle) => put(out, handle),
            Self::Read { handle, at, most } => {
                put(out, handle);
                out.put_u64(*at);
                out.put_u32(*most);
            }
            Self::Write { handle, at, bytes } => {
                put(out, handle);
                out.put_u64(*at);
                put(out, bytes);
            }
            Self::SetMode { handle, mode } => {
                put(out, handle);
                put_mode(out, *mode);
            }
            Self::SetOwner { handle, owner } => {
                put(out, handle);
                out.put_u32(HAS_OWNER);
                out.put_u32(owner.0);
                out.put_u32(owner.1);
            }
            Self::Truncate { handle, size } => {
                put(out, handle);
                out.put_u32(HAS_SIZE);
                out.put_u64(*size);
            }
            Self::SetModeOf { path, mode } | Self::Mkdir { path, mode } => {
                put(out, path);
                put_mode(out, *mode);
            }
            Self::Rename { from, to } => {
                put(out, from);
                put(out, to);
            }
            // OpenSSH takes the two the other way round than the draft, and everybody follows.
            Self::Symlink { target, path } => {
                put(out, target);
                put(out, path);
            }
            Self::Replace { from, to } => {
                put(out, POSIX_RENAME);
                put(out, from);
                put(out, to);
            }
            Self::Hardlink { from, to } => {
                put(out, HARDLINK);
                put(out, from);
                put(out, to);
            }
            Self::Sync(handle) => {
                put(out, FSYNC);
                put(out, handle);
            }
        }
        let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn code(&self) -> u8 {
        match self {
            Self::Open { .. } => 3,
            Self::Close(_) => 4,
            Self::Read { .. } => 5,
            Self::Write { .. } => 6,
            Self::Lstat(_) => 7,
            Self::Fstat(_) => 8,
            Self::SetModeOf { .. } => 9,
            Self::SetMode { .. } | Self::SetOwner { .. } | Self::Truncate { .. } => 10,
            Self::Opendir(_) => 11,
            Self::Readdir(_) => 12,
            Self::Remove(_) => 13,
            Self::Mkdir { .. } => 14,
            Self::Rmdir(_) => 15,
            Self::Rename { .. } => 18,
            Self::Readlink(_) => 19,
            Self::Symlink { .. } => 20,
            Self::Replace { .. } | Self::Hardlink { .. } | Self::Sync(_) => 200,
        }
    }
}

pub(super) const POSIX_RENAME: &str = "posix-rename@openssh.com";
const HARDLINK: &str = "hardlink@openssh.com";
const FSYNC: &str = "fsync@openssh.com";

/// The first word, to which the answer is the version and its extensions.
pub(super) fn hello() -> Bytes {
    let mut out = BytesMut::new();
    out.put_u32(5);
    out.put_u8(1);
    out.put_u32(VERSION);
    out.freeze()
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

struct Packet(Bytes);

impl Packet {
    fn byte(&mut self) -> Option<u8> {
        self.0.has_remaining().then(|| self.0.get_u8())
    }

    fn number(&mut self) -> Option<u32> {
        (self.0.remaining() >= 4).then(|| self.0.get_u32())
    }

    fn long(&mut self) -> Option<u64> {
        (self.0.remaining() >= 8).then(|| self.0.get_u64())
    }

    fn text(&mut self) -> Option<Bytes> {
        let length = usize::try_from(self.number()?).ok()?;
        (self.0.remaining() >= length).then(|| self.0.split_to(length))
    }

    fn attrs(&mut self) -> Option<Attrs> {
        let has = self.number()?;
        let mut attrs = Attrs::default();
        if has & HAS_SIZE != 0 {
            attrs.size = self.long()?;
        }
        if has & HAS_OWNER != 0 {
            attrs.owner = (self.number()?, self.number()?);
        }
        if has & HAS_MODE != 0 {
            attrs.mode = self.number()?;
        }
        if has & HAS_TIMES != 0 {
            self.number()?;
            attrs.modified = self.number()?;
        }
        if has & HAS_MORE != 0 {
            for _ in 0..self.number()? {
                self.text()?;
                self.text()?;
            }
        }
        Some(attrs)
    }
}

fn put(out: &mut BytesMut, text: impl AsRef<[u8]>) {
    let text = text.as_ref();
    out.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
    out.put_slice(text);
}

fn put_mode(out: &mut BytesMut, mode: u32) {
    out.put_u32(HAS_MODE);
    out.put_u32(mode);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_question_has_its_length_its_code_and_its_number() {
        let mut out = BytesMut::new();
        Ask::Lstat("a").write(7, &mut out);
        assert_eq!(&out[..], b"\0\0\0\x0a\x07\0\0\0\x07\0\0\0\x01a");
        out.clear();
        let ask = Ask::Replace { from: "a", to: "b" };
        ask.write(1, &mut out);
        assert_eq!(out[4], 200);
        assert_eq!(out.len(), 4 + 1 + 4 + 4 + POSIX_RENAME.len() + 5 + 5);
    }

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

    #[test]
    fn what_has_no_type_is_nothing_that_is_opened() {
        assert_eq!(Attrs::default().kind(), FileKind::Special);
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = reply(Bytes::from(bytes.clone()));
            let _ = extensions(Bytes::from(bytes));
        }
    }
}
