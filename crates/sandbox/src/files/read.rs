//! Reading single files.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use outfitter_core::{Bytes, FileChunk, FileStat, FilesError, Hash, Hashing, Range};
use rustix::fs::OFlags;

use super::cancel::Gone;
use super::error::{failed, failed_io};
use super::handle::{Pinned, facts_of};
use super::limits::{HASH_PIECE, MAX_READ_BYTES};
use super::place::Place;
use super::root::LastLink;

pub(super) fn stat(place: &Place<'_>) -> Result<FileStat, FilesError> {
    Ok(facts_of(&place.pin(LastLink::Keep)?.stat))
}

pub(super) fn read(place: &Place<'_>, range: Range) -> Result<FileChunk, FilesError> {
    let file = open(place)?;
    let failed = |error| failed_io(&place.shown, error);
    let size = file.metadata().map_err(failed)?.len();
    let wanted = range.max.min(MAX_READ_BYTES);
    // The size is a hint: some files say 0 and have content, others grow.
    let likely = wanted.min(size.saturating_sub(range.from).saturating_add(1));
    let mut bytes = Vec::with_capacity(usize::try_from(likely).unwrap_or(0));
    let mut piece = vec![0; HASH_PIECE];
    loop {
        let have = bytes.len() as u64;
        let left = usize::try_from(wanted - have).unwrap_or(piece.len());
        let room = left.min(piece.len());
        let Some(at) = range.from.checked_add(have) else {
            break;
        };
        match read_at(&file, &mut piece[..room], at).map_err(failed)? {
            0 => break,
            got => bytes.extend_from_slice(&piece[..got]),
        }
    }
    let size = file.metadata().map_err(failed)?.len();
    Ok(FileChunk {
        bytes: Bytes::from(bytes),
        size,
    })
}

pub(super) fn hash(place: &Place<'_>, gone: &Gone) -> Result<Hash, FilesError> {
    hash_file(&open(place)?, &place.shown, gone)
}

/// The hash of all of an open file, wherever its cursor is.
pub(super) fn hash_file(file: &File, shown: &str, gone: &Gone) -> Result<Hash, FilesError> {
    let mut hashing = Hashing::new();
    let mut piece = vec![0; HASH_PIECE];
    let mut at = 0;
    loop {
        gone.check()?;
        match read_at(file, &mut piece, at).map_err(|error| failed_io(shown, error))? {
            0 => return Ok(hashing.finish()),
            got => {
                hashing.update(&piece[..got]);
                at += got as u64;
            }
        }
    }
}

pub(super) fn open_pinned(pinned: &Pinned, shown: &str) -> Result<File, FilesError> {
    pinned
        .open(OFlags::RDONLY)
        .map_err(|errno| failed(shown, errno))
}

fn open(place: &Place<'_>) -> Result<File, FilesError> {
    let pinned = place.pin(LastLink::Follow)?;
    pinned.must_be_file(&place.shown)?;
    open_pinned(&pinned, &place.shown)
}

fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    // Offsets beyond what the system can express lie behind every end.
    if i64::try_from(at).is_err() {
        return Ok(0);
    }
    loop {
        match file.read_at(buffer, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
