//! Room for instructions, in tokens.

use outfitter_text::tokens::count;

/// What is left of a number of tokens. The token tables load only when a text is longer in bytes
/// than the room in tokens, since a token has at least one byte.
pub(crate) struct Room {
    limit: usize,
    used: Used,
}

enum Used {
    /// At most this many: the bytes of everything so far.
    Bytes(Vec<String>, usize),
    Tokens(usize),
}

impl Room {
    pub(crate) fn of(limit: usize) -> Self {
        Self {
            limit,
            used: Used::Bytes(Vec::new(), 0),
        }
    }

    /// Takes room for a text, if there is enough.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        if let Used::Bytes(texts, bytes) = &mut self.used {
            if *bytes + text.len() <= self.limit {
                *bytes += text.len();
                texts.push(text.to_owned());
                return true;
            }
            let counted = texts.iter().map(|text| count(text)).sum();
            self.used = Used::Tokens(counted);
        }
        let Used::Tokens(used) = &mut self.used else {
            return false;
        };
        let needed = count(text);
        let fits = *used + needed <= self.limit;
        if fits {
            *used += needed;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_takes_no_room() {
        let mut room = Room::of(20);
        assert!(room.take("one two three"));
        assert!(!room.take(&"far too long ".repeat(20)));
        assert!(room.take("four"));
    }

    #[test]
    fn room_is_counted_in_tokens_once_bytes_are_not_enough() {
        let mut room = Room::of(30);
        let text = "an ordinary sentence of words";
        assert!(room.take(text));
        assert!(room.take(text), "twice the bytes, but few tokens");
    }
}
