//! What patches mean, as examples and as laws.

use proptest::prelude::*;
use rstest::rstest;
use similar::TextDiff;

use super::*;

fn hunks_of(patch: &str) -> Vec<Hunk> {
    match parse(patch).unwrap().files.remove(0).change {
        Change::Update { hunks, .. } | Change::Delete { hunks, .. } => hunks,
        Change::Create { .. } => panic!("a new file"),
    }
}

fn patched(text: &str, patch: &str) -> Result<String, Why> {
    apply(text, &hunks_of(patch))
        .map(|applied| applied.text)
        .map_err(|misfit| misfit.why)
}

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
}

fn unified(body: &str) -> String {
    format!("--- a/f\n+++ b/f\n{body}")
}

#[test]
fn an_envelope_adds_updates_moves_and_deletes() {
    let patch = parse(
        "*** Begin Patch\n*** Add File: a/new.txt\n+one\n+\n+two\n*** Update File: old.py\n\
         *** Move to: new.py\n@@ class A\n@@ def f(self):\n-        return 1\n+        return 2\n\
         *** Delete File: gone.md\n*** End Patch\n",
    )
    .unwrap();
    insta::assert_debug_snapshot!(patch);
}

#[test]
fn a_diff_of_git_creates_deletes_renames_and_changes() {
    let patch = parse(
        "From 1234 Mon Sep 17 00:00:00 2001\nSubject: all of it\n\n---\n 4 files changed\n\n\
         diff --git a/run.sh b/run.sh\nnew file mode 100755\nindex 0000000..e69de29\n--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+true\n\
         diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n\
         diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n\
         diff --git a/old name b/new name\nsimilarity index 90%\nrename from old name\nrename to new name\n--- a/old name\t\n+++ b/new name\t\n@@ -1,2 +1,2 @@ fn main()\n a\n-b\n+c\n\
         diff --git \"a/\\303\\274.txt\" \"b/\\303\\274.txt\"\nindex 1..2 100644\n--- \"a/\\303\\274.txt\"\n+++ \"b/\\303\\274.txt\"\n@@ -1 +1 @@\n-u\n+v\n-- \n2.39.2\n",
    )
    .unwrap();
    insta::assert_debug_snapshot!(patch);
}

#[rstest]
#[case("", 1)]
#[case("hello\n", 1)]
#[case("*** Begin Patch\n*** Add File: x\n+a\n", 4)]
#[case("*** Begin Patch\n*** Add File:\n+a\n*** End Patch", 2)]
#[case("*** Begin Patch\n*** Add File: x\na\n*** End Patch", 3)]
#[case("*** Begin Patch\n*** Update File: x\n@@\n?\n*** End Patch", 4)]
#[case("*** Begin Patch\n*** Update File: x\n*** End Patch", 2)]
#[case("*** Begin Patch\n*** Update File: x\n@@ a\n*** End Patch", 3)]
#[case("*** Begin Patch\n*** Delete File: x\n*** End Patch\nmore", 4)]
#[case("@@ -1 +1 @@\n-a\n+b\n", 1)]
#[case("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\nb\n", 5)]
#[case("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", 1)]
#[case("--- a/x\n+++ b/x\n", 1)]
#[case("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", 1)]
#[case(
    "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n",
    3
)]
#[case("diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\n", 3)]
#[case(
    "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n",
    2
)]
fn what_cannot_be_read_is_told_by_its_line(#[case] patch: &str, #[case] line: usize) {
    assert_eq!(parse(patch).unwrap_err().line, line);
}

#[test]
fn a_hunk_that_has_moved_is_taken_where_it_fits_alone() {
    let patch = unified("@@ -1,2 +1,2 @@\n two\n-three\n+3\n");
    assert_eq!(
        patched("0\n1\ntwo\nthree\n", &patch).unwrap(),
        "0\n1\ntwo\n3\n"
    );
    let twice = "two\nthree\nx\ntwo\nthree\n";
    assert_eq!(patched(twice, &patch).unwrap(), "two\n3\nx\ntwo\nthree\n");
    let moved = format!("0\n{twice}");
    assert_eq!(
        patched(&moved, &patch),
        Err(Why::Ambiguous {
            places: vec![2, 5],
            count: 2
        })
    );
}

