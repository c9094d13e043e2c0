//! Repository metadata is not written.

use std::fs;
use std::sync::Arc;

use outfitter_core::{Files, FilesError, PutMode};
use rstest::rstest;

use super::world::{Machine, World, here, put};

async fn world(machine: Machine) -> Option<World<Arc<dyn Files>>> {
    let world = World::on(machine).await?;
    world.make(".git/config", "[core]");
    world.make(".git/HEAD", "ref: refs/heads/main");
    world.make("sub/.git", "gitdir: ../meta/worktrees/sub");
    world.make("meta/worktrees/sub/HEAD", "ref: refs/heads/sub");
    world.make("meta/worktrees/sub/commondir", "../..");
    world.make("bare/HEAD", "ref: refs/heads/main");
    fs::create_dir_all(world.path("bare/objects")).unwrap();
    fs::create_dir_all(world.path("bare/refs")).unwrap();
    fs::create_dir_all(world.path("bare/hooks")).unwrap();
    world.link("g", ".git");
    Some(world)
}

#[rstest]
#[case::hook(".git/hooks/pre-commit")]
#[case::config(".git/config")]
#[case::upper_case(".GIT/config")]
#[case::mixed_case(".gIt/hooks/pre-commit")]
#[case::dots("./.git/./hooks/../config")]
#[case::nested("vendor/lib/.git/config")]
#[case::worktree_file("sub/.git")]
#[case::new_worktree_file("other/.git")]
#[case::through_a_link("g/hooks/pre-commit")]
#[case::what_a_worktree_file_leads_to("meta/worktrees/sub/config.worktree")]
#[case::bare("bare/hooks/post-receive")]
#[case::fullwidth("．git/config")]
#[case::zero_width(".g\u{200d}it/config")]
#[tokio::test]
async fn metadata_in_every_spelling_is_refused(
    #[case] path: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    let absolute = format!("{}/{path}", world.workspace.display());
    for path in [path, &absolute] {
        for mode in [PutMode::Replace, PutMode::Create, PutMode::Append] {
            let error = world
                .files
                .put(here(path), put("x", mode, None))
                .await
                .unwrap_err();
            assert!(
                matches!(&error, FilesError::Protected { why, .. } if why.contains("git")),
                "{path}, {mode:?}: {error:?}"
            );
        }
    }
    assert!(!world.path("vendor").exists(), "no parents are made for it");
    assert_eq!(world.bytes(".git/config"), b"[core]");
}

#[rstest]
#[case(".gitignore")]
#[case(".github/workflows/ci.yml")]
#[case(".gitattributes")]
#[case("sub/.gitmodules")]
#[case("git/config")]
#[case("notes.git/x")]
#[case("meta/README")]
#[tokio::test]
async fn what_only_resembles_it_is_written(
    #[case] path: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    world.write(path, "x").await.unwrap();
    assert_eq!(world.bytes(path), b"x");
}

#[rstest]
#[tokio::test]
async fn metadata_may_be_read(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = world(machine).await else {
        return;
    };
    assert_eq!(world.read(".git/config").await.unwrap(), "[core]");
}

/// Every form of a repository needs a `HEAD`, so it does not matter which part comes last.
#[rstest]
#[tokio::test]
async fn the_parts_of_a_repository_are_not_put_together(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    for (path, text) in [
        ("parts/config", "[core]\nfsmonitor = touch run"),
        ("parts/objects/x", ""),
        ("parts/refs/x", ""),
    ] {
        let written = put(text, PutMode::Replace, None);
        world.files.put(here(path), written).await.unwrap();
    }
    for mode in [PutMode::Replace, PutMode::Create, PutMode::Append] {
        let head = put("ref: refs/heads/main", mode, None);
        let error = world.files.put(here("parts/HEAD"), head).await.unwrap_err();
        assert!(
            matches!(&error, FilesError::Protected { why, .. } if why.contains("git")),
            "{mode:?}: {error:?}"
        );
    }
}
