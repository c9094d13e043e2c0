//! Numbers, strings and lists in frames, and frames in a stream.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// No frame is longer: a specification is bounded by what `execve` takes anyway.
pub(crate) const MAX_FRAME: usize = 16 * 1024 * 1024;

/// A frame that does not parse.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Garbled;

/// What a frame is written into.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, value: &[u8]) {
        self.u32(u32::try_from(value.len()).unwrap_or(u32::MAX));
        self.0.extend_from_slice(value);
    }

    pub(super) fn paths(&mut self, paths: &[PathBuf]) {
        self.u32(u32::try_from(paths.len()).unwrap_or(u32::MAX));
        for path in paths {
            self.bytes(path.as_os_str().as_bytes());
        }
    }

    /// The bytes with their length in front.
    pub(super) fn frame(self) -> Vec<u8> {
        let mut framed = Vec::with_capacity(self.0.len() + 4);
        framed.extend_from_slice(
            &u32::try_from(self.0.len())
                .unwrap_or(u32::MAX)
                .to_le_bytes(),
        );
        framed.extend_from_slice(&self.0);
        framed
    }
}

/// What is left to be read of a frame.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn of(payload: &'a [u8]) -> Self {
        Self(payload)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Garbled> {
        let (head, tail) = self.0.split_at_checked(len).ok_or(Garbled)?;
        self.0 = tail;
        Ok(head)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Garbled> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u32(&mut self) -> Result<u32, Garbled> {
        let bytes = self.take(4)?.try_into().map_err(|_| Garbled)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub(super) fn u64(&mut self) -> Result<u64, Garbled> {
        let bytes = self.take(8)?.try_into().map_err(|_| Garbled)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Garbled> {
        let len = self.u32()? as usize;
        self.take(len)
    }

    pub(super) fn os_string(&mut self) -> Result<OsString, Garbled> {
        Ok(OsString::from_vec(self.bytes()?.to_vec()))
    }

    pub(super) fn list<T>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, Garbled>,
    ) -> Result<Vec<T>, Garbled> {
        let count = self.u32()?;
        (0..count).map(|_| one(self)).collect()
    }

    pub(super) fn paths(&mut self) -> Result<Vec<PathBuf>, Garbled> {
        self.list(|r| r.os_string().map(PathBuf::from))
    }

    pub(super) fn end(&self) -> Result<(), Garbled> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Garbled)
        }
    }
}

/// Collects bytes of a stream socket until frames are whole.
#[derive(Debug, Default)]
pub(crate) struct Frames(Vec<u8>);

impl Frames {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next whole frame's payload, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Garbled> {
        let Some((head, rest)) = self.0.split_at_checked(4) else {
            return Ok(None);
        };
        let len = u32::from_le_bytes(head.try_into().map_err(|_| Garbled)?) as usize;
        if len > MAX_FRAME {
            return Err(Garbled);
        }
        if rest.len() < len {
            return Ok(None);
        }
        let payload = rest[..len].to_vec();
        self.0.drain(..4 + len);
        Ok(Some(payload))
    }
}
