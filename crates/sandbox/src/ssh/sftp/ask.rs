//! Questions as bytes.

use bytes::{BufMut, Bytes, BytesMut};

use super::attrs::{HAS_MODE, HAS_OWNER, HAS_SIZE};

pub(super) const VERSION: u32 = 3;

/// The most bytes of a file in one question or answer, which every server takes.
pub(super) const PIECE_BYTES: usize = 32 * 1024;

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
}
