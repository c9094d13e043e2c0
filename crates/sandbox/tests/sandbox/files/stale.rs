//! A write from a stale read loses nothing.

use std::fs;
use std::time::SystemTime;

use outfitter_core::{Files, FilesError, Hash, PutMode};
use outfitter_sandbox::{LocalFiles, Protected};
use rstest::rstest;

use super::world::{Machine, World, here, put};

#[rstest]
#[tokio::test]
async fn of_two_that_read_the_same_the_second_writer_is_told(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("notes.md", "first");
    let other = LocalFiles::open(&world.workspace, Protected::of_home(&world.home)).unwrap();
    let read = world.files.hash(here("notes.md")).await.unwrap();
    assert_eq!(read, Hash::of("first"));
    let a = put("from a", PutMode::Replace, Some(read));
    let b = put("from b", PutMode::Replace, Some(read));
    let written = world.files.put(here("notes.md"), a).await.unwrap();
    assert_eq!(written.hash, Hash::of("from a"));
    let error = other.put(here("notes.md"), b).await.unwrap_err();
    assert!(
        matches!(error, FilesError::Changed { hash, .. } if hash == written.hash),
        "{error:?}"
    );
    assert_eq!(world.bytes("notes.md"), b"from a");
}

#[rstest]
#[tokio::test]
async fn a_change_that_keeps_size_and_time_is_seen(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let path = world.make("a", "one");
    let stamp = SystemTime::UNIX_EPOCH;
    let set = || {
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(stamp)
            .unwrap();
    };
    set();
    let read = world.files.hash(here("a")).await.unwrap();
    fs::write(&path, "two").unwrap();
    set();
    for mode in [PutMode::Replace, PutMode::Append] {
        let error = world
            .files
            .put(here("a"), put("mine", mode, Some(read)))
            .await
            .unwrap_err();
        assert!(matches!(error, FilesError::Changed { .. }), "{error:?}");
    }
    assert_eq!(world.bytes("a"), b"two");
}

#[rstest]
#[tokio::test]
async fn what_is_gone_has_no_content_to_compare(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let hash = Some(Hash::of(""));
    let error = world
        .files
        .put(here("gone"), put("x", PutMode::Replace, hash))
        .await
        .unwrap_err();
    assert!(matches!(error, FilesError::NotFound { .. }), "{error:?}");
    let error = world
        .files
        .put(here("gone"), put("x", PutMode::Create, hash))
        .await
        .unwrap_err();
    assert!(matches!(error, FilesError::Invalid { .. }), "{error:?}");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_writers_at_once_exactly_one_wins(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    const WRITERS: usize = 16;
    const ROUNDS: usize = 10;
    let Some(world) = World::on(machine).await else {
        return;
    };
    for round in 0..ROUNDS {
        let start = format!("round {round}");
        world.make("shared", &start);
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..WRITERS {
            // Each its own session over the same directory.
            let files =
                LocalFiles::open(&world.workspace, Protected::of_home(&world.home)).unwrap();
            let put = put(
                &format!("{round} by {writer}"),
                PutMode::Replace,
                Some(Hash::of(&start)),
            );
            writers.spawn(async move { (writer, files.put(here("shared"), put).await) });
        }
        let mut won = Vec::new();
        while let Some(ended) = writers.join_next().await {
            match ended.unwrap() {
                (writer, Ok(_)) => won.push(writer),
                (_, Err(FilesError::Changed { .. })) => {}
                (writer, Err(other)) => panic!("writer {writer}: {other:?}"),
            }
        }
        assert_eq!(won.len(), 1, "{won:?}");
        let content = format!("{round} by {}", won[0]);
        assert_eq!(world.bytes("shared"), content.as_bytes());
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_creators_at_once_exactly_one_wins(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    const CREATORS: usize = 16;
    let Some(world) = World::on(machine).await else {
        return;
    };
    let mut creators = tokio::task::JoinSet::new();
    for creator in 0..CREATORS {
        let files = world.files.clone();
        let put = put(&creator.to_string(), PutMode::Create, None);
        creators.spawn(async move { files.put(here("deep/er/new"), put).await });
    }
    let mut created = 0;
    while let Some(ended) = creators.join_next().await {
        match ended.unwrap() {
            Ok(written) => {
                assert!(written.created);
                created += 1;
            }
            Err(error) => assert!(matches!(error, FilesError::Exists { .. }), "{error:?}"),
        }
    }
    assert_eq!(created, 1);
}
