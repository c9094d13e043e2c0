//! Encodings: which one a text is in, decoded and given back byte for byte.

use encoding_rs::{Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE};
use outfitter_text::decode::name;

/// Bytes that are no UTF-8 stand in decoded text as characters from here on: a private block at
/// the end of the last plane, so that they come back as the bytes they were.
const STRAY_BYTES: u32 = 0x10_FF00;

/// In what a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    /// UTF-8, all of it.
    Utf8,
    /// UTF-8 with bytes in it that are not.
    BrokenUtf8,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// One of the older encodings.
    Legacy(&'static Encoding),
}

/// The mark at the start of a file, if there is one: what it says and how long it is.
pub(super) fn byte_order_mark(start: &[u8]) -> Option<(Charset, usize)> {
    match start {
        [0xef, 0xbb, 0xbf, ..] => Some((Charset::Utf8, 3)),
        // UTF-32 begins the same as UTF-16; such a file is told as binary.
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some((Charset::Utf16Le, 2)),
        [0xfe, 0xff, ..] => Some((Charset::Utf16Be, 2)),
        _ => None,
    }
}

/// What could not be written in an encoding.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unencodable(pub(super) String);

impl Charset {
    /// Its name, as it stands in results.
    pub(super) fn name(self) -> &'static str {
        name(self.decoder().unwrap_or(UTF_8))
    }

    /// An encoding of the decoder library that is not UTF-8.
    pub(super) fn of(encoding: &'static Encoding) -> Self {
        if encoding == UTF_16LE {
            Self::Utf16Le
        } else if encoding == UTF_16BE {
            Self::Utf16Be
        } else {
            Self::Legacy(encoding)
        }
    }

    /// The encoding as the decoder library knows it, for what is no UTF-8.
    pub(super) fn decoder(self) -> Option<&'static Encoding> {
        match self {
            Self::Utf8 | Self::BrokenUtf8 => None,
            Self::Utf16Le => Some(UTF_16LE),
            Self::Utf16Be => Some(UTF_16BE),
            Self::Legacy(encoding) => Some(encoding),
        }
    }

    /// The text for a reader; what cannot be decoded is U+FFFD.
    pub(super) fn show(self, bytes: &[u8]) -> String {
        match self.decoder() {
            None => String::from_utf8_lossy(bytes).into_owned(),
            Some(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
        }
    }

    /// The text, if it gives exactly these bytes again, and the encoding that does.
    pub(super) fn decode_exactly(self, bytes: &[u8]) -> Option<(String, Self)> {
        let gives_back = |text: String, charset: Self| {
            (charset.encode(&text).ok().as_deref() == Some(bytes)).then_some((text, charset))
        };
        match self {
            Self::Utf8 => String::from_utf8(bytes.to_vec())
                .ok()
                .map(|text| (text, self)),
            Self::BrokenUtf8 => gives_back(decode_with_strays(bytes), self),
            Self::Utf16Le | Self::Utf16Be => gives_back(self.show(bytes), self),
            Self::Legacy(encoding) => gives_back(self.show(bytes), self).or_else(|| {
                // GB18030 is what GBK grew into; the detector knows only the older name.
                let wider = Self::Legacy(GB18030);
                (encoding == GBK).then(|| gives_back(wider.show(bytes), wider))?
            }),
        }
    }

    /// The bytes of a text.
    pub(super) fn encode(self, text: &str) -> Result<Vec<u8>, Unencodable> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::BrokenUtf8 => Ok(encode_with_strays(text)),
            Self::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Self::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Self::Legacy(encoding) => {
                let (bytes, _, replaced) = encoding.encode(text);
                // Some encoders write what they lack as something that is read otherwise.
                if replaced || encoding.decode_without_bom_handling(&bytes).0 != text {
                    return Err(Unencodable(first_missing(encoding, text)));
                }
                Ok(bytes.into_owned())
            }
        }
    }
}

/// Text of ours for a reader: bytes that are no text are U+FFFD.
pub(super) fn shown(text: &str) -> String {
    text.chars()
        .map(|c| {
            if stray_byte(c).is_some() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}

fn first_missing(encoding: &'static Encoding, text: &str) -> String {
    let mut buffer = [0; 4];
    text.chars()
        .find(|c| {
            let c: &str = c.encode_utf8(&mut buffer);
            let (bytes, _, replaced) = encoding.encode(c);
            replaced || encoding.decode_without_bom_handling(&bytes).0 != c
        })
        .map(String::from)
        .unwrap_or_default()
}

fn stray_byte(c: char) -> Option<u8> {
    let offset = u32::from(c).checked_sub(STRAY_BYTES)?;
    u8::try_from(offset).ok().filter(|byte| *byte >= 0x80)
}

fn decode_with_strays(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let strays = chunk
            .invalid()
            .iter()
            .filter_map(|byte| char::from_u32(STRAY_BYTES + u32::from(*byte)));
        text.extend(strays);
    }
    text
}

fn encode_with_strays(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut buffer = [0; 4];
    for c in text.chars() {
        match stray_byte(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{SHIFT_JIS, WINDOWS_1252};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn broken_utf8_comes_back_as_it_was(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some((text, charset)) = Charset::BrokenUtf8.decode_exactly(&bytes) {
                prop_assert_eq!(charset.encode(&text).unwrap(), bytes);
            }
        }

        #[test]
        fn every_byte_of_latin_1_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let charset = Charset::Legacy(WINDOWS_1252);
            let (text, _) = charset.decode_exactly(&bytes).unwrap();
            prop_assert_eq!(charset.encode(&text).unwrap(), bytes);
        }

        #[test]
        fn any_text_survives_utf16(text in any::<String>()) {
            for charset in [Charset::Utf16Le, Charset::Utf16Be] {
                let bytes = charset.encode(&text).unwrap();
                prop_assert_eq!(charset.decode_exactly(&bytes).unwrap().0, text.clone());
            }
        }
    }

    #[test]
    fn half_a_character_of_utf16_is_not_exact() {
        assert_eq!(Charset::Utf16Le.decode_exactly(&[0x41, 0x00, 0x42]), None);
        assert_eq!(
            Charset::Utf16Le.decode_exactly(&[0x00, 0xd8, 0x41, 0x00]),
            None
        );
    }

    #[test]
    fn a_character_that_an_encoding_lacks_is_named() {
        let error = Charset::Legacy(GBK).encode("你好🦀").unwrap_err();
        assert_eq!(error, Unencodable("🦀".to_owned()));
    }

    #[test]
    fn a_character_that_would_come_back_as_another_is_lacking() {
        let error = Charset::Legacy(SHIFT_JIS).encode("値段は¥100").unwrap_err();
        assert_eq!(error, Unencodable("¥".to_owned()));
    }

    #[test]
    fn a_long_form_of_gb18030_is_kept() {
        let bytes = GB18030.encode("你好🦀").0.into_owned();
        let (text, charset) = Charset::Legacy(GBK).decode_exactly(&bytes).unwrap();
        assert_eq!(text, "你好🦀");
        assert_eq!(charset, Charset::Legacy(GB18030));
    }
}
