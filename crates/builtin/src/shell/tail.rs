//! The way of a backend without ranges: the end of the output is looked at again and again, and
//! what is new in it is found by comparing. Where more is printed between two looks than one look
//! shows, the middle is missed; where a text repeats itself, some of it may be.

use bytes::{Bytes, BytesMut};
use outfitter_core::{OutputChunk, Stream};

/// How much of the end is looked at.
pub(super) const LOOK_BYTES: usize = 64 << 10;

/// What the last look showed.
#[derive(Debug, Clone, Default)]
pub(super) struct Tails {
    stdout: Bytes,
    stderr: Bytes,
}

impl Tails {
    /// What a new look shows that the last one did not.
    pub(super) fn take(&mut self, look: &OutputChunk) -> Vec<(Stream, Bytes)> {
        let mut fresh = Vec::new();
        for (stream, known) in [
            (Stream::Stdout, &mut self.stdout),
            (Stream::Stderr, &mut self.stderr),
        ] {
            let now = joined(look, stream);
            let new = now.slice(overlap(known, &now)..);
            if !new.is_empty() {
                fresh.push((stream, new));
            }
            *known = now;
        }
        fresh
    }
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
