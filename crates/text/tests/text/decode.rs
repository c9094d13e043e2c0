use encoding_rs::{BIG5, EUC_KR, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
use outfitter_text::decode::{TextDecoder, Written};
use proptest::prelude::*;
use rstest::rstest;

fn decoded(bytes: &[u8], step: usize) -> (String, Written) {
    let mut decoder = TextDecoder::default();
    let mut text = String::new();
    for chunk in bytes.chunks(step.max(1)) {
        decoder.push(chunk, &mut text);
    }
    let written = decoder.finish(&mut text);
    (text, written)
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

const STEPS: [usize; 5] = [1, 2, 7, 4096, 1 << 20];

#[rstest]
#[case("你好,世界\n这是一个测试文件。\n", GBK, "gbk")]
#[case("error: 文件不存在\n", GBK, "gbk")]
#[case("你好", GBK, "gbk")]
#[case("エラー\n", SHIFT_JIS, "shift_jis")]
#[case("Le café était fermé à Noël\n", WINDOWS_1252, "windows-1252")]
#[case("caf\u{e9}\n", WINDOWS_1252, "windows-1252")]
#[case("これは日本語のテキストです\n", SHIFT_JIS, "shift_jis")]
#[case("這是繁體中文的測試文件\n", BIG5, "big5")]
#[case("안녕하세요 세계\n", EUC_KR, "euc-kr")]
#[case("Привет, мир, это проверка\n", WINDOWS_1251, "windows-1251")]
fn an_older_encoding_is_read_however_it_is_cut(
    #[case] text: &str,
    #[case] encoding: &'static encoding_rs::Encoding,
    #[case] name: &'static str,
) {
    let bytes = encoding.encode(text).0;
    for ahead in ["", "plain first\n"] {
        let all = [ahead.as_bytes(), &bytes].concat();
        for step in STEPS {
            // Each of them is short.
            let expected = (format!("{ahead}{text}"), Written::Perhaps(name));
            assert_eq!(decoded(&all, step), expected, "in pieces of {step}");
        }
    }
}

/// Long after the first page, and with more of it than a guess looks at.
#[test]
fn an_older_encoding_may_begin_late_and_go_on_for_long() {
    let ahead = "plain\n".repeat(100_000);
    let text = "这是一个测试文件。\n".repeat(20_000);
    let all = [ahead.as_bytes(), &GBK.encode(&text).0].concat();
    for step in [977, 65_536] {
        let (read, written) = decoded(&all, step);
        assert_eq!(written, Written::Other("gbk"));
        assert!(read == format!("{ahead}{text}"), "in pieces of {step}");
    }
}

#[rstest]
#[case::marked(&[0xff, 0xfe], u16::to_le_bytes, "utf-16le")]
#[case::marked_big(&[0xfe, 0xff], u16::to_be_bytes, "utf-16be")]
#[case::bare(&[], u16::to_le_bytes, "utf-16le")]
#[case::bare_big(&[], u16::to_be_bytes, "utf-16be")]
fn utf16_is_read(
    #[case] mark: &[u8],
    #[case] bytes: fn(u16) -> [u8; 2],
    #[case] name: &'static str,
) {
    let text = "Hello, wide world 🦀\r\n".repeat(1000);
    let all = [mark, &utf16(&text, bytes)].concat();
    for step in STEPS {
        let (read, written) = decoded(&all, step);
        assert_eq!(written, Written::Other(name));
        assert!(read == text, "in pieces of {step}");
    }
}

/// Without a mark it is known by its zeros, of which a few characters have enough.
#[rstest]
#[case("Hi")]
#[case("ok\n")]
#[case("é: 1\r\n")]
#[case("你好 world")]
#[case("C:\\用户\\a.txt\r\n")]
fn a_short_text_in_utf16_is_read_without_a_mark(#[case] text: &str) {
    for (bytes, name) in [
        (u16::to_le_bytes as fn(u16) -> [u8; 2], "utf-16le"),
        (u16::to_be_bytes, "utf-16be"),
    ] {
        let expected = (text.to_owned(), Written::Other(name));
        assert_eq!(decoded(&utf16(text, bytes), 1), expected);
    }
}

/// Where nothing has a zero, these bytes are as good a text of ASCII, and stay one.
#[test]
fn utf16_that_is_all_letters_is_not_made_out_of_plain_text() {
    let bytes = utf16("你好", u16::to_le_bytes);
    assert_eq!(decoded(&bytes, 4), ("`O}Y".to_owned(), Written::Utf8));
}

#[rstest]
#[case::one_bad_byte("你好,世界\u{0}测试".as_bytes(), Written::Utf8)]
#[case::stray(b"\xe4\xbd\xa0\xe5\xa5\xbd\xff\xe4\xb8\x96", Written::BrokenUtf8)]
#[case::cut_off(b"abc\xe4\xbd", Written::BrokenUtf8)]
#[case::plain(b"abc\r\n\x1b[31mred", Written::Utf8)]
#[case::nothing(b"", Written::Utf8)]
fn what_is_mostly_utf8_is_utf8(#[case] bytes: &[u8], #[case] written: Written) {
    for step in STEPS {
        let (text, as_written) = decoded(bytes, step);
        assert_eq!(text, String::from_utf8_lossy(bytes));
        assert_eq!(as_written, written);
    }
}

proptest! {
    #[test]
    fn any_text_comes_back(text in any::<String>(), step in 1..50_usize) {
        // Text of zeros and letters can be UTF-16, too.
        prop_assume!(!text.contains('\0'));
        prop_assert_eq!(decoded(text.as_bytes(), step), (text, Written::Utf8));
    }

    #[test]
    fn how_bytes_are_cut_makes_no_difference(bytes in prop::collection::vec(any::<u8>(), 0..400), step in 1..40_usize) {
        prop_assert_eq!(decoded(&bytes, step), decoded(&bytes, 1 << 20));
    }
}
