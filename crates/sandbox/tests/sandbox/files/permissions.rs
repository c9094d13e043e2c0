//! What the system denies to its users is denied here too, and said.

use std::fs;

use outfitter_core::{FilesError, PutMode};
use rstest::rstest;

use super::world::{Machine, World, here, hits, put};

/// The superuser is denied nothing, so that there is nothing to see.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn nothing_is_denied() -> bool {
    let root = rustix::process::geteuid().is_root();
    if root {
        eprintln!("SKIPPED(root): this runs as root, whom no permission bits hold back");
    }
    root
}

#[rstest]
#[case::replacing(PutMode::Replace)]
#[case::appending(PutMode::Append)]
#[tokio::test]
async fn a_file_that_is_read_only_is_not_written(
    #[case] mode: PutMode,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    if nothing_is_denied() {
        return;
    }
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("fixed", "old");
    world.make_mode("fixed", 0o444);
    let error = world
        .files
        .put(here("fixed"), put("new", mode, None))
        .await
        .unwrap_err();
    assert!(matches!(error, FilesError::Denied { .. }), "{error:?}");
    assert_eq!(world.bytes("fixed"), b"old");
    assert_eq!(fs::read_dir(&world.workspace).unwrap().count(), 1);
}

#[rstest]
#[tokio::test]
async fn what_cannot_be_read_is_said_and_the_rest_is_found(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    if nothing_is_denied() {
        return;
    }
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("closed/x", "needle");
    world.make("secret", "needle");
    world.make("x", "needle");
    world.make_mode("closed", 0o000);
    world.make_mode("secret", 0o000);
    let error = world.read("secret").await.unwrap_err();
    assert!(matches!(error, FilesError::Denied { .. }), "{error:?}");
    let found = world.grep(".", "needle").await.unwrap();
    assert_eq!(hits(&found), ["x:1:1:needle"]);
    assert_eq!(found.walked.skipped.len(), 2, "{:?}", found.walked);
    let listed = world.list(".", 2).await.unwrap();
    assert_eq!(listed.entries.len(), 3);
    assert!(listed.walked.skipped[0].starts_with("closed: "));
    let said = listed.walked.skipped[0].to_lowercase();
    assert!(said.contains("permission denied"), "{said}");
    world.make_mode("closed", 0o700);
}
