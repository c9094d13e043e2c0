//! Lines out of pieces, each within a bound.

use memchr::memchr;

/// The longest line that is read whole: one message. What is longer is thrown away while it comes,
/// but for its two ends, which may say whose reply it was.
pub(crate) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// How much of the beginning of a line that is too long is kept.
const HEAD_BYTES: usize = 4096;

/// How much of its end.
const TAIL_BYTES: usize = 256;

/// What a buffer may keep between lines.
const IDLE_BYTES: usize = 64 * 1024;

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// Its two ends; all of it would be `bytes` long.
    TooLong {
        head: &'a [u8],
        tail: &'a [u8],
        bytes: usize,
    },
}

/// Collects pieces until lines are whole.
#[derive(Default)]
pub(crate) struct Lines {
    /// A whole line as far as it came, or the head of one that is too long.
    kept: Vec<u8>,
    /// The end of a line that is too long, and how much of it has come.
    over: Option<(Vec<u8>, usize)>,
}

impl Lines {
    /// Takes a piece and gives every line that it ends.
    pub(crate) fn push(&mut self, mut piece: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', piece) {
            let (line, rest) = piece.split_at(end);
            piece = &rest[1..];
            if self.kept.is_empty() && self.over.is_none() {
                // Most lines come in one piece and are not copied.
                each(Line::Whole(without_return(line)));
                continue;
            }
            self.keep(line);
            self.flush(&mut each);
        }
        self.keep(piece);
    }

    /// Gives the last line, which has no end.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.kept.is_empty() || self.over.is_some() {
            self.flush(&mut each);
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        if let Some((tail, bytes)) = &mut self.over {
            *bytes += piece.len();
            tail.extend_from_slice(&piece[piece.len().saturating_sub(TAIL_BYTES)..]);
            tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
            return;
        }
        self.kept.extend_from_slice(piece);
        if self.kept.len() > MAX_LINE_BYTES {
            let tail = self.kept[self.kept.len() - TAIL_BYTES..].to_vec();
            self.over = Some((tail, self.kept.len()));
            self.kept.truncate(HEAD_BYTES);
            self.kept.shrink_to(IDLE_BYTES);
        }
    }

    fn flush(&mut self, each: &mut impl FnMut(Line<'_>)) {
        match self.over.take() {
            None => each(Line::Whole(without_return(&self.kept))),
            Some((tail, bytes)) => each(Line::TooLong {
                head: &self.kept,
                tail: without_return(&tail),
                bytes,
            }),
        }
        self.kept.clear();
        self.kept.shrink_to(IDLE_BYTES);
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        let mut each = |line: Line<'_>| match line {
            Line::Whole(line) => out.push(line.to_vec()),
            Line::TooLong { .. } => out.push(b"too long".to_vec()),
        };
        for piece in pieces {
            lines.push(piece, &mut each);
        }
        lines.finish(&mut each);
        out
    }

    proptest! {
        #[test]
        fn the_same_lines_come_of_any_pieces(text in "[ab\n]{0,60}", cuts in prop::collection::vec(0usize..60, 0..8)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(text.len())).collect();
            cuts.push(text.len());
            cuts.sort_unstable();
            let mut from = 0;
            let mut pieces = Vec::new();
            for at in cuts {
                pieces.push(&text.as_bytes()[from..at]);
                from = at;
            }
            let whole: Vec<Vec<u8>> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
            prop_assert_eq!(lines(&pieces), whole);
        }
    }

    #[test]
    fn a_line_that_is_too_long_keeps_its_ends_and_the_next_is_whole() {
        let mut buffer = Lines::default();
        let mut seen = Vec::new();
        let mut push = |piece: &[u8]| {
            buffer.push(piece, |line| match line {
                Line::Whole(line) => seen.push(String::from_utf8_lossy(line).into_owned()),
                Line::TooLong { head, tail, bytes } => seen.push(format!(
                    "{} … {} of {bytes}",
                    String::from_utf8_lossy(&head[..5]),
                    String::from_utf8_lossy(&tail[tail.len() - 3..])
                )),
            });
        };
        push(b"begin");
        for _ in 0..=(MAX_LINE_BYTES / 65536) {
            push(&[b'.'; 65536]);
        }
        push(b"end\r\nnext\n");
        let total = 5 + (MAX_LINE_BYTES / 65536 + 1) * 65536 + 4;
        assert_eq!(seen, [format!("begin … end of {total}"), "next".to_owned()]);
        assert!(buffer.kept.capacity() <= IDLE_BYTES);
    }
}
