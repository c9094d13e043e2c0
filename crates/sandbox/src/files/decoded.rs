//! A file as UTF-8, in whatever encoding it is written.
//!
//! What is UTF-8 passes as it is; that is nearly all, and costs one look at each byte. From the
//! first byte on that is none, or where the start shows UTF-16, the rest is decoded. What is no text
//! passes as it is too, so that whoever looks for its zeros finds them.

use std::io::{self, Read};

use outfitter_text::binary::SNIFFED_BYTES;
use outfitter_text::decode::{TextDecoder, utf16, wide};

/// How much is read at a time, into room that many files share one after the other.
const PIECE: usize = 64 << 10;

/// Room for the pieces of one file at a time.
pub(super) struct Room(Vec<u8>);

impl Default for Room {
    fn default() -> Self {
        Self(vec![0; PIECE])
    }
}

pub(super) struct Decoded<'r, R> {
    file: R,
    piece: &'r mut [u8],
    /// Of the piece this much is with the caller,
    given: usize,
    /// this much may be,
    ready: usize,
    /// and this much was read: what comes behind `ready` is the start of a character.
    read: usize,
    /// What was decoded, and how much of it is with the caller.
    text: String,
    told: usize,
    /// Characters of more than one byte that passed.
    wide: u64,
    way: Way,
    has_ended: bool,
}

enum Way {
    /// Nothing was read yet.
    Start,
    Utf8,
    AsItIs,
    Decoding(Box<TextDecoder>),
    /// All was decoded, in this encoding.
    Done(Option<&'static str>),
}

impl<'r, R: Read> Decoded<'r, R> {
    pub(super) fn new(file: R, room: &'r mut Room) -> Self {
        Self {
            file,
            piece: &mut room.0,
            given: 0,
            ready: 0,
            read: 0,
            text: String::new(),
            told: 0,
            wide: 0,
            way: Way::Start,
            has_ended: false,
        }
    }

    /// In what it is written, as far as it was read, if that is no UTF-8.
    pub(super) fn encoding(&self) -> Option<&'static str> {
        match &self.way {
            Way::Start | Way::Utf8 | Way::AsItIs => None,
            Way::Decoding(decoder) => decoder.other_encoding(),
            Way::Done(encoding) => *encoding,
        }
    }