#[test]
fn a_hunk_without_numbers_must_fit_in_one_place() {
    let text = "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 1\n    return x\n";
    let hunk = "-    x = 1\n+    x = 2\n";
    assert_eq!(
        patched(text, &envelope(hunk)),
        Err(Why::Ambiguous {
            places: vec![2, 6],
            count: 2
        })
    );
    let second = envelope(&format!("@@ def b():\n{hunk}"));
    assert_eq!(
        patched(text, &second).unwrap(),
        "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 2\n    return x\n"
    );
    let nowhere = envelope(&format!("@@ def c():\n{hunk}"));
    assert_eq!(
        patched(text, &nowhere),
        Err(Why::NoAnchor {
            anchor: "def c():".to_owned()
        })
    );
}

#[test]
fn nothing_is_taken_that_only_looks_alike() {
    let patch = envelope("-a \n+b\n");
    assert_eq!(patched("a\n", &patch), Err(Why::NotFound { nearest: None }));
    let patch = envelope(" one\n two\n-three\n");
    assert_eq!(
        patched("one\ntwo\nthrEE\n", &patch),
        Err(Why::NotFound {
            nearest: Some((3, "three".to_owned(), "thrEE".to_owned()))
        })
    );
}

#[test]
fn hunks_in_another_order_than_the_text_are_named() {
    let patch = envelope("-c\n+C\n@@\n-a\n+A\n");
    assert_eq!(
        patched("a\nb\nc\n", &patch),
        Err(Why::OutOfOrder { line: 1 })
    );
}

#[rstest]
#[case("one\r\ntwo\r\n", "-two\n+2\n+3\n", "one\r\n2\r\n3\r\n")]
#[case("one\r\ntwo\r\n", " two\n+3\n", "one\r\ntwo\r\n3\r\n")]
#[case("a\nb\r\nc\n", "-b\n+B\n", "a\nB\r\nc\n")]
#[case("one\ntwo", "-two\n+2\n", "one\n2")]
#[case("one\ntwo", " two\n+3\n", "one\ntwo\n3")]
#[case("one\ntwo", "-two\n", "one\n")]
#[case("one\ntwo\n", "-two\r\n+2\r\n", "one\n2\n")]
#[case("one\r\ntwo\r\n", "-two\r\n+2\r\n", "one\r\n2\r\n")]
#[case("", "+one\n", "one\n")]
#[case("one\n", "+two\n", "one\ntwo\n")]
#[case("a\nb\na\n", "-a\n+A\n*** End of File\n", "a\nb\nA\n")]
#[case("a\n\nb\n", " a\n\n-b\n+c\n", "a\n\nc\n")]
fn lines_end_as_their_neighbours_do(#[case] text: &str, #[case] body: &str, #[case] after: &str) {
    assert_eq!(patched(text, &envelope(body)).unwrap(), after);
}

#[rstest]
#[case("x", "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n", "x\n")]
#[case("x\n", "@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n", "x")]
#[case(
    "a\nx",
    "@@ -1,2 +1,3 @@\n a\n-x\n\\ No newline at end of file\n+x\n+y\n\\ No newline at end of file\n",
    "a\nx\ny"
)]
#[case(
    "-- x\n++ y\n",
    "@@ -1,2 +1,2 @@\n--- x\n+++ z\n ++ y\n",
    "++ z\n++ y\n"
)]
#[case("a\nb\n", "@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n")]
#[case("a\nb\n", "@@ -0,0 +1 @@\n+x\n", "x\na\nb\n")]
#[case("a\nb\nc\n", "@@ -1,9 +1,9 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n")]
fn a_unified_diff_means_what_it_says(#[case] text: &str, #[case] body: &str, #[case] after: &str) {
    assert_eq!(patched(text, &unified(body)).unwrap(), after);
}

#[test]
fn a_marker_of_no_line_break_must_be_true() {
    let patch = unified("@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n");
    assert_eq!(patched("x\n", &patch), Err(Why::NotFound { nearest: None }));
}

