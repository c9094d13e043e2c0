use outfitter_text::head_tail::{Bounded, Budget, Cut, Extent, Whole, bound};
use outfitter_text::tokens::Fit;
use proptest::prelude::*;
use rstest::rstest;

const ARTIFACT: Whole<'_> = Whole::Artifact("art_01HX");

fn cut_of<'a>(text: &'a str, budget: Budget) -> Cut<'a> {
    let Bounded::Cut(cut) = bound(text, budget, ARTIFACT) else {
        unreachable!("fitted, but should not have");
    };
    cut
}

fn assert_adds_up(text: &str, cut: &Cut<'_>) {
    assert!(text.starts_with(&*cut.head), "the head is a prefix");
    assert!(text.ends_with(&*cut.tail), "the tail is a suffix");
    let (all, head, tail) = (
        Extent::of(text),
        Extent::of(&cut.head),
        Extent::of(&cut.tail),
    );
    assert_eq!(head.bytes + cut.omitted.bytes + tail.bytes, all.bytes);
    assert_eq!(head.lines + cut.omitted.lines + tail.lines, all.lines);
    assert!(cut.omitted.bytes > 0);
    let said = format!(
        "{} bytes ({} lines) left out",
        cut.omitted.bytes, cut.omitted.lines
    );
    assert!(cut.marker.contains(&said), "{}", cut.marker);
}

#[test]
fn a_log_is_cut_between_lines_and_says_where_the_rest_is() {
    let log: String = (1..=200).map(|n| format!("line {n}\n")).collect();
    let short = bound(&log, Budget::Chars(220), ARTIFACT).to_string();
    insta::assert_snapshot!(short, @r"
    line 1
    line 2
    line 3
    line 4
    line 5
    line 6
    line 7
    [... 1589 bytes (187 lines) left out; the whole is artifact art_01HX, read_artifact gives any part of it ...]
    line 195
    line 196
    line 197
    line 198
    line 199
    line 200
    ");
}

#[test]
fn what_is_not_kept_is_said_to_be_gone() {
    let short = bound(
        &"x".repeat(1000),
        Budget::Chars(200),
        Whole::Beginning("art_2"),
    )
    .to_string();
    assert!(short.contains("artifact art_2 has only a part"), "{short}");
    assert!(!short.contains("the whole"), "{short}");
    let short = bound(&"x".repeat(100), Budget::Chars(60), Whole::NotKept).to_string();
    insta::assert_snapshot!(short, @r"
    xxx
    [... 93 bytes (0 lines) left out and not kept ...]
    xxxx
    ");
}

#[rstest]
#[case::tokens(Budget::Tokens(20))]
#[case::chars(Budget::Chars(100))]
#[case::bytes(Budget::Bytes(100))]
fn what_fits_is_left_alone(#[case] budget: Budget) {
    let text = "short enough\n";
    assert_eq!(bound(text, budget, ARTIFACT), Bounded::Whole(text.into()));
}

#[rstest]
#[case::tokens(Budget::Tokens(3))]
#[case::chars(Budget::Chars(3))]
#[case::no_bytes(Budget::Bytes(0))]
fn a_budget_too_small_for_the_marker_keeps_the_marker_alone(#[case] budget: Budget) {
    let text = "a text that is longer than three of anything";
    let cut = cut_of(text, budget);
    assert_eq!((&*cut.head, &*cut.tail), ("", ""));
    assert_eq!(cut.omitted.bytes, text.len() as u64);
    assert_adds_up(text, &cut);
}

#[rstest]
#[case::code("fn main() { println!(\"{}\", 1 + 2); }\n")]
#[case::chinese("清华大学的学生在图书馆里看书。")]
#[case::one_letter("a")]
#[case::spaces(" ")]
#[case::line_breaks("\n")]
#[case::crab("🦀")]
#[case::base64("kJ8s+/Qz0w")]
#[case::json("{\"path\":\"src/main.rs\",\"line\":17},")]
fn ten_megabytes_of_anything_keep_to_a_budget_of_tokens(#[case] unit: &str) {
    let text = unit.repeat(10_000_000 / unit.len());
    let budget = Budget::Tokens(1000);
    let cut = cut_of(&text, budget);
    assert_adds_up(&text, &cut);
    let joined = bound(&text, budget, ARTIFACT).to_string();
    assert_eq!(budget.fit(&joined), Fit::Within);
    assert!(
        budget.size(&joined) > 700,
        "only {} used",
        budget.size(&joined)
    );
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9 .,;\n\t-]{0,40}",
        any::<char>().prop_map(String::from),
        ("[a-z 清🦀\n]", 1..200_usize).prop_map(|(unit, times)| unit.repeat(times)),
        "'(s|t|re|ll)\r\n {0,9}\n{0,9}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn budget() -> impl Strategy<Value = Budget> {
    prop_oneof![
        (60..400_usize).prop_map(Budget::Tokens),
        (150..2000_usize).prop_map(Budget::Chars),
        (150..2000_usize).prop_map(Budget::Bytes),
    ]
}

proptest! {
    #[test]
    fn no_text_exceeds_its_budget_and_the_counts_add_up(text in text(), budget in budget()) {
        let bounded = bound(&text, budget, ARTIFACT);
        let joined = bounded.to_string();
        prop_assert!(budget.size(&joined) <= budget.limit());
        match bounded {
            Bounded::Whole(whole) => prop_assert_eq!(&*whole, text.as_str()),
            Bounded::Cut(cut) => {
                prop_assert!(budget.size(&text) > budget.limit());
                assert_adds_up(&text, &cut);
            }
        }
    }
}
