//! Appending adds bytes and changes none.

use std::fs;
use std::os::unix::fs::MetadataExt;

use outfitter_core::{Hash, PutMode};
use rstest::rstest;

use super::world::{Machine, World, here, put};

#[rstest]
#[tokio::test]
async fn bytes_go_to_the_end_of_the_same_file(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let path = world.make("log", "caf\u{e9}\r\n");
    let before = fs::metadata(&path).unwrap().ino();
    let written = world
        .files
        .put(here("log"), put("more\n", PutMode::Append, None))
        .await
        .unwrap();
    assert_eq!((written.bytes, written.created), (5, false));
    assert_eq!(written.hash, Hash::of("caf\u{e9}\r\nmore\n"));
    assert_eq!(world.bytes("log"), "caf\u{e9}\r\nmore\n".as_bytes());
    assert_eq!(fs::metadata(&path).unwrap().ino(), before);
}

#[rstest]
#[tokio::test]
async fn appending_to_nothing_makes_the_file(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let written = world
        .files
        .put(here("a/log"), put("x", PutMode::Append, None))
        .await
        .unwrap();
    assert!(written.created);
    assert_eq!(world.bytes("a/log"), b"x");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_at_once_lose_nothing(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    const WRITERS: usize = 8;
    const LINES: usize = 20;
    let Some(world) = World::on(machine).await else {
        return;
    };
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let files = world.files.clone();
        writers.spawn(async move {
            for line in 0..LINES {
                let line = put(&format!("{writer}:{line}\n"), PutMode::Append, None);
                files.put(here("log"), line).await.unwrap();
            }
        });
    }
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    let content = String::from_utf8(world.bytes("log")).unwrap();
    let mut lines: Vec<&str> = content.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), WRITERS * LINES);
}
