//! A text while it is changed, knowing which parts are still as they were.

use std::collections::VecDeque;
use std::ops::Range;

/// A part of a changed text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// This part of the original.
    Kept(Range<usize>),
    /// Something else.
    New(String),
}

/// A text and what was done to it.
pub(super) struct Draft<'a> {
    original: &'a str,
    pieces: VecDeque<Piece>,
}

/// A part of the present text and what takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) new: String,
}

impl<'a> Draft<'a> {
    pub(super) fn of(original: &'a str) -> Self {
        Self {
            original,
            pieces: VecDeque::from([Piece::Kept(0..original.len())]),
        }
    }

    /// The text as it is now.
    pub(super) fn text(&self) -> String {
        let length = self.pieces.iter().map(Piece::len).sum();
        let mut text = String::with_capacity(length);
        for piece in &self.pieces {
            match piece {
                Piece::Kept(range) => text.push_str(&self.original[range.clone()]),
                Piece::New(new) => text.push_str(new),
            }
        }
        text
    }

    /// Where a part of the original is now; none once something in it was changed.
    pub(super) fn locate(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let mut at = 0;
        for piece in &self.pieces {
            if let Piece::Kept(kept) = piece
                && kept.start <= part.start
                && part.end <= kept.end
            {
                let start = at + part.start - kept.start;
                return Some(start..start + part.len());
            }
            at += piece.len();
        }
        None
    }

    /// Makes the edits, whose ranges ascend and do not overlap.
    pub(super) fn edit(&mut self, edits: Vec<Edit>) {
        let mut rest = std::mem::take(&mut self.pieces);
        let mut at = 0;
        for Edit { range, new } in edits {
            split_off(&mut rest, range.start - at, |piece| {
                self.pieces.push_back(piece);
            });
            split_off(&mut rest, range.len(), drop);
            if !new.is_empty() {
                self.pieces.push_back(Piece::New(new));
            }
            at = range.end;
        }
        self.pieces.extend(rest);
    }
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Kept(range) => range.len(),
            Self::New(text) => text.len(),
        }
    }

    fn split(self, at: usize) -> (Self, Self) {
        match self {
            Self::Kept(range) => {
                let middle = range.start + at;
                (
                    Self::Kept(range.start..middle),
                    Self::Kept(middle..range.end),
                )
            }
            Self::New(mut text) => {
                let after = text.split_off(at);
                (Self::New(text), Self::New(after))
            }
        }
    }
}

/// Takes the first `length` bytes off the pieces.
fn split_off(pieces: &mut VecDeque<Piece>, mut length: usize, mut take: impl FnMut(Piece)) {
    while length > 0
        && let Some(piece) = pieces.pop_front()
    {
        if piece.len() <= length {
            length -= piece.len();
            take(piece);
        } else {
            let (before, after) = piece.split(length);
            pieces.push_front(after);
            take(before);
            length = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edit(range: Range<usize>, new: &str) -> Edit {
        Edit {
            range,
            new: new.to_owned(),
        }
    }

    #[test]
    fn a_part_is_found_where_it_went_and_not_once_it_was_changed() {
        let mut draft = Draft::of("one\ntwo\nthree\n");
        draft.edit(vec![edit(0..3, "zero and one")]);
        assert_eq!(draft.text(), "zero and one\ntwo\nthree\n");
        assert_eq!(draft.locate(&(4..8)), Some(13..17));
        assert_eq!(draft.locate(&(0..4)), None);
        draft.edit(vec![edit(13..17, "")]);
        assert_eq!(draft.text(), "zero and one\nthree\n");
        assert_eq!(draft.locate(&(4..8)), None);
        assert_eq!(draft.locate(&(8..14)), Some(13..19));
    }

    #[test]
    fn an_empty_text_has_a_place_at_its_start() {
        assert_eq!(Draft::of("").locate(&(0..0)), Some(0..0));
    }

    proptest! {
        #[test]
        fn edits_do_what_replacing_ranges_of_a_string_does(
            text in "[a-d]{0,20}", rounds in prop::collection::vec((0_usize..20, 0_usize..6, "[x-z]{0,3}"), 0..6),
        ) {
            let mut draft = Draft::of(&text);
            let mut plain = text.clone();
            for (start, length, new) in rounds {
                let start = start.min(plain.len());
                let end = (start + length).min(plain.len());
                plain.replace_range(start..end, &new);
                draft.edit(vec![edit(start..end, &new)]);
                prop_assert_eq!(draft.text(), plain.clone());
            }
        }
    }
}
