//! A stream bounded while it flows.

use crate::head_tail::{Bounded, Budget, Extent, Whole, cut};

/// Keeps the head and the tail of a stream of text within a number of characters, whatever the
/// stream's length, and counts what passes.
///
/// The end is the same as [`bound`](crate::head_tail::bound) makes of the whole text; the memory
/// is a few times the limit.
#[derive(Debug, Clone)]
pub struct StreamBound {
    max_chars: usize,
    front: String,
    front_chars: usize,
    back: String,
    seen: Extent,
    ends_in_line: bool,
}

impl StreamBound {
    /// Nothing seen yet; `max_chars` is what the end may be long, the marker included.
    #[must_use]
    pub fn new(max_chars: usize) -> Self {
        Self {
            max_chars,
            front: String::new(),
            front_chars: 0,
            back: String::new(),
            seen: Extent::default(),
            ends_in_line: false,
        }
    }

    /// The next piece of the stream.
    pub fn push(&mut self, text: &str) {
        let Some(last) = text.as_bytes().last() else {
            return;
        };
        self.ends_in_line = *last != b'\n';
        let piece = Extent::of(text);
        self.seen.bytes += piece.bytes;
        self.seen.lines += piece.lines;

        let taken = self.fill_front(text);
        self.push_back(&text[taken..]);
    }

    /// What has passed so far.
    #[must_use]
    pub fn seen(&self) -> Extent {
        self.seen
    }

    /// Lines so far as a reader counts them: an unfinished last line is one too.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.seen.lines + u64::from(self.ends_in_line)
    }

    /// The head and tail of what has passed so far.
    #[must_use]
    pub fn bounded(&self, whole: Whole<'_>) -> Bounded<'_> {
        if self.seen.bytes == self.front.len() as u64 {
            return Bounded::Whole(self.front.as_str().into());
        }
        let budget = Budget::Chars(self.max_chars);
        // A stream that has only just outgrown the limit has less than a tail behind the front.
        if self.seen.bytes == (self.front.len() + self.back.len()) as u64 {
            let all = format!("{}{}", self.front, self.back);
            return Bounded::Cut(cut(&all, &all, self.seen, budget, whole)).into_owned();
        }
        Bounded::Cut(cut(&self.front, &self.back, self.seen, budget, whole))
    }

    fn fill_front(&mut self, text: &str) -> usize {
        let wanted = self.max_chars - self.front_chars;
        let mut taken = 0;
        for (at, character) in text.char_indices().take(wanted) {
            taken = at + character.len_utf8();
            self.front_chars += 1;
        }
        self.front.push_str(&text[..taken]);
        taken
    }

    /// Keeps at least the last `max_chars` characters, dropping the older ones in large steps so
    /// that each byte is moved a constant number of times.
    fn push_back(&mut self, text: &str) {
        let enough = self.max_chars.saturating_mul(4);
        let skipped = text.ceil_char_boundary(text.len().saturating_sub(enough));
        if skipped > 0 {
            self.back.clear();
        }
        self.back.push_str(&text[skipped..]);
        if self.back.len() > enough.saturating_mul(2) {
            let drop = self.back.ceil_char_boundary(self.back.len() - enough);
            self.back.drain(..drop);
        }
    }
}
