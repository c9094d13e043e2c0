//! Line endings: text is searched as if every line ended in a line feed alone, and what is written
//! ends its lines as its surroundings do.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memrchr;

/// A text without the carriage returns of its line endings, and the way back.
pub(super) struct View<'a> {
    pub(super) text: Cow<'a, str>,
    /// Where in `text` a line feed stands that had a carriage return before it.
    returns: Vec<usize>,
}

impl<'a> View<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if !text.contains("\r\n") {
            return Self {
                text: Cow::Borrowed(text),
                returns: Vec::new(),
            };
        }
        let mut plain = String::with_capacity(text.len());
        let mut returns = Vec::new();
        let mut lines = text.split("\r\n").peekable();
        while let Some(line) = lines.next() {
            plain.push_str(line);
            if lines.peek().is_some() {
                returns.push(plain.len());
                plain.push('\n');
            }
        }
        Self {
            text: Cow::Owned(plain),
            returns,
        }
    }

    /// The same part in the text with its carriage returns.
    pub(super) fn real(&self, part: Range<usize>) -> Range<usize> {
        let real = |at: usize| at + self.returns.partition_point(|feed| *feed < at);
        real(part.start)..real(part.end)
    }
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// A line feed.
    Lf,
    /// Carriage return and line feed.
    CrLf,
}

impl Ending {
    /// How lines end in and around a part of a text: as the first line that ends in the part
    /// does, else as the line does that it stands in, else as the line before.
    pub(super) fn around(text: &str, part: &Range<usize>) -> Self {
        let inside = first_ending(&text[part.clone()]);

        let after = || first_ending(&text[part.end..]);
        let before = || text[..part.start].rfind('\n').map(|at| ending_at(text, at));
        inside.or_else(after).or_else(before).unwrap_or(Self::Lf)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// New text with these line endings. Where lines end in a line feed alone it stays as it is.
    pub(super) fn write(self, new: &str) -> String {
        match self {
            Self::Lf => new.to_owned(),
            Self::CrLf => new.replace("\r\n", "\n").replace('\n', "\r\n"),
        }
    }
}

/// How the last line break ended of a text that passes by in pieces.
#[derive(Debug, Default)]
pub(super) struct LastEnding {
    last: Option<Ending>,
    /// The last byte of the piece before.
    before: Option<u8>,
}

impl LastEnding {
    /// A piece, in an encoding in which a line feed is a line feed only.
    pub(super) fn push(&mut self, piece: &[u8]) {
        if let Some(at) = memrchr(b'\n', piece) {
            let before = at.checked_sub(1).map_or(self.before, |at| Some(piece[at]));
            self.last = Some(match before {
                Some(b'\r') => Ending::CrLf,
                Some(_) | None => Ending::Lf,
            });
        }
        self.before = piece.last().copied().or(self.before);
    }

    /// That of the text; a line feed for one without any.
    pub(super) fn finish(self) -> Ending {
        self.last.unwrap_or(Ending::Lf)
    }
}

fn first_ending(text: &str) -> Option<Ending> {
    text.find('\n').map(|at| ending_at(text, at))
}

fn ending_at(text: &str, feed: usize) -> Ending {
    if text[..feed].ends_with('\r') {
        Ending::CrLf
    } else {
        Ending::Lf
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_part_of_the_view_is_the_same_part_of_the_text(text in "([ab]|\r|\n|\r\n){0,12}") {
            let view = View::of(&text);
            prop_assert_eq!(view.text.as_ref(), text.replace("\r\n", "\n"));
            for start in 0..=view.text.len() {
                for end in start..=view.text.len() {
                    let real = view.real(start..end);
                    prop_assert_eq!(text[real].replace("\r\n", "\n"), &view.text[start..end]);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_last_ending_is_found_however_the_text_is_cut(
            text in "([ab]|\r|\n|\r\n){0,12}", step in 1_usize..5,
        ) {
            let mut last = LastEnding::default();
            text.as_bytes().chunks(step).for_each(|piece| last.push(piece));
            let end = text.len();
            prop_assert_eq!(last.finish(), Ending::around(&text, &(end..end)));
        }
    }

    #[test]
    fn new_lines_end_as_those_around_them() {
        let mixed = "a\r\nb\nc\r\nd";
        assert_eq!(Ending::around(mixed, &(0..1)), Ending::CrLf);
        assert_eq!(Ending::around(mixed, &(3..4)), Ending::Lf);
        assert_eq!(Ending::around(mixed, &(8..9)), Ending::CrLf);
        assert_eq!(Ending::around("no line ends", &(0..2)), Ending::Lf);
        assert_eq!(Ending::CrLf.write("x\ny\r\nz"), "x\r\ny\r\nz");
        assert_eq!(Ending::Lf.write("x\ny\r\nz"), "x\ny\r\nz");
    }
}
