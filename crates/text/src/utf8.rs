//! Bytes that arrive in pieces, decoded into whole characters.

use std::borrow::Cow;

/// Decodes a stream of byte chunks into text that never splits a character.
///
/// What all chunks together decode to is exactly what [`String::from_utf8_lossy`] makes of all
/// their bytes: each maximal invalid part becomes one U+FFFD, wherever the chunks were cut.
///
/// ```
/// use outfitter_text::utf8::Utf8Carry;
///
/// let mut carry = Utf8Carry::default();
/// assert_eq!(carry.decode(b"caf\xc3"), "caf");
/// assert_eq!(carry.decode(b"\xa9"), "\u{e9}");
/// assert_eq!(carry.finish(), "");
/// ```
#[derive(Debug, Default, Clone)]
pub struct Utf8Carry {
    /// The start of a character whose rest has not come yet: never more than three bytes.
    held: [u8; 4],
    len: usize,
}

impl Utf8Carry {
    /// The text that is whole after `chunk`. Borrows where the chunk is text as it stands.
    pub fn decode<'a>(&mut self, chunk: &'a [u8]) -> Cow<'a, str> {
        let mut out = String::new();
        let rest = self.complete_held(chunk, &mut out);
        if out.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => return Cow::Borrowed(text),
                Err(error) if error.error_len().is_none() => {
                    let (whole, begun) = rest.split_at(error.valid_up_to());
                    self.hold(begun);
                    return String::from_utf8_lossy(whole);
                }
                Err(_) => {}
            }
        }
        self.decode_rest(rest, &mut out);
        Cow::Owned(out)
    }

    /// Ends the stream: what was begun and never completed is one U+FFFD.
    pub fn finish(&mut self) -> &'static str {
        let begun = std::mem::take(&mut self.len);
        if begun == 0 { "" } else { "\u{fffd}" }
    }

    /// Whether a character is begun and waits for its rest.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.len > 0
    }

    /// How many bytes of a begun character wait for the rest.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.len as u64
    }

    /// Feeds the held start byte by byte until it is a character or cannot become one.
    fn complete_held<'a>(&mut self, chunk: &'a [u8], out: &mut String) -> &'a [u8] {
        let mut rest = chunk;
        while self.len > 0
            && let Some((&byte, after)) = rest.split_first()
        {
            self.held[self.len] = byte;
            match std::str::from_utf8(&self.held[..=self.len]) {
                Ok(character) => {
                    out.push_str(character);
                    self.len = 0;
                }
                Err(error) if error.error_len().is_none() => self.len += 1,
                // The byte does not belong to what was held: that part is invalid, the byte is
                // looked at again on its own.
                Err(_) => {
                    out.push(char::REPLACEMENT_CHARACTER);
                    self.len = 0;
                    return rest;
                }
            }
            rest = after;
        }
        rest
    }

    fn decode_rest(&mut self, mut rest: &[u8], out: &mut String) {
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    out.push_str(text);
                    return;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    out.push_str(&String::from_utf8_lossy(valid));
                    let Some(invalid) = error.error_len() else {
                        self.hold(after);
                        return;
                    };
                    out.push(char::REPLACEMENT_CHARACTER);
                    rest = &after[invalid..];
                }
            }
        }
    }

    fn hold(&mut self, begun: &[u8]) {
        self.held[..begun.len()].copy_from_slice(begun);
        self.len = begun.len();
    }
}
