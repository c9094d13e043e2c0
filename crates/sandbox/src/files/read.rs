//! Reading single files.

use outfitter_core::{Bytes, FileChunk, FileStat, FilesError, Hash, Hashing, Range};

use super::cancel::Gone;
use super::error::failed;
use super::limits::{HASH_PIECE, MAX_READ_BYTES};
use super::machine::{Machine, OpenFile};
use super::place::Place;
use super::root::LastLink;

pub(super) fn stat<M: Machine>(place: &Place<'_, M>) -> Result<FileStat, FilesError> {
    Ok(FileStat::from(&place.pin(LastLink::Keep)?.facts))
}

pub(super) fn read<M: Machine>(
    place: &Place<'_, M>,
    range: Range,
) -> Result<FileChunk, FilesError> {
    let file = open(place)?;
    let failed = |failure| place.failed(failure);
    let size = file.facts().map_err(failed)?.bytes;
    let wanted = usize::try_from(range.max.min(MAX_READ_BYTES)).unwrap_or(0);
    // The size is a hint: some files say 0 and have content, others grow.
    let likely = size.saturating_sub(range.from).saturating_add(1);
    let likely = usize::try_from(likely).unwrap_or(usize::MAX);
    let mut bytes = file.read(range.from, wanted.min(likely)).map_err(failed)?;
    if bytes.len() == likely && likely < wanted {
        let from = range.from.saturating_add(bytes.len() as u64);
        bytes.extend(file.read(from, wanted - bytes.len()).map_err(failed)?);
    }
    Ok(FileChunk {
        bytes: Bytes::from(bytes),
        size: file.facts().map_err(failed)?.bytes,
    })
}

pub(super) fn hash<M: Machine>(place: &Place<'_, M>, gone: &Gone) -> Result<Hash, FilesError> {
    hash_file(&open(place)?, &place.shown, gone)
}

/// The hash of all of an open file.
pub(super) fn hash_file(
    file: &impl OpenFile,
    shown: &str,
    gone: &Gone,
) -> Result<Hash, FilesError> {
    let mut hashing = Hashing::new();
    let mut at = 0;
    loop {
        gone.check()?;
        let piece = file.read(at, HASH_PIECE);
        let piece = piece.map_err(|failure| failed(shown, failure))?;
        if piece.is_empty() {
            return Ok(hashing.finish());
        }
        hashing.update(&piece);
        at += piece.len() as u64;
    }
}

fn open<'a, M: Machine>(place: &Place<'a, M>) -> Result<M::File<'a>, FilesError> {
    let pinned = place.pin(LastLink::Follow)?;
    pinned.must_be_file(&place.shown)?;
    let file = place.machine().open(&pinned);
    file.map_err(|failure| place.failed(failure))
}
