//! A file that is searched, fetched in pieces.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::files::error::Failure;
use crate::ssh::sftp::Handle;

/// How much of a file is asked for at a time.
const PIECE: usize = 1 << 20;

/// The first of it is less: many files are small, and many searches end early.
const FIRST_PIECE: usize = 32 << 10;

/// An open file as a reader, from its start and as far as may be fetched.
pub(super) struct Reader<'a> {
    pub(super) file: Handle<'a>,
    at: u64,
    /// How much more may be fetched.
    left: &'a AtomicU64,
    piece: Vec<u8>,
    given: usize,
    is_over: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: Handle<'a>, left: &'a AtomicU64) -> Self {
        Self {
            file,
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
            let left = self.left.load(Ordering::Relaxed);
            let most = usize::try_from(left).unwrap_or(most).min(most);
            let piece = self.file.read(self.at, most).map_err(Failure::from);
            self.piece = piece.map_err(|failure| io::Error::other(failure.to_string()))?;
            self.given = 0;
            let fetched = self.piece.len() as u64;
            self.at += fetched;
            let left = left.saturating_sub(fetched);
            self.left.store(left, Ordering::Relaxed);
            self.is_over = self.piece.len() < most || left == 0;
        }
        let left = &self.piece[self.given..];
        let length = left.len().min(buffer.len());
        buffer[..length].copy_from_slice(&left[..length]);
        self.given += length;
        Ok(length)
    }
}
