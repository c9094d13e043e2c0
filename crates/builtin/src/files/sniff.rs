//! What a file is, by its content: text in some encoding, or not text.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use outfitter_text::binary::{Content, SNIFFED_BYTES, sniff};
use outfitter_text::decode::{Written, utf16, wide};
use outfitter_text::legacy;

use super::charset::{Charset, byte_order_mark};

/// How many bytes the guess of an older encoding looks at, from the first that is no UTF-8 on.
const GUESSED_BYTES: usize = 1 << 20;

/// How much of that is kept, to judge a short text by all of it.
const KEPT_BYTES: usize = 64 * 1024;

/// What nothing better is known of.
const UNKNOWN_MIME: &str = "application/octet-stream";

/// What the first bytes of a file say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// Not text.
    Binary {
        /// Its media type.
        mime: &'static str,
    },
    /// Text in an encoding that is known from here.
    Known {
        /// The encoding.
        charset: Charset,
        /// The length of the byte order mark.
        bom: usize,
    },
    /// Text; the encoding shows as it is read.
    Open,
}

/// Judges a file by its first bytes.
pub(super) fn judge(start: &[u8]) -> Start {
    let sample = &start[..start.len().min(SNIFFED_BYTES)];
    if let Some((charset, bom)) = byte_order_mark(sample) {
        return Start::Known { charset, bom };
    }
    // Letters at the start of a plain text can look like the mark of a format ("BM", "MZ"), so
    // text is believed first.
    let utf8 = match std::str::from_utf8(sample) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let content = sniff(sample);
    if utf8 && content == Content::Text {
        return Start::Open;
    }
    if let Some(kind) = infer::get(sample)
        && kind.matcher_type() != infer::MatcherType::Text
    {
        return Start::Binary {
            mime: kind.mime_type(),
        };
    }
    match content {
        Content::Text => Start::Open,
        Content::Binary => match utf16(sample) {
            Some((encoding, bom)) => Start::Known {
                charset: Charset::of(encoding),
                bom,
            },
            None => Start::Binary { mime: UNKNOWN_MIME },
        },
    }
}

/// The media type of a file by its first bytes.
pub(crate) fn mime_of(start: &[u8]) -> &'static str {
    match judge(start) {
        Start::Binary { mime } => mime,
        Start::Known { .. } | Start::Open => "text/plain",
    }
}

/// What the encoding of a text was found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sniffed {
    pub(super) charset: Charset,
    /// Whether there was so little to go by that it may well be another.
    pub(super) doubtful: bool,
}

impl Sniffed {
    /// What there is to say of it.
    pub(super) fn written(self) -> Written {
        match (self.charset, self.doubtful) {
            (Charset::Utf8, _) => Written::Utf8,
            (Charset::BrokenUtf8, _) => Written::BrokenUtf8,
            (charset, true) => Written::Perhaps(charset.name()),
            (charset, false) => Written::Other(charset.name()),
        }
    }
}

impl From<Charset> for Sniffed {
    fn from(charset: Charset) -> Self {
        Self {
            charset,
            doubtful: false,
        }
    }
}

/// Finds the encoding of a text while it passes by.
pub(super) struct Sniffer {
    /// The start of a character whose rest has not come yet.
    begun: Vec<u8>,
    /// Whole characters of more than one byte.
    wide: u64,
    /// Runs of bytes that are no UTF-8.
    strays: u64,
    guess: EncodingDetector,
    guessed: usize,
    /// What was guessed by, as long as it is little.
    kept: Vec<u8>,
}

