use outfitter_text::binary::{Content, SNIFFED_BYTES, describe, mime, sniff};
use rstest::rstest;

#[rstest]
#[case::empty(b"", Content::Text)]
#[case::plain(b"hello\n\tworld\r\n", Content::Text)]
#[case::coloured(b"\x1b[31mred\x1b[0m\x07\x08\n", Content::Text)]
#[case::latin1(b"caf\xe9 cr\xe8me\n", Content::Text)]
#[case::gbk(b"\xc7\xe5\xbb\xaa\xb4\xf3\xd1\xa7\n", Content::Text)]
#[case::separated_by_nul(b"./src/main.rs\0./src/lib.rs\0", Content::Text)]
#[case::bad_bytes_and_nul(b"\xff\xfe\x00", Content::Binary)]
#[case::utf16(b"\xff\xfeh\0i\0", Content::Binary)]
#[case::utf16_without_a_mark(b"h\0e\0l\0l\0o\0", Content::Binary)]
#[case::one_nul(b"\0", Content::Binary)]
#[case::elf(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", Content::Binary)]
#[case::png(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Content::Binary)]
#[case::control_noise(b"\x01\x02\x03\x04 some", Content::Binary)]
fn output_is_judged_by_its_bytes(#[case] bytes: &[u8], #[case] expected: Content) {
    assert_eq!(sniff(bytes), expected);
}

#[test]
fn a_character_cut_by_the_end_of_the_sample_is_not_invalid() {
    let mut bytes = b"name\0".repeat(SNIFFED_BYTES / 5);
    bytes.resize(SNIFFED_BYTES - 1, b'x');
    bytes.extend("清".as_bytes());
    assert_eq!(sniff(&bytes), Content::Text);
}

#[test]
fn all_byte_values_together_are_binary() {
    let noise: Vec<u8> = (0..=u8::MAX).cycle().take(65_536).collect();
    assert_eq!(sniff(&noise), Content::Binary);
}

#[test]
fn binary_output_is_named_by_its_size_and_kind() {
    let mime = mime(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    assert_eq!(describe(65_536, mime), "binary, 65536 bytes, image/png");
    assert_eq!(describe(1, "a/b"), "binary, 1 byte, a/b");
    assert_eq!(
        outfitter_text::binary::mime(b"\x01\x02"),
        "application/octet-stream"
    );
}
