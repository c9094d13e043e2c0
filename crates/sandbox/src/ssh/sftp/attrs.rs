//! Facts of a file as bytes.

use outfitter_core::FileKind;

use super::reply::Packet;

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

pub(super) const HAS_SIZE: u32 = 0x01;
pub(super) const HAS_OWNER: u32 = 0x02;
pub(super) const HAS_MODE: u32 = 0x04;
const HAS_TIMES: u32 = 0x08;
const HAS_MORE: u32 = 0x8000_0000;

impl Packet {
    pub(super) fn attrs(&mut self) -> Option<Attrs> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_type_is_nothing_that_is_opened() {
        assert_eq!(Attrs::default().kind(), FileKind::Special);
    }
}
