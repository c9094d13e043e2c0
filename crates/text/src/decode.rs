//! Bytes of a command as text, whatever encoding they are in.
//!
//! UTF-8 unless they show otherwise. UTF-16 is known by its mark or by its zeros; one of the older
//! encodings is guessed from the first bytes on that are no UTF-8. A text that is mostly UTF-8
//! with stray bytes stays UTF-8, and the strays become U+FFFD.

use encoding_rs::{Decoder, UTF_16BE, UTF_16LE};

use crate::binary::SNIFFED_BYTES;
use crate::legacy;
use crate::utf8::Utf8Carry;

/// How many bytes the guess of an older encoding looks at, from the first that is no UTF-8 on.
const GUESSED_BYTES: usize = 64 * 1024;

/// How much is decoded at a time.
const STEP_BYTES: usize = 16 * 1024;

/// In what a text was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// UTF-8, all of it.
    Utf8,
    /// UTF-8 with bytes in it that are none.
    BrokenUtf8,
    /// Another encoding, by its name in lower case (WHATWG Encoding Standard, section 4.2).
    Other(&'static str),
    /// The same, of which there was so little that it may well be another.
    Perhaps(&'static str),
}

impl Written {
    /// The encoding by its name, as it stands in results.
    #[must_use]
    pub fn encoding(self) -> &'static str {
        match self {
            Self::Utf8 | Self::BrokenUtf8 => "utf-8",
            Self::Other(name) | Self::Perhaps(name) => name,
        }
    }

    /// What a reader has to know of such a text, called `what`, beside its encoding: that characters
    /// may be others than were written.
    #[must_use]
    pub fn doubt(self, what: &str) -> Option<String> {
        match self {
            Self::Utf8 | Self::Other(_) => None,
            Self::BrokenUtf8 => Some(format!(
                "{what} has bytes that are no UTF-8; each run of them shows as U+FFFD"
            )),
            Self::Perhaps(encoding) => Some(format!(
                "{what} is no UTF-8 and was read as {encoding}, which is a guess by few characters"
            )),
        }
    }

    /// The same, with the encoding, where nothing else says it.
    #[must_use]
    pub fn remark(self, what: &str) -> Option<String> {
        match self {
            Self::Other(encoding) => Some(format!("{what} is no UTF-8 and was read as {encoding}")),
            Self::Utf8 | Self::BrokenUtf8 | Self::Perhaps(_) => self.doubt(what),
        }
    }
}

/// Decodes a stream. What becomes of a text does not depend on how it is cut into chunks.
#[derive(Debug)]
pub struct TextDecoder {
    state: State,
    /// Characters of more than one byte so far that were UTF-8.
    wide: u64,
    /// Whether there was little to guess an encoding by.
    doubtful: bool,
}

enum State {
    /// Too little has come to tell UTF-16.
    Start(Vec<u8>),
    /// UTF-8 so far; what is held is the start of a character.
    Utf8(Vec<u8>),
    /// Something came that is no UTF-8: it is held, and what follows it, until a guess is safe.
    Deciding(Vec<u8>),
    Broken(Utf8Carry),
    Other(Box<Decoder>),
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Start(_) => "Start",
            Self::Utf8(_) => "Utf8",
            Self::Deciding(_) => "Deciding",
            Self::Broken(_) => "Broken",
            Self::Other(_) => "Other",
        })
    }
}

impl Default for TextDecoder {
    fn default() -> Self {
        Self {
            state: State::Start(Vec::new()),
            wide: 0,
            doubtful: false,
        }
    }
}

impl TextDecoder {
    /// For what follows a text that was UTF-8 and had so many characters of more than one byte.
    #[must_use]
    pub fn after_utf8(wide: u64) -> Self {
        Self {
            state: State::Utf8(Vec::new()),
            wide,
            doubtful: false,
        }
    }

