//! Reading ranges, facts and hashes.

use std::fs;
use std::io::Write;
use std::time::{Duration, SystemTime};

use outfitter_core::{FileKind, FilesError, Hash, Range};
use rstest::rstest;

use super::world::{Machine, World, anywhere, here};

#[rstest]
#[tokio::test]
async fn a_range_of_a_huge_sparse_file_is_read_and_not_the_file(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    const SIZE: u64 = 1 << 40;
    let Some(world) = World::on(machine).await else {
        return;
    };
    let path = world.make("huge", "");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(SIZE).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"end", SIZE - 3).unwrap();
    let at = |from, max| world.files.read(here("huge"), Range { from, max });
    let chunk = at(SIZE - 5, 100).await.unwrap();
    assert_eq!((&chunk.bytes[..], chunk.size), (&b"\0\0end"[..], SIZE));
    // However much is asked for, one read gives a bounded piece.
    let chunk = at(0, u64::MAX).await.unwrap();
    assert_eq!(chunk.bytes.len(), 8 << 20);
    for from in [SIZE, SIZE + 1, u64::MAX] {
        assert!(at(from, 10).await.unwrap().bytes.is_empty());
    }
}

#[rstest]
#[tokio::test]
async fn a_growing_file_has_the_size_it_has_when_read(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let path = world.make("log", "one\n");
    let range = Range { from: 0, max: 100 };
    assert_eq!(world.files.read(here("log"), range).await.unwrap().size, 4);
    let mut file = fs::File::options().append(true).open(path).unwrap();
    file.write_all(b"two\n").unwrap();
    let chunk = world.files.read(here("log"), range).await.unwrap();
    assert_eq!((&chunk.bytes[..], chunk.size), (&b"one\ntwo\n"[..], 8));
}

#[rstest]
#[tokio::test]
async fn facts_are_of_the_name_and_not_of_what_it_leads_to(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let path = world.make("file", "12345");
    world.make_mode("file", 0o640);
    let stamp = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(stamp).unwrap();
    world.link("link", "file");
    world.link("nowhere", "gone");
    world.link("out", &world.outside);
    let stat = world.files.stat(here("file")).await.unwrap();
    assert_eq!(
        (stat.kind, stat.size, stat.mode),
        (FileKind::File, 5, 0o640)
    );
    // SFTP tells whole seconds.
    let parts = match machine {
        Machine::Ours => 123,
        Machine::Theirs => 0,
    };
    assert_eq!(stat.modified_ms, 1_700_000_000_000 + parts);
    for link in ["link", "nowhere", "out"] {
        let stat = world.files.stat(here(link)).await.unwrap();
        assert_eq!(stat.kind, FileKind::Symlink, "{link}");
    }
    let stat = world.files.stat(here(".")).await.unwrap();
    assert_eq!((stat.kind, stat.size), (FileKind::Directory, 0));
}

#[rstest]
#[tokio::test]
async fn a_hash_is_of_the_whole_file(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let content = vec![7_u8; 300_000];
    world.make("file", &content);
    assert_eq!(
        world.files.hash(here("file")).await.unwrap(),
        Hash::of(&content)
    );
}

#[rstest]
#[case::a_directory("dir", "a directory")]
#[case::a_pipe("pipe", "a pipe")]
#[case::a_link_to_a_pipe("to-pipe", "a pipe")]
#[tokio::test]
async fn only_files_are_read_and_nothing_blocks(
    #[case] path: &str,
    #[case] what: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    fs::create_dir(world.path("dir")).unwrap();
    super::write::make_pipe(&world, "pipe");
    world.link("to-pipe", "pipe");
    let range = Range { from: 0, max: 1 };
    let read = world.files.read(here(path), range);
    let error = tokio::time::timeout(Duration::from_secs(60), read)
        .await
        .unwrap()
        .unwrap_err();
    assert!(
        matches!(error, FilesError::WrongKind { is, wanted: "a file", .. } if is == what),
        "{error:?}"
    );
}

#[rstest]
#[tokio::test]
async fn a_device_is_never_opened(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let range = Range { from: 0, max: 1 };
    let error = world
        .files
        .read(anywhere("/dev/null"), range)
        .await
        .unwrap_err();
    assert!(
        matches!(error, FilesError::WrongKind { is: "a device", .. }),
        "{error:?}"
    );
}

#[rstest]
#[tokio::test]
async fn what_is_not_there_is_not_found(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.link("loop", "loop");
    let error = world.read("gone").await.unwrap_err();
    assert!(matches!(error, FilesError::NotFound { .. }), "{error:?}");
    let error = world.read("loop").await.unwrap_err();
    assert!(
        matches!(&error, FilesError::Invalid { what, why } if what == "loop" && why.contains("links")),
        "{error:?}"
    );
}
