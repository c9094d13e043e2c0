//! Names, directories and files that are unlike most.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use outfitter_core::{Files, FilesError, Hash, List, PutMode, Range};
use rstest::rstest;
use rustix::fs::XattrFlags;

use super::world::{Machine, World, found, here, paths, put, search};

/// More than any limit of a result.
const MANY: usize = 100_000;

#[rstest]
#[tokio::test]
async fn a_directory_of_very_many_files_is_cut_and_said(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    fs::create_dir(world.path("many")).unwrap();
    for at in 0..MANY {
        fs::File::create(world.path(&format!("many/{at:06}"))).unwrap();
    }
    let list = List {
        depth: 1,
        max_items: 200,
        hidden: false,
        ignored: false,
    };
    let listed = world.files.list(here("many"), list).await.unwrap();
    assert_eq!(listed.entries.len(), 200);
    assert_eq!(listed.entries[0].path, "many/000000");
    assert!(listed.walked.truncated);
    let found = world.glob("many", "*").await.unwrap();
    assert_eq!((found.files.len(), found.count), (200, MANY as u64));
    assert!(found.walked.truncated);
    let found = world.glob("many", "09999?").await.unwrap();
    assert_eq!(found.count, 10);
    let found = world.grep("many", "x").await.unwrap();
    assert_eq!((found.hits.len(), found.walked.truncated), (0, false));
}

#[rstest]
#[case::newline("two\nlines")]
#[case::control("bell\u{7}and\u{1b}[31mred")]
#[case::tab("a\tb")]
#[case::backslash("a\\b")]
#[case::leading_dash("-rf")]
#[case::spaces("  spaced  ")]
#[case::turned("a\u{202e}txt.exe")]
#[tokio::test]
async fn a_name_of_any_characters_is_itself_everywhere(
    #[case] name: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.write(name, "needle").await.unwrap();
    assert_eq!(world.bytes(name), b"needle");
    assert_eq!(world.read(name).await.unwrap(), "needle");
    assert_eq!(paths(&world.list(".", 1).await.unwrap()), [name]);
    assert_eq!(found(&world.glob(".", "*").await.unwrap()), [name]);
    let hits = world.grep(".", "needle").await.unwrap().hits;
    assert_eq!(hits[0].path, name);
}

/// On a file system that folds case these are the names of what is protected; on any other they
/// are refused all the same, so that a workspace means the same wherever it lies.
#[rstest]
#[case(".GIT/hooks/pre-commit")]
#[case(".Git/config")]
#[case("sub/.gIT/config")]
#[case("OUTFITTER.toml")]
#[case("Outfitter.TOML")]
#[tokio::test]
async fn a_protected_name_is_refused_in_every_case(
    #[case] path: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for mode in [PutMode::Replace, PutMode::Append, PutMode::Create] {
        let error = world
            .files
            .put(here(path), put("x", mode, None))
            .await
            .unwrap_err();
        assert!(matches!(error, FilesError::Protected { .. }), "{error:?}");
    }
    assert_eq!(fs::read_dir(&world.workspace).unwrap().count(), 0);
}

#[rstest]
#[tokio::test]
async fn names_that_differ_in_case_are_two_files_where_the_system_has_two(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("a", "lower");
    if world.path("A").exists() {
        // One that folds: then it is one file, and keeps its name.
        world.write("A", "one").await.unwrap();
        assert_eq!(world.bytes("a"), b"one");
        return;
    }
    world.write("A", "upper").await.unwrap();
    assert_eq!(world.bytes("a"), b"lower");
    assert_eq!(world.bytes("A"), b"upper");
}