    /// Reads the next piece, behind what of the last one is not ready.
    fn fill(&mut self) -> io::Result<()> {
        self.piece.copy_within(self.ready..self.read, 0);
        let begun = self.read - self.ready;
        let got = loop {
            match self.file.read(&mut self.piece[begun..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        (self.given, self.ready, self.read) = (0, 0, begun + got);
        self.has_ended = got == 0;
        if let Way::Start = self.way {
            self.way = self.begin();
        }
        match &mut self.way {
            Way::Start | Way::AsItIs | Way::Done(_) => self.ready = self.read,
            Way::Utf8 => self.take_utf8(),
            Way::Decoding(_) => self.decode(0),
        }
        Ok(())
    }

    fn begin(&self) -> Way {
        let start = &self.piece[..self.read.min(SNIFFED_BYTES)];
        if utf16(start).is_some() {
            Way::Decoding(Box::default())
        } else if start.contains(&0) {
            Way::AsItIs
        } else {
            Way::Utf8
        }
    }

    fn take_utf8(&mut self) {
        let piece = &self.piece[..self.read];
        let (valid, is_wrong) = match std::str::from_utf8(piece) {
            Ok(text) => (text, false),
            Err(error) => {
                let is_wrong = error.error_len().is_some() || self.has_ended;
                let valid = std::str::from_utf8(&piece[..error.valid_up_to()]);
                (valid.unwrap_or_default(), is_wrong)
            }
        };
        if !valid.is_ascii() {
            self.wide = self.wide.saturating_add(wide(valid));
        }
        self.ready = valid.len();
        if is_wrong {
            self.way = Way::Decoding(Box::new(TextDecoder::after_utf8(self.wide)));
            self.decode(self.ready);
        }
    }

    /// Decodes what was read, from there on.
    fn decode(&mut self, from: usize) {
        let Way::Decoding(decoder) = &mut self.way else {
            return;
        };
        self.text.clear();
        self.told = 0;
        decoder.push(&self.piece[from..self.read], &mut self.text);
        self.read = from;
        if self.has_ended {
            let written = std::mem::take(&mut **decoder).finish(&mut self.text);
            let is_other = written.encoding() != "utf-8";
            self.way = Way::Done(is_other.then(|| written.encoding()));
        }
    }
}

impl<R: Read> Read for Decoded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let (ready, given) = match self.given < self.ready {
                true => (&self.piece[..self.ready], &mut self.given),
                false => (self.text.as_bytes(), &mut self.told),
            };
            let ready = &ready[*given..];
            if !ready.is_empty() || self.has_ended {
                let length = ready.len().min(buffer.len());
                buffer[..length].copy_from_slice(&ready[..length]);
                *given += length;
                return Ok(length);
            }
            self.fill()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Gives a few bytes at a time.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn decoded(bytes: &[u8], step: usize) -> (Vec<u8>, Option<&'static str>) {
        let mut room = Room::default();
        let mut reader = Decoded::new(Pieces(bytes, step), &mut room);
        let mut text = Vec::new();
        reader.read_to_end(&mut text).unwrap();
        (text, reader.encoding())
    }

    #[rstest]
    #[case::gbk(
        b"x = 1 # \xd6\xd0\xce\xc4\xd7\xa2\xca\xcd\n",
        "x = 1 # 中文注释\n",
        Some("gbk")
    )]
    #[case::latin(b"caf\xe9 au lait\n", "café au lait\n", Some("windows-1252"))]
    #[case::stray("你好,世界,测试".as_bytes(), "你好,世界,测试", None)]
    #[case::binary(b"a\0\xff\xfe", "", None)]
    #[case::cut_off(b"abc\xe4\xbd", "abc\u{fffd}", None)]
    #[case::empty(b"", "", None)]
    fn a_text_comes_as_utf8_however_it_is_cut(
        #[case] bytes: &[u8],
        #[case] expected: &str,
        #[case] encoding: Option<&str>,
    ) {
        let expected = match expected {
            "" => bytes,
            text => text.as_bytes(),
        };
        for step in [2, 3, 7, 4096] {
            assert_eq!(
                decoded(bytes, step),
                (expected.to_vec(), encoding),
                "{step}"
            );
        }
    }

    #[test]
    fn utf16_is_decoded_with_a_mark_and_without() {
        let text = "nadel im heu\n".repeat(20_000);
        let plain: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked = [&[0xff, 0xfe], plain.as_slice()].concat();
        for bytes in [plain, marked] {
            let (found, encoding) = decoded(&bytes, usize::MAX);
            assert_eq!(encoding, Some("utf-16le"));
            assert!(found == text.as_bytes());
        }
    }

    #[test]
    fn what_is_decoded_late_is_decoded_whole() {
        let ahead = "plain text\n".repeat(30_000);
        let bytes = [ahead.as_bytes(), b"Stra\xdfe, Gr\xfc\xdfe\n".as_slice()].concat();
        let (found, encoding) = decoded(&bytes, 60_000);
        assert_eq!(encoding, Some("windows-1252"));
        assert!(found == format!("{ahead}Straße, Grüße\n").as_bytes());
    }

    proptest! {
        #[test]
        fn utf8_passes_as_it_is(text in any::<String>(), step in 1_usize..40) {
            prop_assume!(!text.contains('\0') && utf16(text.as_bytes()).is_none());
            prop_assert_eq!(decoded(text.as_bytes(), step), (text.into_bytes(), None));
        }

        #[test]
        fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..400), step in 1_usize..40) {
            let (text, encoding) = decoded(&bytes, step);
            if encoding.is_some() {
                prop_assert!(String::from_utf8(text).is_ok());
            }
        }
    }
}
