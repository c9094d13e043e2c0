//! The text of a page, in whatever encoding it came.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How much of a page is searched for what it says of its own encoding.
const SEARCHED_BYTES: usize = 4096;

/// Decodes a body. A byte order mark counts first, then what the reply says, then what the page
/// says of itself, then a guess, as in browsers.
pub(crate) fn decode(bytes: &[u8], content_type: &str) -> String {
    let encoding = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| label_after("charset=", content_type.as_bytes()))
        .or_else(|| said_inside(bytes))
        .unwrap_or_else(|| guess(bytes));
    encoding.decode(bytes).0.into_owned()
}

fn said_inside(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = &bytes[..bytes.len().min(SEARCHED_BYTES)];
    let said = label_after("charset=", start).or_else(|| label_after("encoding=", start))?;
    // Whoever can read this in ASCII does not read UTF-16.
    Some(if said == UTF_16LE || said == UTF_16BE {
        UTF_8
    } else {
        said
    })
}

fn label_after(key: &str, text: &[u8]) -> Option<&'static Encoding> {
    let text = text.to_ascii_lowercase();
    memchr::memmem::find_iter(&text, key).find_map(|at| {
        let rest = text[at + key.len()..].trim_ascii_start();
        let rest = rest
            .strip_prefix(b"\"")
            .or(rest.strip_prefix(b"'"))
            .unwrap_or(rest);
        let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte));
        let end = rest.iter().position(ends).unwrap_or(rest.len());
        Encoding::for_label(&rest[..end])
    })
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251};
    use rstest::rstest;

    #[rstest]
    #[case::header(&GBK.encode("清华大学").0, "text/html; charset=GBK", "清华大学")]
    #[case::quoted_header(&GBK.encode("清华").0, "text/html; charset=\"gb2312\"", "清华")]
    #[case::mark_over_header(b"\xef\xbb\xbfh\xc3\xa9", "text/html; charset=latin1", "hé")]
    #[case::utf16_mark(b"\xff\xfeh\0i\0", "text/plain", "hi")]
    #[case::meta(&GBK.encode("<meta charset=gbk>清华").0, "text/html", "<meta charset=gbk>清华")]
    #[case::xml(&SHIFT_JIS.encode("<?xml encoding='shift_jis'?>日本").0, "text/xml", "<?xml encoding='shift_jis'?>日本")]
    #[case::meta_that_cannot_be(b"<meta charset=utf-16>h\xc3\xa9", "", "<meta charset=utf-16>hé")]
    #[case::unknown_label("hé".as_bytes(), "text/html; charset=klingon", "hé")]
    #[case::guess(&WINDOWS_1251.encode("Привет, как дела сегодня").0, "", "Привет, как дела сегодня")]
    #[case::nothing(b"", "", "")]
    fn the_encoding_is_found(#[case] bytes: &[u8], #[case] content_type: &str, #[case] text: &str) {
        assert_eq!(decode(bytes, content_type), text);
    }
}