    /// In what it is written, once that is known.
    #[must_use]
    pub fn other_encoding(&self) -> Option<&'static str> {
        match &self.state {
            State::Other(decoder) => Some(name(decoder.encoding())),
            State::Start(_) | State::Utf8(_) | State::Deciding(_) | State::Broken(_) => None,
        }
    }

    /// Takes the next chunk and appends what is certain by now.
    pub fn push(&mut self, chunk: &[u8], out: &mut String) {
        match &mut self.state {
            State::Start(held) => {
                held.extend_from_slice(chunk);
                if held.len() >= SNIFFED_BYTES {
                    let held = std::mem::take(held);
                    self.start(&held, out);
                }
            }
            State::Utf8(begun) if begun.is_empty() => self.as_utf8(chunk, out),
            State::Utf8(begun) => {
                let mut joined = std::mem::take(begun);
                joined.extend_from_slice(chunk);
                self.as_utf8(&joined, out);
            }
            State::Deciding(held) => {
                held.extend_from_slice(chunk);
                if held.len() >= GUESSED_BYTES {
                    let held = std::mem::take(held);
                    self.decide(&held, Last::No, out);
                }
            }
            State::Broken(carry) => out.push_str(&carry.decode(chunk)),
            State::Other(decoder) => decode(decoder, chunk, Last::No, out),
        }
    }

    /// Ends the text, and says in what it was written.
    pub fn finish(mut self, out: &mut String) -> Written {
        if let State::Start(held) = &mut self.state {
            let held = std::mem::take(held);
            self.start(&held, out);
        }
        if let State::Deciding(held) = &mut self.state {
            let held = std::mem::take(held);
            self.decide(&held, Last::Yes, out);
        }
        match self.state {
            State::Utf8(begun) if begun.is_empty() => Written::Utf8,
            // Cut off inside its last character, which is no other encoding.
            State::Utf8(_) => {
                out.push(char::REPLACEMENT_CHARACTER);
                Written::BrokenUtf8
            }
            State::Broken(mut carry) => {
                out.push_str(carry.finish());
                Written::BrokenUtf8
            }
            State::Other(mut decoder) => {
                decode(&mut decoder, b"", Last::Yes, out);
                let name = name(decoder.encoding());
                if self.doubtful {
                    Written::Perhaps(name)
                } else {
                    Written::Other(name)
                }
            }
            // Both were left above.
            State::Start(_) | State::Deciding(_) => Written::Utf8,
        }
    }

    fn start(&mut self, bytes: &[u8], out: &mut String) {
        match utf16(bytes) {
            Some((encoding, mark)) => {
                let mut decoder = Box::new(encoding.new_decoder_without_bom_handling());
                decode(&mut decoder, &bytes[mark..], Last::No, out);
                self.state = State::Other(decoder);
            }
            None => self.as_utf8(bytes, out),
        }
    }

    fn as_utf8(&mut self, bytes: &[u8], out: &mut String) {
        let (valid, rest, wrong) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, &b""[..], false),
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                let valid = std::str::from_utf8(valid).unwrap_or_default();
                (valid, rest, error.error_len().is_some())
            }
        };
        out.push_str(valid);
        if self.wide < u64::MAX / 2 && !valid.is_ascii() {
            self.wide += wide(valid);
        }
        if wrong && rest.len() >= GUESSED_BYTES {
            self.decide(rest, Last::No, out);
        } else if wrong {
            self.state = State::Deciding(rest.to_vec());
        } else {
            self.state = State::Utf8(rest.to_vec());
        }
    }

    /// What the bytes from the first stray one on are. Older encodings hardly ever make whole
    /// characters of UTF-8 by chance.
    fn decide(&mut self, bytes: &[u8], last: Last, out: &mut String) {
        let mut strays = 0;
        for chunk in bytes.utf8_chunks() {
            self.wide += wide(chunk.valid());
            strays += u64::from(!chunk.invalid().is_empty());
        }
        if self.wide > strays {
            let mut carry = Utf8Carry::default();
            out.push_str(&carry.decode(bytes));
            self.state = State::Broken(carry);
            return;
        }
        let guessed = &bytes[..bytes.len().min(GUESSED_BYTES)];
        let whole = last == Last::Yes && guessed.len() == bytes.len();
        let guess = legacy::guess(guessed, whole);
        self.doubtful = guess.doubtful;
        let mut decoder = Box::new(guess.encoding.new_decoder_without_bom_handling());
        decode(&mut decoder, bytes, Last::No, out);
        self.state = State::Other(decoder);
    }
}

