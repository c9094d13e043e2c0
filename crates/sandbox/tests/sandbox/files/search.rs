//! Searching content.

use std::fs;
use std::sync::Arc;

use outfitter_core::{Files, FilesError, Search, SearchMode};
use rstest::rstest;

use super::world::{Machine, World, here, hits, search};

async fn world(machine: Machine) -> Option<World<Arc<dyn Files>>> {
    let world = World::on(machine).await?;
    world.make("a.txt", "one\ntwo needle\nthree\nneedle needle\nfive\n");
    world.make("b/c.rs", "fn needle() {}\r\n");
    world.make("b/d.md", "nothing here\n");
    world.make("ignored/x", "needle\n");
    world.make(".gitignore", "ignored\n");
    world.make(".hidden", "needle\n");
    Some(world)
}

#[rstest]
#[tokio::test]
async fn matches_come_by_path_and_line_with_columns_in_characters(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    world.make("z.txt", "żółć: needle\n");
    let found = world.grep(".", "needle").await.unwrap();
    assert_eq!(
        hits(&found),
        [
            "a.txt:2:5:two needle",
            "a.txt:4:1:needle needle",
            "b/c.rs:1:4:fn needle() {}",
            "z.txt:1:7:żółć: needle",
        ]
    );
    assert_eq!((found.count, found.walked.truncated), (4, false));
}

#[rstest]
#[case::anywhere("*.rs", &["b/c.rs"])]
#[case::excluded("!*.rs", &["a.txt"])]
#[case::by_directory("b/**", &["b/c.rs"])]
#[case::braces("*.{txt,rs}", &["a.txt", "b/c.rs"])]
#[case::hidden(".hid*", &[".hidden"])]
#[tokio::test]
async fn a_glob_narrows_it(
    #[case] glob: &str,
    #[case] expected: &[&str],
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    let narrowed = Search {
        glob: Some(glob.to_owned()),
        mode: SearchMode::Files,
        ..search("needle")
    };
    let found = world.files.search(here("."), narrowed).await.unwrap();
    let files: Vec<&str> = found.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(files, expected);
    assert_eq!(found.count, expected.len() as u64);
}

#[rstest]
#[tokio::test]
async fn a_type_narrows_it_by_ripgreps_names(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    let of = |name: &str| Search {
        file_type: Some(name.to_owned()),
        ..search("needle")
    };
    let found = world.files.search(here("."), of("rust")).await.unwrap();
    assert_eq!(hits(&found), ["b/c.rs:1:4:fn needle() {}"]);
    let error = world
        .files
        .search(here("."), of("nosuch"))
        .await
        .unwrap_err();
    assert!(matches!(error, FilesError::Invalid { .. }), "{error:?}");
}

#[rstest]
#[tokio::test]
async fn counting_gives_each_file_and_their_sum(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    let counting = Search {
        mode: SearchMode::Count,
        ..search("needle")
    };
    let found = world.files.search(here("."), counting).await.unwrap();
    let counts: Vec<(&str, u64)> = found
        .hits
        .iter()
        .map(|hit| (hit.path.as_str(), hit.count))
        .collect();
    assert_eq!(counts, [("a.txt", 2), ("b/c.rs", 1)]);
    assert_eq!(found.count, 3);
}

#[rstest]
#[tokio::test]
async fn context_is_whole_around_every_match(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("f", "1\n2\nx3\nx4\n5\n6\n7\nx8");
    let around = Search {
        before: 1,
        after: 2,
        ..search("x")
    };
    let found = world.files.search(here("f"), around.clone()).await.unwrap();
    let context: Vec<(&[String], &[String])> = found
        .hits
        .iter()
        .map(|hit| (&hit.before[..], &hit.after[..]))
        .collect();
    let lines = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        context,
        [
            (&lines(&["2"])[..], &lines(&["x4", "5"])[..]),
            (&lines(&["x3"])[..], &lines(&["5", "6"])[..]),
            (&lines(&["7"])[..], &[][..]),
        ]
    );
    // A limit does not take the lines after the last match given.
    let few = Search { limit: 1, ..around };
    let found = world.files.search(here("f"), few).await.unwrap();
    assert_eq!(found.hits.len(), 1);
    assert_eq!(found.hits[0].after, ["x4", "5"]);
    assert!(found.walked.truncated);
}

#[rstest]
#[tokio::test]
async fn a_match_over_lines_is_one_hit_where_asked(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("f", "start\nfoo(\n  bar\n)\nend\n");
    let over = Search {
        multiline: true,
        ..search(r"foo\([^)]*\)")
    };
    let found = world.files.search(here("."), over).await.unwrap();
    assert_eq!(hits(&found), ["f:2:1:foo(\n  bar\n)"]);
    let error = world.grep(".", r"foo\(\n").await.unwrap_err();
    assert!(
        matches!(&error, FilesError::Invalid { why, .. } if why.contains("multiline")),
        "{error:?}"
    );
}

#[rstest]
#[case::group("(unclosed")]
#[case::repetition("a{2,1}")]
#[case::huge(r"(?:\w{1000}){1000}")]
#[tokio::test]
async fn an_expression_that_is_none_is_refused_with_the_reason(
    #[case] pattern: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let error = world.grep(".", pattern).await.unwrap_err();
    assert!(
        matches!(&error, FilesError::Invalid { why, .. } if !why.is_empty()),
        "{error:?}"
    );
}

#[rstest]
#[tokio::test]
async fn case_does_not_matter_where_asked(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("f", "NEEDLE ÄÖ\n");
    let loose = Search {
        case_insensitive: true,
        ..search("needle äö")
    };
    assert_eq!(world.files.search(here("."), loose).await.unwrap().count, 1);
    assert_eq!(world.grep(".", "needle").await.unwrap().count, 0);
}