impl Sniffer {
    pub(super) fn new() -> Self {
        Self {
            begun: Vec::new(),
            wide: 0,
            strays: 0,
            guess: EncodingDetector::new(Iso2022JpDetection::Deny),
            guessed: 0,
            kept: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        if self.begun.is_empty() && chunk.is_ascii() {
            return self.feed_guess(chunk);
        }
        let strays_before = self.strays;
        let mut joined = std::mem::take(&mut self.begun);
        joined.extend_from_slice(chunk);
        let mut rest = joined.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.count(text);
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.count(&String::from_utf8_lossy(valid));
                    match error.error_len() {
                        Some(length) => {
                            self.strays += 1;
                            rest = &after[length..];
                        }
                        None => {
                            self.begun = after.to_vec();
                            break;
                        }
                    }
                }
            }
        }
        // What was begun earlier has not been fed only if all was UTF-8 until now.
        self.feed_guess(if strays_before == 0 { &joined } else { chunk });
    }

    /// The encoding of all that passed.
    pub(super) fn finish(mut self) -> Sniffed {
        if !self.begun.is_empty() {
            self.strays += 1;
            if self.strays == 1 {
                let begun = std::mem::take(&mut self.begun);
                self.feed_guess(&begun);
            }
        }
        if self.strays == 0 {
            return Charset::Utf8.into();
        }
        // Older encodings hardly ever make whole characters of UTF-8 by chance.
        if self.wide > self.strays {
            return Charset::BrokenUtf8.into();
        }
        if self.kept.len() == self.guessed {
            let guess = legacy::guess(&self.kept, true);
            return Sniffed {
                charset: Charset::Legacy(guess.encoding),
                doubtful: guess.doubtful,
            };
        }
        self.guess.feed(b"", true);
        Charset::Legacy(self.guess.guess(None, Utf8Detection::Deny)).into()
    }

    fn count(&mut self, text: &str) {
        self.wide += wide(text);
    }

    /// Nothing is guessed as long as all is UTF-8.
    fn feed_guess(&mut self, bytes: &[u8]) {
        if self.strays == 0 {
            return;
        }
        let taken = bytes.len().min(GUESSED_BYTES - self.guessed);
        if self.guessed == self.kept.len() && self.guessed + taken <= KEPT_BYTES {
            self.kept.extend_from_slice(&bytes[..taken]);
        }
        self.guessed += taken;
        if taken > 0 {
            self.guess.feed(&bytes[..taken], false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, GBK, SHIFT_JIS, UTF_8, WINDOWS_1252};
    use rstest::rstest;

    fn of(bytes: &[u8], step: usize) -> Charset {
        let mut sniffer = Sniffer::new();
        for chunk in bytes.chunks(step) {
            sniffer.push(chunk);
        }
        sniffer.finish().charset
    }

    #[rstest]
    #[case("plain", UTF_8, Charset::Utf8)]
    #[case("naïve 你好 🦀", UTF_8, Charset::Utf8)]
    #[case("你好,世界\n这是一个测试文件。\n", GBK, Charset::Legacy(GBK))]
    #[case("中文", GBK, Charset::Legacy(GBK))]
    #[case("你好", GBK, Charset::Legacy(GBK))]
    #[case("key = 键 # plain\n", GBK, Charset::Legacy(GBK))]
    #[case("café", WINDOWS_1252, Charset::Legacy(WINDOWS_1252))]
    #[case(
        "Le café était fermé à Noël\n",
        WINDOWS_1252,
        Charset::Legacy(WINDOWS_1252)
    )]
    #[case("これは日本語のテキストです\n", SHIFT_JIS, Charset::Legacy(SHIFT_JIS))]
    #[case("這是繁體中文的測試文件\n", BIG5, Charset::Legacy(BIG5))]
    fn the_encoding_of_a_text_is_found_however_it_is_cut(
        #[case] text: &str,
        #[case] encoding: &'static encoding_rs::Encoding,
        #[case] found: Charset,
    ) {
        let bytes = encoding.encode(text).0;
        for step in [1, 3, 7, 4096] {
            assert_eq!(of(&bytes, step), found, "in pieces of {step}");
        }
    }

    #[test]
    fn one_bad_byte_does_not_make_utf8_another_encoding() {
        let mut bytes = "你好,世界,这是一个测试".as_bytes().to_vec();
        bytes.insert(6, 0xff);
        assert_eq!(of(&bytes, 5), Charset::BrokenUtf8);
    }

    #[rstest]
    #[case(b"BM25 ranks documents", Start::Open)]
    #[case(b"MZ is two letters", Start::Open)]
    #[case(b"", Start::Open)]
    #[case(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", Start::Binary { mime: "image/png" })]
    #[case(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", Start::Binary { mime: "application/x-executable" })]
    #[case(b"\0\x01\x02\x03\xff", Start::Binary { mime: "application/octet-stream" })]
    #[case(b"a\0b\0c\0\n\0", Start::Known { charset: Charset::Utf16Le, bom: 0 })]
    #[case(b"\0a\0b\0c\0\n", Start::Known { charset: Charset::Utf16Be, bom: 0 })]
    #[case(b"\xff\xfea\0", Start::Known { charset: Charset::Utf16Le, bom: 2 })]
    #[case(b"\xef\xbb\xbfa", Start::Known { charset: Charset::Utf8, bom: 3 })]
    fn a_file_is_judged_by_its_first_bytes(#[case] bytes: &[u8], #[case] start: Start) {
        assert_eq!(judge(bytes), start);
    }
}
