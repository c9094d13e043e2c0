use outfitter_text::utf8::Utf8Carry;
use proptest::prelude::*;
use rstest::rstest;

fn decode_in_pieces(bytes: &[u8], cuts: &[usize]) -> String {
    let mut carry = Utf8Carry::default();
    let mut text = String::new();
    let mut from = 0;
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.push(bytes.len());
    cuts.sort_unstable();
    for cut in cuts {
        text.push_str(&carry.decode(&bytes[from..cut]));
        from = cut;
    }
    text.push_str(carry.finish());
    text
}

#[rstest]
#[case::two_bytes("é".as_bytes())]
#[case::three_bytes("清华大学".as_bytes())]
#[case::four_bytes("🦀x🦀".as_bytes())]
#[case::lone_continuation(b"a\x80b")]
#[case::cut_off_at_the_end(b"ab\xf0\x9f\xa6")]
#[case::start_then_another_start(b"\xf0\x9f\xe6\xb8\x85")]
#[case::surrogate(b"\xed\xa0\x80")]
#[case::overlong(b"\xc0\xaf\xe0\x80\xaf")]
#[case::beyond_unicode(b"\xf4\x90\x80\x80\xff\xfe\x00")]
#[case::gbk(b"\xc7\xe5\xbb\xaa\xb4\xf3\xd1\xa7")]
fn every_single_split_decodes_as_the_whole(#[case] bytes: &[u8]) {
    let whole = String::from_utf8_lossy(bytes);
    for cut in 0..=bytes.len() {
        assert_eq!(decode_in_pieces(bytes, &[cut]), whole, "cut at {cut}");
    }
    let every: Vec<usize> = (0..bytes.len()).collect();
    assert_eq!(decode_in_pieces(bytes, &every), whole, "byte by byte");
}

#[test]
fn a_begun_character_is_held_until_it_is_whole() {
    let mut carry = Utf8Carry::default();
    assert_eq!(carry.decode("清".as_bytes().split_at(2).0), "");
    assert!(carry.is_waiting());
    assert_eq!(carry.decode(&"清".as_bytes()[2..]), "清");
    assert!(!carry.is_waiting());
    assert_eq!(carry.finish(), "");
}

/// Bytes that are often nearly UTF-8, where decoders go wrong.
fn nearly_utf8() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<char>().prop_map(|c| c.to_string().into_bytes()),
        (any::<char>(), 0..4_usize).prop_map(|(c, keep)| {
            let mut bytes = c.to_string().into_bytes();
            bytes.truncate(keep);
            bytes
        }),
        prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_of_any_bytes_decodes_as_the_whole(
        bytes in nearly_utf8(),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        prop_assert_eq!(decode_in_pieces(&bytes, &cuts), String::from_utf8_lossy(&bytes));
    }
}
