use outfitter_text::binary::Content;
use outfitter_text::decode::Written;
use outfitter_text::head_tail::{Budget, Whole, bound};
use outfitter_text::lines::StreamBound;
use outfitter_text::output::OutputText;
use proptest::prelude::*;

const ARTIFACT: Whole<'_> = Whole::Artifact("art_1");

proptest! {
    #[test]
    fn a_bounded_stream_is_the_bounded_whole(
        pieces in prop::collection::vec("[a-z清🦀 \n]{0,60}", 0..40),
        max_chars in 0..600_usize,
    ) {
        let mut stream = StreamBound::new(max_chars);
        for piece in &pieces {
            stream.push(piece);
        }
        let whole = pieces.concat();
        let expected = bound(&whole, Budget::Chars(max_chars), ARTIFACT);
        prop_assert_eq!(stream.bounded(ARTIFACT), expected);
        prop_assert_eq!(stream.lines(), whole.lines().count() as u64);
        prop_assert_eq!(stream.seen().bytes, whole.len() as u64);
    }
}

#[test]
fn a_stream_of_many_megabytes_is_counted_exactly_and_kept_small() {
    let mut output = OutputText::new(8000);
    let chunk = "y\n".repeat(512 * 1024);
    for _ in 0..20 {
        output.push(chunk.as_bytes());
    }
    let end = output.finish(ARTIFACT);
    assert_eq!(end.raw_bytes, 20 * 1024 * 1024);
    assert_eq!(end.lines, 10 * 1024 * 1024);
    assert!(end.text.chars().count() <= 8000);
    let omitted = end.omitted.expect("most of it is left out");
    let kept = end.text.matches("y\n").count() as u64;
    assert_eq!(omitted.bytes + 2 * kept, end.raw_bytes);
    assert_eq!(omitted.lines + kept, end.lines);
}

#[test]
fn one_endless_line_is_bounded_too() {
    let mut output = OutputText::new(8000);
    for _ in 0..50 {
        output.push(&[b'x'; 1 << 20]);
    }
    let end = output.finish(ARTIFACT);
    assert!(end.text.chars().count() <= 8000);
    assert!(end.text.starts_with("xxx") && end.text.ends_with("xxx"));
    assert_eq!(end.lines, 1);
}

#[test]
fn characters_and_sequences_cut_by_the_pipe_come_out_whole() {
    let mut output = OutputText::new(100);
    for byte in "\x1b[32m清华\x1b[0m \u{1b}]0;t\x07ok\r\n".as_bytes() {
        output.push(&[*byte]);
    }
    assert_eq!(output.finish(ARTIFACT).text, "清华 ok\n");
}

#[test]
fn bad_bytes_are_replaced_and_a_cut_character_is_said() {
    let mut output = OutputText::new(100);
    output.push("清华大学".as_bytes());
    output.push(b"\xe9 \xe6\xb8");
    let end = output.finish(ARTIFACT);
    assert_eq!(end.text, "清华大学\u{fffd} \u{fffd}");
    assert_eq!(end.written, Written::BrokenUtf8);
    assert_eq!(end.content, Content::Text);
}

#[test]
fn binary_output_is_named_and_not_shown() {
    let mut output = OutputText::new(100);
    output.push(b"\xff\xfe");
    output.push(b"\x00");
    let end = output.finish(ARTIFACT);
    assert_eq!(end.text, "binary, 3 bytes, application/octet-stream");
    assert_eq!(end.content, Content::Binary);
}

#[test]
fn a_silent_stream_is_empty_text() {
    let end = OutputText::new(100).finish(ARTIFACT);
    assert_eq!(
        (end.text.as_str(), end.lines, end.content),
        ("", 0, Content::Text)
    );
}
