use outfitter_text::ansi::{AnsiFold, MAX_FOLDED_LINE_BYTES, fold};
use proptest::prelude::*;
use rstest::rstest;
use std::borrow::Cow;

#[rstest]
#[case::plain("a\tb\nc", "a\tb\nc")]
#[case::colours("\x1b[1;38;5;196merror\x1b[0m[E1]: x", "error[E1]: x")]
#[case::colon_parameters("\x1b[4:3mcurly\x1b[m", "curly")]
#[case::private_mode("\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor")]
#[case::cursor_moves("\x1b[2J\x1b[H\x1b[10;20Hhere\x1b[A\x1b[3C", "here")]
#[case::title_ended_by_bel("\x1b]0;the title\x07text", "text")]
#[case::title_ended_by_st("\x1b]2;the title\x1b\\text", "text")]
#[case::hyperlink("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\!", "link!")]
#[case::dcs("\x1bPq#0;2;0;0;0~~\x1b\\after", "after")]
#[case::apc_pm_sos("\x1b_a\x1b\\1\x1b^b\x1b\\2\x1bXc\x1b\\3", "123")]
#[case::charset("\x1b(B\x1b)0box", "box")]
#[case::single_escapes("\x1b7saved\x1b8\x1bM\x1bc\x1b=", "saved")]
#[case::c1_csi("\u{9b}31mred\u{9b}0m", "red")]
#[case::c1_osc("\u{9d}0;title\u{9c}text", "text")]
#[case::c1_next_line("a\u{85}b", "a\nb")]
#[case::latin_letters_next_to_c1("\u{a0}\u{e9}\u{c2}\u{bf}", "\u{a0}\u{e9}\u{c2}\u{bf}")]
#[case::crlf("one\r\ntwo\r\n", "one\ntwo\n")]
#[case::two_carriage_returns("one\r\r\ntwo", "one\ntwo")]
#[case::progress_bar("  1%\r 50%\r100%\ndone\n", "100%\ndone\n")]
#[case::progress_ended_by_return("1/2\r2/2\r", "2/2")]
#[case::erase_then_draw("fetch 1\r\x1b[Kfetch 2\r\x1b[Kok\n", "ok\n")]
#[case::erase_line("building a\x1b[2K\x1b[1Gbuilding b\n", "building b\n")]
#[case::erased_and_left_empty("working\r\x1b[2K\n", "\n")]
#[case::column_one("a\x1b[Gb", "b")]
#[case::spinner("|\x08/\x08-\x08\\\x08 done", " done")]
#[case::overstrike("N\x08NA\x08AM\x08ME\x08E _\x08x", "NAME x")]
#[case::rubbed_out("passwort\x08 \x08d", "password")]
#[case::backspace_at_the_line_start("a\n\x08\x08b", "a\nb")]
#[case::backspace_over_wide("清\x08x", "x")]
#[case::trailing_backspace("abc\x08", "abc")]
#[case::nul("a\0b", "a\u{2400}b")]
#[case::bell_and_other_controls("a\x07\x01\x7f\x0eb", "ab")]
#[case::page_breaks("a\x0cb\x0bc", "a\nb\nc")]
#[case::escape_at_the_end("text\x1b", "text")]
#[case::unfinished_csi("text\x1b[3", "text")]
#[case::csi_broken_by_a_line_end("a\x1b[31\nb", "a\nb")]
#[case::csi_broken_by_text("\x1b[3清", "清")]
#[case::title_that_never_ends("\x1b]0;oops\nnext line", "\nnext line")]
#[case::title_cancelled("\x1b]0;oops\x18text", "text")]
#[case::tmux_passthrough("\x1bPtmux;\x1b\x1b]0;t\x07\x1b\\text", "text")]
#[case::replacement_character("\u{fffd}x", "\u{fffd}x")]
fn terminal_output_reads_as_it_is_seen(#[case] raw: &str, #[case] seen: &str) {
    assert_eq!(fold(raw), seen);
}

#[test]
fn text_without_control_is_not_copied() {
    assert!(matches!(fold("plain\n\tÂ text: é 清"), Cow::Borrowed(_)));
}

#[test]
fn an_endless_line_is_passed_on_and_not_held() {
    let mut folder = AnsiFold::default();
    let mut out = String::new();
    for _ in 0..100 {
        folder.push(&"x".repeat(10_000), &mut out);
    }
    assert!(out.len() >= 1_000_000 - MAX_FOLDED_LINE_BYTES);
    folder.finish(&mut out);
    assert_eq!(out, "x".repeat(1_000_000));
}

/// Text dense in what the folder treats specially.
fn terminal_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z ]{0,5}",
        prop::sample::select(vec![
            "\x1b", "[", "]", "\\", "2K", "31m", "1G", "\r", "\n", "\r\n", "\x08", "\x07", "\0",
            "\u{9b}", "\u{9d}", "\u{9c}", "\u{c2}", "清", "(", "P", ";", "\x18", "\t", "\x7f",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn how_a_stream_is_cut_makes_no_difference(
        text in terminal_text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut cuts: Vec<usize> =
            cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        cuts.push(text.len());
        cuts.sort_unstable();
        let (mut folder, mut out, mut from) = (AnsiFold::default(), String::new(), 0);
        for cut in cuts {
            folder.push(&text[from..cut], &mut out);
            from = cut;
        }
        folder.finish(&mut out);
        prop_assert_eq!(out, fold(&text));
    }

    #[test]
    fn nothing_unreadable_is_left(text in terminal_text()) {
        let seen = fold(&text);
        prop_assert!(
            seen.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'),
            "{:?}", seen
        );
        prop_assert_eq!(fold(&seen), seen.as_ref());
    }
}