#[rstest]
#[tokio::test]
async fn binary_files_are_skipped_and_said(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("a.bin", b"needle\0needle\n");
    // Only its end tells.
    let late = [&b"needle\n"[..], &b"text\n".repeat(50_000), b"\0"].concat();
    world.make("b.bin", late);
    world.make("c.txt", "needle\n");
    let found = world.grep(".", "needle").await.unwrap();
    assert_eq!(hits(&found), ["c.txt:1:1:needle"]);
    assert_eq!(found.walked.skipped, ["2 binary files, first a.bin"]);
    let found = world.grep("a.bin", "needle").await.unwrap();
    assert_eq!(found.walked.skipped, ["a.bin: binary"]);
}

#[rstest]
#[tokio::test]
async fn utf16_with_a_mark_is_text(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for (name, mark, big) in [("le", [0xff, 0xfe], false), ("be", [0xfe, 0xff], true)] {
        let mut bytes = mark.to_vec();
        for unit in "erste\nzweite nadel\n".encode_utf16() {
            bytes.extend(if big {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            });
        }
        world.make(name, bytes);
    }
    let found = world.grep(".", "nadel").await.unwrap();
    assert_eq!(hits(&found), ["be:2:8:zweite nadel", "le:2:8:zweite nadel"]);
    let encodings: Vec<_> = found.hits.iter().map(|hit| hit.encoding).collect();
    assert_eq!(encodings, [Some("utf-16be"), Some("utf-16le")]);
}

/// Found by what is written, whatever bytes it has, and shown so.
#[rstest]
#[case::gbk(
    b"x = 1\ny = 2 # \xd6\xd0\xce\xc4\xd7\xa2\xca\xcd\n",
    "中文",
    "2:9:y = 2 # 中文注释",
    "gbk"
)]
#[case::latin(
    b"Le caf\xe9 \xe9tait ferm\xe9\n",
    "café",
    "1:4:Le café était fermé",
    "windows-1252"
)]
#[case::utf16(b"a\0\n\0n\0\xe9\0e\0d\0l\0e\0", "née", "2:1:néedle", "utf-16le")]
#[tokio::test]
async fn a_text_of_another_encoding_is_found_and_shown_decoded(
    #[case] bytes: &[u8],
    #[case] pattern: &str,
    #[case] expected: &str,
    #[case] encoding: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("f", bytes);
    world.make("g", "plain");
    let found = world.grep(".", pattern).await.unwrap();
    assert_eq!(hits(&found), [format!("f:{expected}")]);
    assert_eq!(found.hits[0].encoding, Some(encoding));
    for (mode, count) in [(SearchMode::Files, 0), (SearchMode::Count, 1)] {
        let mut wanted = search(pattern);
        wanted.mode = mode;
        let found = world.files.search(here("f"), wanted).await.unwrap();
        let [hit] = found.hits.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(hit.count, count);
    }
    let found = world.grep(".", "plain").await.unwrap();
    assert_eq!(
        (hits(&found), found.hits[0].encoding),
        (vec!["g:1:1:plain".to_owned()], None)
    );
}

#[rstest]
#[tokio::test]
async fn a_line_ending_of_two_characters_is_one_end(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("f", "one\r\ntwo\r\n");
    assert_eq!(hits(&world.grep(".", "two$").await.unwrap()), ["f:2:1:two"]);
}

#[rstest]
#[tokio::test]
async fn a_limit_stops_the_search_in_order_and_is_said(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for file in 0..300 {
        world.make(&format!("{file:03}"), "needle\nneedle\n");
    }
    let few = Search {
        limit: 5,
        ..search("needle")
    };
    let found = world.files.search(here("."), few).await.unwrap();
    assert_eq!(
        hits(&found),
        [
            "000:1:1:needle",
            "000:2:1:needle",
            "001:1:1:needle",
            "001:2:1:needle",
            "002:1:1:needle",
        ]
    );
    assert_eq!((found.count, found.walked.truncated), (5, true));
    let exact = Search {
        limit: 600,
        ..search("needle")
    };
    let found = world.files.search(here("."), exact).await.unwrap();
    assert_eq!((found.count, found.walked.truncated), (600, false));
    assert!(
        found
            .hits
            .is_sorted_by_key(|hit| (hit.path.clone(), hit.line))
    );
}

#[rstest]
#[tokio::test]
async fn a_long_line_is_bounded_around_its_match(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let line = format!("{}needle{}", "a".repeat(1 << 20), "b".repeat(1 << 20));
    world.make("f", line);
    let found = world.grep(".", "needle").await.unwrap();
    let hit = &found.hits[0];
    assert_eq!(hit.column, (1 << 20) + 1);
    assert!(hit.text.len() < 1100 && hit.text.contains("needle"));
}

#[rstest]
#[tokio::test]
async fn an_ignored_file_that_is_named_is_searched(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    assert_eq!(
        hits(&world.grep("ignored/x", "needle").await.unwrap()),
        ["ignored/x:1:1:needle"]
    );
    assert_eq!(world.grep("ignored", "needle").await.unwrap().count, 1);
    assert_eq!(world.grep(".hidden", "needle").await.unwrap().count, 1);
}

#[rstest]
#[tokio::test]
async fn a_pipe_is_not_searched_and_does_not_block(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    super::write::make_pipe(&world, "pipe");
    world.make("f", "needle\n");
    assert_eq!(world.grep(".", "needle").await.unwrap().count, 1);
    let error = world.grep("pipe", "x").await.unwrap_err();
    assert!(matches!(error, FilesError::WrongKind { .. }), "{error:?}");
    fs::remove_file(world.path("pipe")).unwrap();
}
