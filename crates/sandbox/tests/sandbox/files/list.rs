//! Listing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use outfitter_core::{FileKind, Files, FilesError, List};
use rstest::rstest;

use super::world::{Machine, World, here, paths};

const ALL: List = List {
    depth: 10,
    max_items: 200,
    hidden: true,
    ignored: true,
};

async fn world(machine: Machine) -> Option<World<Arc<dyn Files>>> {
    let world = World::on(machine).await?;
    world.make("src/main.rs", "fn main() {}");
    world.make("src/deep/er/x.rs", "");
    world.make("src-old/y.rs", "");
    world.make("target/debug/out", "");
    world.make("debug.log", "");
    world.make(".hidden/file", "");
    world.make(".gitignore", "target/\n*.log\n!keep.log\n");
    world.make("keep.log", "");
    world.make("sub/.gitignore", "/only-here\n");
    world.make("sub/only-here", "");
    world.make("sub/deep/only-here", "");
    world.make(".git/config", "");
    world.make(".git/info/exclude", "excluded\n");
    world.make("excluded", "");
    Some(world)
}

#[rstest]
#[tokio::test]
async fn hidden_and_ignored_entries_are_left_out_and_order_is_that_of_paths(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    let listed = world.list(".", 2).await.unwrap();
    assert_eq!(
        paths(&listed),
        [
            "keep.log",
            "src",
            "src/deep",
            "src/main.rs",
            "src-old",
            "src-old/y.rs",
            "sub",
            "sub/deep",
        ]
    );
    let main = &listed.entries[3];
    assert_eq!((main.kind, main.size), (FileKind::File, 12));
    assert!(main.modified_ms > 0);
    assert!(!listed.walked.truncated);
}

#[rstest]
#[tokio::test]
async fn everything_is_shown_when_asked_but_the_inside_of_a_repository(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    let listed = world.files.list(here("."), ALL).await.unwrap();
    let all = paths(&listed);
    for path in [
        ".git",
        ".hidden/file",
        "target/debug/out",
        "debug.log",
        "excluded",
    ] {
        assert!(all.contains(&path), "{path}: {all:?}");
    }
    assert!(!all.contains(&".git/config"), "{all:?}");
    let inside = world.files.list(here(".git"), ALL).await.unwrap();
    assert_eq!(
        paths(&inside),
        [".git/config", ".git/info", ".git/info/exclude"]
    );
}

#[rstest]
#[tokio::test]
async fn ignore_files_above_the_directory_count(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    world.make("sub/deep/x.log", "");
    world.make("sub/deep/x.txt", "");
    let listed = world.list("sub/deep", 1).await.unwrap();
    assert_eq!(paths(&listed), ["sub/deep/only-here", "sub/deep/x.txt"]);
    // A directory that is named is entered, ignored or not.
    assert_eq!(
        paths(&world.list("target", 1).await.unwrap()),
        ["target/debug"]
    );
}

#[rstest]
#[tokio::test]
async fn a_repository_inside_starts_afresh(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    world.make("vendor/lib/.git/HEAD", "");
    world.make("vendor/lib/own.log", "");
    world.make("vendor/other.log", "");
    let listed = world.list("vendor", 3).await.unwrap();
    assert_eq!(paths(&listed), ["vendor/lib", "vendor/lib/own.log"]);
}

#[rstest]
#[tokio::test]
async fn a_limit_cuts_the_depths_first_and_is_said(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for file in 0..50 {
        world.make(&format!("a/{file:02}"), "");
    }
    world.make("b", "");
    let few = List {
        max_items: 10,
        hidden: false,
        ..ALL
    };
    let listed = world.files.list(here("."), few.clone()).await.unwrap();
    assert!(listed.walked.truncated);
    assert_eq!(paths(&listed)[..3], ["a", "a/00", "a/01"]);
    assert_eq!(paths(&listed).last(), Some(&"b"));
    assert_eq!(listed.entries.len(), 10);
    let exact = List {
        max_items: 52,
        ..few
    };
    let listed = world.files.list(here("."), exact).await.unwrap();
    assert_eq!((listed.entries.len(), listed.walked.truncated), (52, false));
}

#[rstest]
#[tokio::test]
async fn links_and_special_files_are_named_for_what_they_are(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.link("link", "nowhere");
    super::write::make_pipe(&world, "pipe");
    let listed = world.list(".", 1).await.unwrap();
    let kinds: Vec<FileKind> = listed.entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [FileKind::Symlink, FileKind::Special]);
}

#[rstest]
#[tokio::test]
async fn a_name_that_is_not_utf8_is_listed_with_a_remark(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    fs::write(world.workspace.join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    let listed = world.list(".", 2).await.unwrap();
    assert_eq!(paths(&listed), ["caf\u{fffd}"]);
    assert_eq!(listed.walked.skipped.len(), 1);
    assert!(
        listed.walked.skipped[0].contains("UTF-8"),
        "{:?}",
        listed.walked
    );
    let found = world.grep(".", "x").await.unwrap();
    assert_eq!(found.hits, []);
    assert!(
        found.walked.skipped[0].contains("UTF-8"),
        "{:?}",
        found.walked
    );
}

#[rstest]
#[tokio::test]
async fn a_file_is_not_a_directory(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = world(machine).await else {
        return;
    };
    let error = world.list("debug.log", 1).await.unwrap_err();
    assert!(
        matches!(
            error,
            FilesError::WrongKind {
                is: "a file",
                wanted: "a directory",
                ..
            }
        ),
        "{error:?}"
    );
}

#[rstest]
#[tokio::test]
async fn a_bad_line_of_an_ignore_file_is_said_and_the_rest_holds(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make(".gitignore", "*.log\n[z-a]\n");
    world.make("x.log", "");
    world.make("x.txt", "");
    let listed = world.list(".", 1).await.unwrap();
    assert_eq!(paths(&listed), ["x.txt"]);
    assert!(
        listed.walked.skipped[0].starts_with(".gitignore:"),
        "{:?}",
        listed.walked
    );
}

#[rstest]
#[tokio::test]
async fn remarks_are_bounded_and_the_rest_is_counted(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for file in 0..80_u8 {
        let name = [b'a' + file / 26, b'a' + file % 26, 0xff];
        fs::write(world.workspace.join(OsStr::from_bytes(&name)), "").unwrap();
    }
    let listed = world.list(".", 1).await.unwrap();
    assert_eq!(listed.walked.skipped.len(), 51);
    assert_eq!(listed.walked.skipped[50], "and 30 more");
}
