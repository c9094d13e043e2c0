//! Reading single files.

use std::io::{self, Read};

use outfitter_core::{Bytes, FileChunk, FileStat, FilesError, Hash, Hashing, Range};

use super::place::{Place, Seen, said};
use crate::files::cancel::Gone;
use crate::files::limits::MAX_READ_BYTES;
use crate::files::root::LastLink;
use crate::ssh::sftp::{Attrs, Fault, Handle, OpenFlags, Sftp};

/// How much of a file is asked for at a time.
const PIECE: usize = 1 << 20;

/// The first of it is less: many files are small, and many searches end early.
const FIRST_PIECE: usize = 32 << 10;

pub(super) fn stat(place: &Place<'_>) -> Result<FileStat, FilesError> {
    let attrs = place.find(LastLink::Keep)?.attrs;
    Ok(FileStat {
        kind: attrs.kind(),
        size: size_of(&attrs),
        modified_ms: modified_ms(&attrs),
        mode: attrs.mode & 0o7777,
    })
}

pub(super) fn size_of(attrs: &Attrs) -> u64 {
    match attrs.kind() {
        outfitter_core::FileKind::Directory => 0,
        _ => attrs.size,
    }
}

/// SFTP tells whole seconds.
pub(super) fn modified_ms(attrs: &Attrs) -> i64 {
    i64::from(attrs.modified) * 1000
}

pub(super) fn read(place: &Place<'_>, range: Range) -> Result<FileChunk, FilesError> {
    let (_, file) = open(place)?;
    let fault = |fault| place.fault(fault);
    let size = file.stat().map_err(fault)?.size;
    let wanted = usize::try_from(range.max.min(MAX_READ_BYTES)).unwrap_or(0);
    // The size is a hint: some files say 0 and have content, others grow.
    let likely = size.saturating_sub(range.from).saturating_add(1);
    let likely = usize::try_from(likely).unwrap_or(usize::MAX);
    let mut bytes = file.read(range.from, wanted.min(likely)).map_err(fault)?;
    if bytes.len() == likely && likely < wanted {
        let from = range.from.saturating_add(bytes.len() as u64);
        bytes.extend(file.read(from, wanted - bytes.len()).map_err(fault)?);
    }
    let size = file.stat().map_err(fault)?.size;
    Ok(FileChunk {
        bytes: Bytes::from(bytes),
        size,
    })
}

pub(super) fn hash(place: &Place<'_>, gone: &Gone) -> Result<Hash, FilesError> {
    let (_, file) = open(place)?;
    hash_file(&file, gone)?.map_err(|fault| place.fault(fault))
}

/// The hash of all of an open file.
pub(super) fn hash_file(file: &Handle<'_>, gone: &Gone) -> Result<Result<Hash, Fault>, FilesError> {
    let mut hashing = Hashing::new();
    let mut at = 0;
    loop {
        gone.check()?;
        match file.read(at, PIECE) {
            Ok(piece) if piece.is_empty() => return Ok(Ok(hashing.finish())),
            Ok(piece) => {
                hashing.update(&piece);
                at += piece.len() as u64;
            }
            Err(fault) => return Ok(Err(fault)),
        }
    }
}

fn open<'a>(place: &Place<'a>) -> Result<(Seen, Handle<'a>), FilesError> {
    let seen = place.find(LastLink::Follow)?;
    seen.must_be_file(&place.shown)?;
    let file = open_seen(place.sftp(), &seen).map_err(|fault| place.fault(fault))?;
    Ok((seen, file))
}

/// Opens a file for reading, and looks again whether it is one.
pub(super) fn open_seen<'s>(sftp: &'s Sftp, seen: &Seen) -> Result<Handle<'s>, Fault> {
    let file = sftp.open(&seen.real, OpenFlags::Read, 0)?;
    let now = file.stat()?;
    if now.kind() != seen.attrs.kind() || now.owner != seen.attrs.owner {
        return Err(Fault::Failed("it was exchanged meanwhile".to_owned()));
    }
    Ok(file)
}

/// An open file as a reader, from its start and as far as may be fetched.
pub(super) struct Reader<'a> {
    file: &'a Handle<'a>,
    shown: &'a str,
    at: u64,
    /// How much more may be fetched.
    pub(super) left: u64,
    piece: Vec<u8>,
    given: usize,
    is_over: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a Handle<'a>, shown: &'a str, left: u64) -> Self {
        Self {
            file,
            shown,
            at: 0,
            left,
            piece: Vec::new(),
            given: 0,
            is_over: false,
        }
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.piece.len() && !self.is_over {
            let most = if self.at == 0 { FIRST_PIECE } else { PIECE };
            let most = usize::try_from(self.left).unwrap_or(most).min(most);
            let piece = self.file.read(self.at, most);
            self.piece = piece.map_err(|fault| io::Error::other(said(self.shown, fault)))?;
            self.given = 0;
            let fetched = self.piece.len() as u64;
            self.at += fetched;
            self.left = self.left.saturating_sub(fetched);
            self.is_over = self.piece.len() < most || self.left == 0;
        }
        let left = &self.piece[self.given..];
        let length = left.len().min(buffer.len());
        buffer[..length].copy_from_slice(&left[..length]);
        self.given += length;
        Ok(length)
    }
}