/// UTF-16 by the mark at its start, whose length is given too, or by its zeros: of mostly Western
/// text every second byte is one.
#[must_use]
pub fn utf16(start: &[u8]) -> Option<(&'static encoding_rs::Encoding, usize)> {
    let marked = match start {
        // UTF-32 begins the same as UTF-16.
        [0xff, 0xfe, 0, 0, ..] => return None,
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        _ => None,
    };
    let sample = &start[..start.len().min(SNIFFED_BYTES) / 2 * 2];
    if let Some(encoding) = marked {
        // The mark alone is two bytes of anything.
        return (sample.len() > 2 && is_plain(encoding, &sample[2..])).then_some((encoding, 2));
    }
    let zeros = |from: usize| {
        let bytes = sample.iter().skip(from).step_by(2);
        bytes.filter(|byte| **byte == 0).count()
    };
    let units = sample.len() / 2;
    let encoding = match (zeros(0), zeros(1)) {
        _ if units < 2 => return None,
        (0, odd) if odd * 2 > units => UTF_16LE,
        (even, 0) if even * 2 > units => UTF_16BE,
        _ => return None,
    };
    is_plain(encoding, sample).then_some((encoding, 0))
}

/// Whether a sample is text in this encoding. The sample may cut its last character in two.
fn is_plain(encoding: &'static encoding_rs::Encoding, sample: &[u8]) -> bool {
    let (text, _) = encoding.decode_without_bom_handling(sample);
    let text = text
        .strip_suffix(char::REPLACEMENT_CHARACTER)
        .unwrap_or(&text);
    let strange = |c: char| {
        c == char::REPLACEMENT_CHARACTER || (c.is_control() && !c.is_whitespace() && c != '\u{1b}')
    };
    !text.contains(strange)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

fn decode(decoder: &mut Decoder, mut bytes: &[u8], last: Last, out: &mut String) {
    loop {
        let step = bytes.len().min(STEP_BYTES);
        let at_end = step == bytes.len();
        let needed = decoder
            .max_utf8_buffer_length(step)
            .unwrap_or(STEP_BYTES * 4);
        out.reserve(needed);
        let is_last = at_end && last == Last::Yes;
        let (_, read, _) = decoder.decode_to_string(&bytes[..step], out, is_last);
        bytes = &bytes[read..];
        if bytes.is_empty() {
            return;
        }
    }
}

/// How many characters of a text have more than one byte.
#[must_use]
pub fn wide(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte >= 0xc0).count() as u64
}

/// The name of an encoding as it stands in results.
#[must_use]
pub fn name(encoding: &'static encoding_rs::Encoding) -> &'static str {
    /// The names that are not in lower case already, which are nearly all.
    macro_rules! lower {
        ($($upper:literal => $lower:literal),* $(,)?) => {
            match encoding.name() { $($upper => $lower,)* other => other }
        };
    }
    lower! {
        "UTF-8" => "utf-8", "UTF-16LE" => "utf-16le", "UTF-16BE" => "utf-16be", "GBK" => "gbk",
        "Big5" => "big5", "EUC-JP" => "euc-jp", "EUC-KR" => "euc-kr",
        "Shift_JIS" => "shift_jis", "ISO-8859-2" => "iso-8859-2", "ISO-8859-4" => "iso-8859-4",
        "ISO-8859-5" => "iso-8859-5", "ISO-8859-6" => "iso-8859-6", "ISO-8859-7" => "iso-8859-7",
        "ISO-8859-8" => "iso-8859-8", "ISO-8859-8-I" => "iso-8859-8-i",
        "ISO-8859-13" => "iso-8859-13", "KOI8-U" => "koi8-u", "IBM866" => "ibm866",
    }
}
