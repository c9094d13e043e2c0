//! All files together have no more bytes than the quota allows.

use std::fs;
use std::sync::Arc;

use outfitter_core::{Becomes, FileChange, Files, FilesError, Hash, NewMode, PutMode, Reach};
use outfitter_core::{Bytes, Written};
use outfitter_sandbox::{FileLimits, FileQuota, QuotaCounts};
use rstest::rstest;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

use super::world::{Machine, World, here, put};

async fn held_to(
    machine: Machine,
    bytes: u64,
    counts: QuotaCounts,
) -> Option<World<Arc<dyn Files>>> {
    let limits = FileLimits {
        quota: Some(FileQuota { bytes, counts }),
        ..FileLimits::default()
    };
    World::limited_on(machine, limits).await
}

async fn write(
    files: &Arc<dyn Files>,
    path: &str,
    bytes: usize,
    mode: PutMode,
) -> Result<Written, FilesError> {
    files
        .put(here(path), put(&"x".repeat(bytes), mode, None))
        .await
}

/// What was to be added, what counts and what may be, of a refusal for the quota.
fn over(error: &FilesError) -> (u64, u64, u64) {
    let FilesError::OverQuota {
        more, used, limit, ..
    } = error
    else {
        unreachable!("{error:?}");
    };
    (*more, *used, *limit)
}

#[rstest]
#[tokio::test]
async fn every_way_of_writing_counts_and_what_is_refused_leaves_nothing(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = held_to(machine, 10, QuotaCounts::Made).await else {
        return;
    };
    let files = world.files.clone();
    write(&files, "a", 4, PutMode::Create).await.unwrap();
    write(&files, "a", 3, PutMode::Append).await.unwrap();
    write(&files, "b", 3, PutMode::Replace).await.unwrap();
    for (path, bytes, mode) in [
        ("new/deep/c", 1, PutMode::Create),
        ("a", 1, PutMode::Append),
        ("b", 4, PutMode::Replace),
    ] {
        let error = write(&files, path, bytes, mode).await.unwrap_err();
        assert_eq!(over(&error), (1, 10, 10), "{path}");
    }
    assert!(!world.path("new").exists());
    assert_eq!(world.bytes("a"), b"xxxxxxx");
    assert_eq!(world.bytes("b"), b"xxx");
    // Shorter makes room, and as much.
    write(&files, "a", 1, PutMode::Replace).await.unwrap();
    write(&files, "c", 6, PutMode::Create).await.unwrap();
    let error = write(&files, "c", 1, PutMode::Append).await.unwrap_err();
    assert_eq!(over(&error), (1, 10, 10));
}

#[rstest]
#[tokio::test]
async fn changes_made_together_count_together(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = held_to(machine, 10, QuotaCounts::Made).await else {
        return;
    };
    let files = world.files.clone();
    write(&files, "old", 8, PutMode::Create).await.unwrap();
    let change = |path: &str, to| FileChange {
        path: path.to_owned(),
        reach: Reach::Workspace,
        to,
    };
    let created = |path: &str, bytes: usize| {
        let bytes = Bytes::from(vec![b'y'; bytes]);
        let mode = NewMode::Plain;
        change(path, Becomes::Created { bytes, mode })
    };
    let too_much = vec![created("d/one", 2), created("d/two", 1)];
    let error = files.commit(too_much).await.unwrap_err();
    assert_eq!(over(&error), (3, 8, 10));
    assert!(!world.path("d").exists());
    let if_hash = Hash::of("xxxxxxxx");
    let moved = vec![
        created("d/one", 9),
        change("old", Becomes::Removed { if_hash }),
    ];
    files.commit(moved).await.unwrap();
    write(&files, "one", 1, PutMode::Create).await.unwrap();
    let error = write(&files, "more", 1, PutMode::Create).await.unwrap_err();
    assert_eq!(over(&error), (1, 10, 10));
}

