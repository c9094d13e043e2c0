//! Writing: whole, modes kept, nothing followed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use outfitter_core::{FilesError, Hash, PutMode};
use outfitter_sandbox::FileLimits;
use rstest::rstest;

use super::world::{AsFiles, Machine, SECRET, World, here, put, replace};

#[rstest]
#[tokio::test]
async fn a_new_file_has_its_parents_made_and_the_mode_of_any_new_file(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let written = world.write("a/b/c.txt", "text").await.unwrap();
    assert!(written.created);
    assert_eq!((written.bytes, written.hash), (4, Hash::of("text")));
    assert_eq!(world.bytes("a/b/c.txt"), b"text");
    // What any program of the user's gets: the umask is not ours to know.
    let theirs = world.make("theirs/file", "");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&world.path("a/b/c.txt")), mode(&theirs));
    assert_eq!(mode(&world.path("a")), mode(theirs.parent().unwrap()));
}

#[rstest]
#[case(0o644)]
#[case(0o600)]
#[case(0o755)]
#[case(0o666)]
#[tokio::test]
async fn a_replaced_file_keeps_its_mode_and_owner(
    #[case] mode: u32,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let path = world.make("script", "old");
    world.make_mode("script", mode);
    let before = fs::metadata(&path).unwrap();
    let written = world.write("script", "new").await.unwrap();
    assert!(!written.created);
    let after = fs::metadata(&path).unwrap();
    assert_eq!(after.permissions().mode() & 0o777, mode);
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino(), "replaced, not overwritten");
    assert_eq!(world.bytes("script"), b"new");
}

#[rstest]
#[tokio::test]
async fn a_reader_of_the_old_file_keeps_all_of_it(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let path = world.make("a", "old content");
    let open = fs::File::open(&path).unwrap();
    world.write("a", "n").await.unwrap();
    assert_eq!(std::io::read_to_string(open).unwrap(), "old content");
}

#[rstest]
#[tokio::test]
async fn no_temporary_file_is_left_behind(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("a", "old");
    world.write("a", "new").await.unwrap();
    world.write("b", "new").await.unwrap();
    let stale = put("x", PutMode::Replace, Some(Hash::of("other")));
    world.files.put(here("a"), stale).await.unwrap_err();
    let create = put("x", PutMode::Create, None);
    world.files.put(here("a"), create).await.unwrap_err();
    let mut names: Vec<_> = fs::read_dir(&world.workspace)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a", "b"]);
}

#[rstest]
#[case::outside("../../outside/secret.txt")]
#[case::inside("real")]
#[case::dangling("nowhere")]
#[case::dangling_outside("../../outside/new")]
#[tokio::test]
async fn a_final_link_is_neither_followed_nor_replaced(
    #[case] target: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("real", "real");
    world.link("link", target);
    for mode in [PutMode::Replace, PutMode::Create, PutMode::Append] {
        let error = world
            .files
            .put(here("link"), put("x", mode, None))
            .await
            .unwrap_err();
        assert!(
            matches!(&error, FilesError::Symlink { target: named, .. } if named == target),
            "{error:?}"
        );
    }
    assert_eq!(
        fs::read_link(world.path("link")).unwrap().to_str(),
        Some(target)
    );
    assert_eq!(world.bytes("real"), b"real");
    assert!(!world.path("nowhere").exists());
    assert!(!world.outside.join("new").exists());
    assert_eq!(
        fs::read(world.outside.join("secret.txt")).unwrap(),
        SECRET.as_bytes()
    );
}

#[rstest]
#[tokio::test]
async fn a_link_that_leads_nowhere_yet_does_not_become_a_parent(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.link("later", "../../outside/made");
    let error = world.write("later/x", "x").await.unwrap_err();
    assert!(
        matches!(
            error,
            FilesError::Symlink { .. } | FilesError::Outside { .. }
        ),
        "{error:?}"
    );
    assert!(!world.outside.join("made").exists());
}

#[rstest]
#[tokio::test]
async fn creating_never_replaces(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("a", "old");
    let error = world
        .files
        .put(here("a"), put("new", PutMode::Create, None))
        .await
        .unwrap_err();
    assert!(matches!(error, FilesError::Exists { .. }), "{error:?}");
    assert_eq!(world.bytes("a"), b"old");
}

#[rstest]
#[case::a_directory("dir", "a directory")]
#[case::a_directory_by_its_spelling("new/", "the name of a directory")]
#[case::the_workspace(".", "the name of a directory")]
#[case::upwards("dir/..", "the name of a directory")]
#[case::a_pipe("pipe", "a pipe")]
#[case::a_socket("socket", "a socket")]
#[tokio::test]
async fn only_files_are_written_and_nothing_blocks(
    #[case] path: &str,
    #[case] what: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    fs::create_dir(world.path("dir")).unwrap();
    make_pipe(&world, "pipe");
    let _socket = std::os::unix::net::UnixListener::bind(world.path("socket")).unwrap();
    for mode in [PutMode::Replace, PutMode::Create, PutMode::Append] {
        let put = world.files.put(here(path), put("x", mode, None));
        let error = tokio::time::timeout(std::time::Duration::from_secs(60), put)
            .await
            .unwrap()
            .unwrap_err();
        assert!(
            matches!(error, FilesError::WrongKind { is, .. } if is == what),
            "{mode:?}: {error:?}"
        );
    }
}

#[rstest]
#[tokio::test]
async fn a_path_through_a_file_is_none(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("file", "x");
    for path in ["file/x", "file/x/y"] {
        for error in [
            world.write(path, "x").await.unwrap_err(),
            world.read(path).await.unwrap_err(),
        ] {
            assert!(matches!(error, FilesError::WrongKind { .. }), "{error:?}");
        }
    }
}

#[rstest]
#[tokio::test]
async fn too_much_is_refused_before_anything_is_made(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let limits = FileLimits {
        max_write_bytes: 4,
        ..FileLimits::default()
    };
    let Some(world) = World::limited_on(machine, limits).await else {
        return;
    };
    let files = &world.files;
    files.put(here("a"), replace("1234")).await.unwrap();
    let error = files
        .put(here("new/a"), replace("12345"))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            FilesError::TooLarge {
                size: 5,
                limit: 4,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(!world.path("new").exists());
}

#[rstest]
#[tokio::test]
async fn the_longest_name_can_be_written(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let name = "n".repeat(255);
    world.write(&name, "x").await.unwrap();
    world.write(&name, "y").await.unwrap();
    assert_eq!(world.bytes(&name), b"y");
}

pub(crate) fn make_pipe(world: &World<impl AsFiles>, name: &str) {
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        world.path(name),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    );
    made.unwrap();
}