/// Lines that repeat, so that places can be mistaken, with every kind of end.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "",
        "a",
        "b",
        "a b",
        "- x",
        "+y",
        "@@ z",
        "*** End Patch",
        "你好",
        "\\ n",
    ]);
    let end = prop::sample::select(vec!["\n", "\n", "\r\n"]);
    let lines = prop::collection::vec((line, end), 0..30);
    (lines, prop::sample::select(vec!["", "tail", "a"])).prop_map(|(lines, tail)| {
        let mut text: String = lines
            .into_iter()
            .flat_map(|(line, end)| [line, end])
            .collect();
        text.push_str(tail);
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// The law of patches: what was told apart comes together.
    #[test]
    fn the_diff_of_two_texts_makes_the_one_of_the_other(a in text(), b in text(), context in 1_usize..4) {
        prop_assume!(a != b);
        let diff = TextDiff::from_lines(a.as_str(), b.as_str());
        let patch = diff
            .unified_diff()
            .context_radius(context)
            .missing_newline_hint(true)
            .header("a/f", "b/f")
            .to_string();
        let hunks = hunks_of(&patch);
        let applied = apply(&a, &hunks);
        prop_assert_eq!(applied.map(|applied| applied.text), Ok(b), "{}", patch);
    }

    /// Whatever is sent, it is read or refused.
    #[test]
    fn no_text_breaks_the_reader(lines in prop::collection::vec(prop::sample::select(vec![
        "*** Begin Patch", "*** End Patch", "*** Add File: x", "*** Update File: y", "*** Delete File: z",
        "*** Move to: w", "*** End of File", "@@", "@@ a", "@@ -1,2 +1,2 @@", "@@ -0,0 +1 @@", "@@ -9999999999999999999,1 +1 @@",
        "--- a/f", "+++ b/f", "--- /dev/null", "+++ /dev/null", "diff --git a/f b/f", "diff --git \"a/\\3", "new file mode 100644",
        "deleted file mode 100644", "rename from f", "rename to g", "\\ No newline at end of file", "", " ", " a", "-a", "+a", "+你", "\r", "é",
    ]), 0..20), text in text()) {
        if let Ok(patch) = parse(&lines.join("\n")) {
            for file in patch.files {
                match file.change {
                    Change::Update { hunks, .. } | Change::Delete { hunks, .. } => { let _ = apply(&text, &hunks); }
                    Change::Create { .. } => {}
                }
            }
        }
    }

    #[test]
    fn no_characters_break_the_reader(text in any::<String>()) {
        let _ = parse(&text);
        let _ = parse(&envelope(&text));
        let _ = parse(&unified(&text));
    }
}

#[rstest]
#[case::a_command("apply_patch <<'EOF'\n", "EOF\n")]
#[case::without_quotes("apply_patch <<PATCH\n", "PATCH")]
#[case::double_quotes("apply_patch << \"END\"\n", "END\n")]
#[case::a_fence("```\n", "```\n")]
#[case::a_fence_with_a_language("\n```patch\n", "```\n\n")]
#[case::both("```sh\napply_patch <<'EOF'\n", "EOF\n```\n")]
fn a_patch_was_refused_for_what_models_write_around_it(#[case] before: &str, #[case] after: &str) {
    let envelope = "*** Begin Patch\n*** Update File: f\n@@\n-one\n+```\n+EOF\n*** End Patch\n";
    let diff = "--- a/f\n+++ b/f\n@@ -1,1 +1,2 @@\n-one\n+```\n+EOF\n";
    for patch in [envelope, diff] {
        let wrapped = parse(&format!("{before}{patch}{after}")).unwrap();
        let Change::Update { path, hunks, .. } = &wrapped.files[0].change else {
            panic!("{wrapped:?}")
        };
        assert_eq!(path, "f");
        assert_eq!(apply("one\ntwo\n", hunks).unwrap().text, "```\nEOF\ntwo\n");
        assert_eq!(wrapped.files.len(), 1);
    }
}

#[rstest]
#[case::of_another_word("apply_patch <<'EOF'\n", "END\n")]
#[case::of_another_command("cat <<'EOF'\n", "EOF\n")]
#[case::with_more_of_the_command("apply_patch <<'EOF' && rm -r x\n", "EOF\n")]
fn a_wrapping_that_is_none_is_no_part_of_a_patch(#[case] before: &str, #[case] after: &str) {
    let patch = "*** Begin Patch\n*** Add File: f\n+one\n*** End Patch\n";
    assert!(parse(&format!("{before}{patch}{after}")).is_err());
}