/// A file of a hundred gigabytes, nearly all of them holes.
#[rstest]
#[tokio::test]
async fn a_file_of_a_hundred_gigabytes_costs_what_is_asked_of_it(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    const SIZE: u64 = 100 << 30;
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("huge", "start");
    let file = fs::File::options()
        .write(true)
        .open(world.path("huge"))
        .unwrap();
    file.set_len(SIZE).unwrap();
    let chunk = world
        .files
        .read(here("huge"), Range { from: 0, max: 5 })
        .await
        .unwrap();
    assert_eq!((&chunk.bytes[..], chunk.size), (&b"start"[..], SIZE));
    let end = Range {
        from: SIZE - 3,
        max: 100,
    };
    assert_eq!(
        world
            .files
            .read(here("huge"), end)
            .await
            .unwrap()
            .bytes
            .len(),
        3
    );
    // It holds NULs, so that it is no text, and a search is done with it at once.
    let found = world
        .files
        .search(here("."), search("start"))
        .await
        .unwrap();
    assert_eq!(found.hits, []);
    let error = world
        .files
        .export(here("huge"), world.outside.join("copy"))
        .await
        .unwrap_err();
    assert!(matches!(error, FilesError::TooLarge { .. }), "{error:?}");
    assert!(!world.outside.join("copy").exists());
    // A hash of it takes long and can be stopped.
    let hash = tokio::time::timeout(
        std::time::Duration::from_millis(50),
        world.files.hash(here("huge")),
    )
    .await;
    assert!(hash.is_err());
}

/// A file that somebody else goes on writing: what is read has an end, and no change to it is made
/// on the strength of a hash that it no longer has.
#[test]
fn a_file_that_grows_is_read_to_an_end_and_never_taken_for_what_it_was() {
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};
    let world = World::new();
    world.make("log", "first\n");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let stop = AtomicBool::new(false);
    let mut grows = fs::File::options()
        .append(true)
        .open(world.path("log"))
        .unwrap();
    // Set also where an assertion fails, or the writer would go on for ever.
    struct Stops<'a>(&'a AtomicBool);
    impl Drop for Stops<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }
    std::thread::scope(|scope| {
        let _stops = Stops(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                grows.write_all(b"more\n").unwrap();
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
        });
        for _ in 0..25 {
            let all = Range {
                from: 0,
                max: 1 << 16,
            };
            let chunk = runtime
                .block_on(world.files.read(here("log"), all))
                .unwrap();
            assert!(chunk.bytes.len() as u64 <= chunk.size);
            assert!(chunk.bytes.starts_with(b"first\n"));
            while fs::metadata(world.path("log")).unwrap().len() <= chunk.size {
                std::thread::yield_now();
            }
            let stale = put("lost", PutMode::Replace, Some(Hash::of(&chunk.bytes)));
            let refused = runtime.block_on(world.files.put(here("log"), stale));
            assert!(refused.is_err(), "{refused:?}");
        }
    });
}

#[tokio::test]
async fn attributes_stay_and_what_the_system_trusts_does_not() {
    let world = World::new();
    let path = world.make("f", "old");
    let set =
        |name: &str, value: &[u8]| rustix::fs::setxattr(&path, name, value, XattrFlags::empty());
    if set("user.origin", b"kept").is_err() {
        eprintln!("SKIPPED(xattr): this file system keeps no attributes");
        return;
    }
    // A right to act as another, which only root can give (version 2, `cap_net_raw`).
    let mut right = 0x0200_0001_u32.to_le_bytes().to_vec();
    right.extend(
        [0x2000_u32, 0, 0, 0]
            .iter()
            .flat_map(|word| word.to_le_bytes()),
    );
    let had_right = set("security.capability", &right).is_ok();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    world.write("f", "new").await.unwrap();
    let get = |name: &str| {
        let mut value = [0; 100];
        rustix::fs::getxattr(&path, name, &mut value[..]).map(|length| value[..length].to_vec())
    };
    assert_eq!(world.bytes("f"), b"new");
    assert_eq!(get("user.origin").unwrap(), b"kept");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o640
    );
    if had_right {
        assert!(get("security.capability").is_err());
    }
}