#[rstest]
#[tokio::test]
async fn a_workspace_of_the_sessions_own_counts_whole_and_again_before_a_refusal(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = held_to(machine, 10, QuotaCounts::Workspace).await else {
        return;
    };
    world.make("by/a/command", "12345678");
    world.link("a-link", world.outside.join("secret.txt"));
    let files = world.files.clone();
    let error = write(&files, "a", 3, PutMode::Create).await.unwrap_err();
    assert_eq!(over(&error), (3, 8, 10));
    write(&files, "a", 2, PutMode::Create).await.unwrap();
    // A command makes room.
    fs::remove_file(world.path("by/a/command")).unwrap();
    write(&files, "b", 8, PutMode::Create).await.unwrap();
    let error = write(&files, "c", 1, PutMode::Create).await.unwrap_err();
    assert_eq!(over(&error), (1, 10, 10));
}

#[rstest]
#[tokio::test]
async fn a_write_that_fails_takes_no_room(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = held_to(machine, 10, QuotaCounts::Made).await else {
        return;
    };
    let files = world.files.clone();
    world.make("there", "1");
    for _ in 0..5 {
        write(&files, "there", 9, PutMode::Create)
            .await
            .unwrap_err();
        write(&files, "there/x", 9, PutMode::Create)
            .await
            .unwrap_err();
    }
    write(&files, "whole", 10, PutMode::Create).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn what_is_copied_in_counts_and_what_goes_out_does_not(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = held_to(machine, 10, QuotaCounts::Workspace).await else {
        return;
    };
    let files = world.files.clone();
    let tree = world.outside.join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("a"), "12345").unwrap();
    fs::write(tree.join("b"), "12345").unwrap();
    files.import(tree.clone(), here("in")).await.unwrap();
    files
        .export(here("in"), world.outside.join("out"))
        .await
        .unwrap();
    let one = tree.join("a");
    let error = files.import(one.clone(), here("one")).await.unwrap_err();
    assert_eq!(over(&error), (5, 10, 10));
    fs::remove_file(world.path("in/a")).unwrap();
    files.import(one.clone(), here("one")).await.unwrap();
    // It replaces as much as it has.
    fs::remove_file(world.path("in/b")).unwrap();
    files.import(one, here("one")).await.unwrap();
    fs::write(tree.join("c"), "1").unwrap();
    let error = files.import(tree, here("again")).await.unwrap_err();
    assert_eq!(over(&error).2, 10);
    let mut left: Vec<_> = fs::read_dir(&world.workspace)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["in", "one"]);
}

#[rstest]
#[case(QuotaCounts::Made)]
#[case(QuotaCounts::Workspace)]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_writers_at_once_none_gets_more_than_there_is(
    #[case] counts: QuotaCounts,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    const QUOTA: u64 = 1000;
    let Some(world) = held_to(machine, QUOTA, counts).await else {
        return;
    };
    let files = world.files.clone();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..40 {
        let files = files.clone();
        writers.spawn(async move {
            let name = format!("f{writer}");
            write(&files, &name, 90, PutMode::Create).await.is_ok()
        });
    }
    let mut made = 0;
    while let Some(ended) = writers.join_next().await {
        made += u64::from(ended.unwrap());
    }
    let there: u64 = fs::read_dir(&world.workspace)
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(there, made * 90);
    assert_eq!(made, QUOTA / 90);
}

/// Deeper than a path can be long: by path nobody gets there.
#[tokio::test]
async fn a_deep_tree_hid_its_bytes_from_the_quota() {
    let Some(world) = held_to(Machine::Ours, 10, QuotaCounts::Workspace).await else {
        return;
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mode = Mode::from_raw_mode(0o755);
    let name = "d".repeat(200);
    let mut here: OwnedFd = openat(CWD, &world.workspace, flags, Mode::empty()).unwrap();
    for _ in 0..30 {
        mkdirat(&here, &*name, mode).unwrap();
        here = openat(&here, &*name, flags, Mode::empty()).unwrap();
    }
    let file = openat(&here, "f", OFlags::CREATE | OFlags::WRONLY, mode).unwrap();
    rustix::io::write(&file, b"12345678").unwrap();
    let error = write(&world.files, "a", 3, PutMode::Create)
        .await
        .unwrap_err();
    assert_eq!(over(&error), (3, 8, 10));
    write(&world.files, "a", 2, PutMode::Create).await.unwrap();
}
