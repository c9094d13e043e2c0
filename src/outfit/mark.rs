//! The mark of a deletion that has begun, in the file that holds its session.
//!
//! It is a hole of a length that is made for nothing else: a hole takes no room, so that a session can
//! be deleted on a full disk to make some. The length tells the store that had the log, so that a log
//! which is not in another store is not taken for one that is gone. Whatever else lies in the file is
//! no order to delete.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use outfitter_core::Hash;
use rustix::fs::OFlags;

/// More than what anybody writes into such a file by accident.
const SHORTEST: u64 = 1 << 16;

/// The most of a file that is read at a time.
const PIECE: usize = 1 << 14;

/// The mark that a deletion makes over one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoreMark(u16);

/// What a file of a session has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing, as it was made.
    Nothing,
    /// The mark of a deletion.
    Mark(StoreMark),
    /// What nobody here has put there.
    Strange,
}

impl StoreMark {
    /// Of the store with this file, or of one in memory. A data directory may be moved with its
    /// store.
    pub(super) fn of(store_file: Option<&Path>, data_dir: &Path) -> Self {
        let inside = |file: &Path| {
            let data_dir = std::path::absolute(data_dir).ok()?;
            Some(file.strip_prefix(data_dir).ok()?.to_owned())
        };
        let name = store_file.map(|file| inside(file).unwrap_or_else(|| file.to_owned()));
        let name = name.map(|name| format!("file {}", name.display()));
        let hash = Hash::of(name.as_deref().unwrap_or("memory")).to_string();
        let digits = hash.rsplit(':').next().and_then(|hex| hex.get(..4));
        Self(
            digits
                .and_then(|hex| u16::from_str_radix(hex, 16).ok())
                .unwrap_or_default(),
        )
    }

    /// Never even: what a disk makes of a file by itself is as long as some of its blocks.
    pub(super) fn length(self) -> u64 {
        SHORTEST + 2 * u64::from(self.0) + 1
    }

    fn of_length(length: u64) -> Option<Self> {
        let over = length.checked_sub(SHORTEST + 1)?;
        (over % 2 == 0).then(|| u16::try_from(over / 2).ok().map(Self))?
    }
}

/// What an open file of which this is known has in it.
pub(super) fn found(file: &File, metadata: &Metadata) -> io::Result<Found> {
    if !metadata.is_file() {
        return Ok(Found::Strange);
    }
    let length = metadata.len();
    Ok(match StoreMark::of_length(length) {
        _ if length == 0 => Found::Nothing,
        Some(mark) if is_hole(file, length)? => Found::Mark(mark),
        Some(_) | None => Found::Strange,
    })
}

/// The same of a file with this name, which may not be there.
pub(super) fn found_at(path: &Path) -> Found {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() == 0 => return Found::Nothing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Nothing,
        Ok(metadata) if !metadata.is_file() => return Found::Strange,
        Ok(_) | Err(_) => {}
    }
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path);
    match opened.and_then(|file| found(&file, &file.metadata()?)) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
        Err(_) => Found::Strange,
    }
}

fn is_hole(file: &File, length: u64) -> io::Result<bool> {
    let mut piece = [0; PIECE];
    let mut at = 0;
    while at < length {
        let read = file.read_at(&mut piece, at)?;
        if read == 0 || piece.iter().take(read).any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += read as u64;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn mark() -> StoreMark {
        StoreMark::of(Some(Path::new("/data/outfitter.db")), Path::new("/data"))
    }

    #[rstest]
    #[case::a_line(b"4711\n".to_vec())]
    #[case::one_zero(vec![0])]
    #[case::a_block_of_zeros(vec![0; 1 << 17])]
    #[case::the_length_alone(vec![b'x'; usize::try_from(mark().length()).unwrap()])]
    #[case::nearly_the_length(vec![0; usize::try_from(mark().length()).unwrap() - 1])]
    fn any_byte_in_the_file_of_a_session_was_an_order_to_delete_it(#[case] bytes: Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.lock");
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(found_at(&path), Found::Strange);
    }

    #[test]
    fn what_is_no_file_of_its_own_is_no_mark() {
        let dir = tempfile::tempdir().unwrap();
        let (marked, link) = (dir.path().join("marked"), dir.path().join("link"));
        File::create(&marked)
            .unwrap()
            .set_len(mark().length())
            .unwrap();
        std::os::unix::fs::symlink(&marked, &link).unwrap();
        assert_eq!(found_at(&marked), Found::Mark(mark()));
        assert_eq!(found_at(&link), Found::Strange);
        assert_eq!(found_at(dir.path()), Found::Strange);
        assert_eq!(found_at(&dir.path().join("none")), Found::Nothing);
    }

    #[test]
    fn a_mark_tells_its_store_which_may_move_with_the_data_directory() {
        let moved = StoreMark::of(Some(Path::new("/new/outfitter.db")), Path::new("/new"));
        assert_eq!(moved, mark());
        let other = StoreMark::of(Some(Path::new("/new/outfitter.db")), Path::new("/data"));
        let memory = StoreMark::of(None, Path::new("/data"));
        assert_ne!(other, mark());
        assert_ne!(memory, mark());
        for mark in [mark(), other, memory, StoreMark(0), StoreMark(u16::MAX)] {
            assert_eq!(StoreMark::of_length(mark.length()), Some(mark));
        }
    }
}
