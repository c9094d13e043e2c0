//! Import and export.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use outfitter_core::FilesError;
use outfitter_sandbox::FileLimits;
use rstest::rstest;

use super::world::{AsFiles, Machine, SECRET, World, here};

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn tree(world: &World<impl AsFiles>) -> std::path::PathBuf {
    let from = world.outside.join("pack");
    fs::create_dir_all(from.join("scripts")).unwrap();
    fs::write(from.join("SKILL.md"), "how").unwrap();
    fs::write(from.join("scripts/run.sh"), "#!/bin/sh").unwrap();
    fs::set_permissions(
        from.join("scripts/run.sh"),
        fs::Permissions::from_mode(0o750),
    )
    .unwrap();
    fs::set_permissions(from.join("SKILL.md"), fs::Permissions::from_mode(0o444)).unwrap();
    symlink("scripts/run.sh", from.join("run")).unwrap();
    from
}

#[rstest]
#[tokio::test]
async fn a_tree_comes_in_with_its_modes_and_its_own_links(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let from = tree(&world);
    world
        .files
        .import(from.clone(), here("skills/pack"))
        .await
        .unwrap();
    assert_eq!(world.bytes("skills/pack/SKILL.md"), b"how");
    assert_eq!(mode(world.path("skills/pack/scripts/run.sh")), 0o750);
    assert_eq!(mode(world.path("skills/pack/SKILL.md")), 0o444);
    let link = fs::read_link(world.path("skills/pack/run")).unwrap();
    assert_eq!(link.to_str(), Some("scripts/run.sh"));
    let error = world
        .files
        .import(from, here("skills/pack"))
        .await
        .unwrap_err();
    assert!(matches!(error, FilesError::Exists { .. }), "{error:?}");
}

#[rstest]
#[tokio::test]
async fn a_file_comes_in_over_another_but_through_no_link(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let from = world.outside.join("data");
    fs::write(&from, "new").unwrap();
    world.make("data", "old");
    world
        .files
        .import(from.clone(), here("data"))
        .await
        .unwrap();
    assert_eq!(world.bytes("data"), b"new");
    world.link("link", "data");
    let error = world
        .files
        .import(from.clone(), here("link"))
        .await
        .unwrap_err();
    assert!(matches!(error, FilesError::Symlink { .. }), "{error:?}");
    for path in ["../x", ".git/hooks/x", "~/.ssh/x"] {
        let error = world
            .files
            .import(from.clone(), here(path))
            .await
            .unwrap_err();
        assert!(super::world::is_denial(&error), "{path}: {error:?}");
    }
}

#[rstest]
#[tokio::test]
async fn links_that_lead_out_of_the_tree_are_refused_and_nothing_is_left(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let from = tree(&world);
    symlink(".", from.join("here")).unwrap();
    for target in [
        "../../secret.txt",
        "/etc/passwd",
        "../here/here/../../secret.txt",
    ] {
        symlink(target, from.join("scripts/z")).unwrap();
        let error = world
            .files
            .import(from.clone(), here("pack"))
            .await
            .unwrap_err();
        assert!(
            matches!(&error, FilesError::Symlink { target: named, .. } if named == target),
            "{error:?}"
        );
        fs::remove_file(from.join("scripts/z")).unwrap();
        assert_eq!(
            fs::read_dir(&world.workspace).unwrap().count(),
            0,
            "{target}"
        );
    }
}

#[rstest]
#[tokio::test]
async fn what_goes_out_is_for_us_alone(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("out/a.txt", "a");
    world.make("out/run.sh", "b");
    world.make_mode("out/a.txt", 0o666);
    world.make_mode("out/run.sh", 0o755);
    world.make_mode("out", 0o777);
    let to = world.outside.join("copy");
    world.files.export(here("out"), to.clone()).await.unwrap();
    assert_eq!(fs::read(to.join("a.txt")).unwrap(), b"a");
    assert_eq!(
        (mode(&to), mode(to.join("a.txt")), mode(to.join("run.sh"))),
        (0o700, 0o600, 0o700)
    );
    let one = world.outside.join("one.txt");
    world
        .files
        .export(here("out/a.txt"), one.clone())
        .await
        .unwrap();
    assert_eq!(
        (fs::read(&one).unwrap(), mode(&one)),
        (b"a".to_vec(), 0o600)
    );
}

#[rstest]
#[tokio::test]
async fn secrets_and_what_is_outside_do_not_go_out(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::at(machine, "home").await else {
        return;
    };
    world.link("out", &world.outside);
    let to = world.outside.join("copy");
    for path in [".ssh/id_rsa", ".ssh", ".", "out", "out/secret.txt"] {
        let error = world
            .files
            .export(here(path), to.clone())
            .await
            .unwrap_err();
        assert!(super::world::is_denial(&error), "{path}: {error:?}");
        assert!(!to.exists());
    }
    assert_eq!(
        fs::read_to_string(world.outside.join("secret.txt")).unwrap(),
        SECRET
    );
}

#[rstest]
#[tokio::test]
async fn a_copy_is_bounded(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let limits = FileLimits::default();
    let tight = [
        FileLimits {
            max_copy_bytes: 4,
            ..limits
        },
        FileLimits {
            max_copy_entries: 3,
            ..limits
        },
    ];
    for limits in tight {
        let Some(world) = World::limited_on(machine, limits).await else {
            return;
        };
        let from = tree(&world);
        let error = world.files.import(from, here("pack")).await.unwrap_err();
        assert!(matches!(error, FilesError::TooLarge { .. }), "{error:?}");
        assert_eq!(fs::read_dir(&world.workspace).unwrap().count(), 0);
    }
}

#[rstest]
#[tokio::test]
async fn special_files_are_not_copied(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    fs::create_dir(world.path("dir")).unwrap();
    super::write::make_pipe(&world, "dir/pipe");
    let to = world.outside.join("copy");
    let error = world
        .files
        .export(here("dir"), to.clone())
        .await
        .unwrap_err();
    assert!(
        matches!(error, FilesError::WrongKind { is: "a pipe", .. }),
        "{error:?}"
    );
    assert!(!to.exists());
}
