//! The way of a backend without ranges: the end of the output is looked at again and again, and
//! what is new in it is found by how much was printed in all, where the backend says that, else by
//! comparing. Where more is printed between two looks than one look shows, the middle is missed,
//! and so may be some of a text that repeats itself; what was missed is counted, at the latest when
//! the command has ended.

use bytes::{Bytes, BytesMut};
use outfitter_core::{Exit, OutputChunk, Stream};

/// How much of the end is looked at.
pub(super) const LOOK_BYTES: usize = 64 << 10;

/// What the last look showed.
#[derive(Debug, Clone, Default)]
pub(super) struct Tails {
    /// How much was printed in all, where the backend says it.
    total: u64,
    stdout: Seen,
    stderr: Seen,
}

/// What was seen of one stream.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// The end of it when it was last looked at.
    end: Bytes,
    /// How much of it was shown, or said to be missed.
    bytes: u64,
}

/// What a look shows that the one before did not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fresh {
    /// Bytes that are missed ahead of it, and in which stream.
    pub(super) missed: Option<(Stream, u64)>,
    /// It.
    pub(super) pieces: Vec<(Stream, Bytes)>,
}

impl Tails {
    /// What a new look shows that the last one did not.
    pub(super) fn take(&mut self, look: &OutputChunk) -> Fresh {
        let fresh = if look.next.0 > 0 {
            self.by_count(look)
        } else {
            self.by_comparing(look)
        };
        for (stream, bytes) in fresh
            .pieces
            .iter()
            .map(|(stream, piece)| (*stream, piece.len() as u64))
            .chain(fresh.missed)
        {
            if let Some(seen) = self.seen(stream) {
                seen.bytes += bytes;
            }
        }
        fresh
    }

    /// What was never seen of a command that has ended, by how much it printed.
    pub(super) fn missed(&mut self, exit: &Exit) -> Vec<(Stream, u64)> {
        let printed = [
            (Stream::Stdout, exit.stdout_bytes),
            (Stream::Stderr, exit.stderr_bytes),
        ];
        let mut missed = Vec::new();
        for (stream, printed) in printed {
            if let Some(seen) = self.seen(stream) {
                let bytes = printed.saturating_sub(seen.bytes);
                seen.bytes += bytes;
                if bytes > 0 {
                    missed.push((stream, bytes));
                }
            }
        }
        missed
    }

    fn seen(&mut self, stream: Stream) -> Option<&mut Seen> {
        match stream {
            Stream::Stdout => Some(&mut self.stdout),
            Stream::Stderr => Some(&mut self.stderr),
            Stream::Info => None,
        }
    }

    fn by_count(&mut self, look: &OutputChunk) -> Fresh {
        let new = look.next.0.saturating_sub(self.total);
        self.total = self.total.max(look.next.0);
        let here = length(look);
        let mut skip = here.saturating_sub(new);
        let mut missed = new.saturating_sub(here);
        let mut pieces = Vec::new();
        for (stream, piece) in &look.pieces {
            let passed = skip.min(piece.len() as u64);
            skip -= passed;
            let mut piece = piece.slice(usize::try_from(passed).unwrap_or(piece.len())..);
            if missed > 0 && pieces.is_empty() {
                // The look may begin inside a character.
                let inside = piece
                    .iter()
                    .take(3)
                    .take_while(|byte| **byte & 0xc0 == 0x80);
                let inside = inside.count();
                missed += inside as u64;
                piece = piece.slice(inside..);
            }
            if !piece.is_empty() {
                pieces.push((*stream, piece));
            }
        }
        let first = pieces.first().map_or(Stream::Stdout, |(stream, _)| *stream);
        Fresh {
            missed: (missed > 0).then_some((first, missed)),
            pieces,
        }
    }

    fn by_comparing(&mut self, look: &OutputChunk) -> Fresh {
        let mut pieces = Vec::new();
        for (stream, known) in [
            (Stream::Stdout, &mut self.stdout.end),
            (Stream::Stderr, &mut self.stderr.end),
        ] {
            let now = joined(look, stream);
            let new = now.slice(overlap(known, &now)..);
            if !new.is_empty() {
                pieces.push((stream, new));
            }
            *known = now;
        }
        Fresh {
            missed: None,
            pieces,
        }
    }
}

/// How many bytes a look shows.
pub(super) fn length(look: &OutputChunk) -> u64 {
    look.pieces
        .iter()
        .map(|(_, piece)| piece.len() as u64)
        .sum()
}

fn joined(look: &OutputChunk, wanted: Stream) -> Bytes {
    let mut pieces = look.pieces.iter().filter(|(stream, _)| *stream == wanted);
    match (pieces.next(), pieces.next()) {
        (None, _) => Bytes::new(),
        (Some((_, only)), None) => only.clone(),
        (Some((_, first)), Some((_, second))) => {
            let mut all = BytesMut::from(&first[..]);
            all.extend_from_slice(second);
            for (_, piece) in pieces {
                all.extend_from_slice(piece);
            }
            all.freeze()
        }
    }
}

/// The length of the longest end of `before` that `now` begins with (Knuth, Morris and Pratt, so
/// that it is linear whatever is printed).
fn overlap(before: &[u8], now: &[u8]) -> usize {
    let mut borders = vec![0; now.len()];
    let mut length = 0;
    for at in 1..now.len() {
        while length > 0 && now[at] != now[length] {
            length = borders[length - 1];
        }
        if now[at] == now[length] {
            length += 1;
        }
        borders[at] = length;
    }
    let mut matched = 0;
    for byte in before {
        if matched == now.len() {
            matched = borders.last().copied().unwrap_or(0);
        }
        while matched > 0 && now.get(matched) != Some(byte) {
            matched = borders[matched - 1];
        }
        if now.get(matched) == Some(byte) {
            matched += 1;
        }
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("", "abc", 0)]
    #[case("abc", "abc", 3)]
    #[case("abc", "abcdef", 3)]
    #[case("abcdef", "defgh", 3)]
    #[case("abc", "xyz", 0)]
    #[case("abc", "", 0)]
    #[case("aaaa", "aa", 2)]
    fn the_overlap_is_the_longest_end_that_is_a_start(
        #[case] before: &str,
        #[case] now: &str,
        #[case] length: usize,
    ) {
        assert_eq!(overlap(before.as_bytes(), now.as_bytes()), length);
    }

    proptest! {
        #[test]
        fn the_overlap_is_what_trying_every_length_finds(before in "[ab]{0,12}", now in "[ab]{0,12}") {
            let longest = (0..=before.len().min(now.len()))
                .rev()
                .find(|length| now.starts_with(&before[before.len() - length..]))
                .unwrap();
            prop_assert_eq!(overlap(before.as_bytes(), now.as_bytes()), longest);
        }
    }
}
