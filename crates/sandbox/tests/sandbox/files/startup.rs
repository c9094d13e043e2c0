//! What makes programs run outside the sandbox later is read and not written.

use std::fs;
use std::sync::Arc;

use outfitter_core::{Files, FilesError, PutMode};
use rstest::rstest;

use super::world::{AsFiles, Machine, World, here, put};

const MODES: [PutMode; 3] = [PutMode::Replace, PutMode::Create, PutMode::Append];

async fn world(machine: Machine) -> Option<World<Arc<dyn Files>>> {
    let world = World::on(machine).await?;
    world.make("outfitter.toml", "[model]");
    world.make(".outfitter/rules", "mine");
    world.link("alias.toml", "outfitter.toml");
    world.link("o", ".outfitter");
    fs::hard_link(world.path("outfitter.toml"), world.path("second.toml")).unwrap();
    fs::hard_link(world.path(".outfitter/rules"), world.path("rules")).unwrap();
    Some(world)
}

async fn refused(world: &World<impl AsFiles>, path: &str, mode: PutMode) -> bool {
    let error = world
        .files
        .as_files()
        .put(here(path), put("[mcp.servers.x]", mode, None))
        .await
        .unwrap_err();
    let by_link = path.ends_with("alias.toml") && matches!(error, FilesError::Symlink { .. });
    by_link
        || matches!(&error, FilesError::Protected { why, .. } if why.contains("outside the sandbox"))
}

#[rstest]
#[case::to_the_file("second.toml")]
#[case::into_the_directory("rules")]
#[tokio::test]
async fn configuration_is_not_written_through_a_hard_link(#[case] path: &str) {
    let world = world(Machine::Ours).await.unwrap();
    for mode in MODES {
        assert!(refused(&world, path, mode).await, "{path} {mode:?}");
    }
    assert_eq!(world.bytes("outfitter.toml"), b"[model]");
    assert_eq!(world.bytes(".outfitter/rules"), b"mine");
}

/// The agent could name a server in its own configuration, which the next start ran unconfined.
#[rstest]
#[case::by_name("outfitter.toml")]
#[case::upper_case("OUTFITTER.toml")]
#[case::dots("./sub/../outfitter.toml")]
#[case::in_a_directory("sub/outfitter.toml")]
#[case::as_a_directory("outfitter.toml/x")]
#[case::in_its_directory(".outfitter/rules")]
#[case::new_in_its_directory(".outfitter/new/rules")]
#[case::its_directory_elsewhere("sub/.Outfitter/rules")]
#[case::fullwidth("ｏutfitter.toml")]
#[case::zero_width(".out\u{200d}fitter/x")]
#[case::through_a_link("alias.toml")]
#[case::through_a_linked_directory("o/new")]
#[tokio::test]
async fn the_workspaces_own_configuration_is_not_written(
    #[case] path: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    let absolute = format!("{}/{path}", world.workspace.display());
    for path in [path, &absolute] {
        for mode in MODES {
            assert!(refused(&world, path, mode).await, "{path}, {mode:?}");
        }
    }
    assert!(!world.path("sub").exists(), "no parents are made for it");
    assert_eq!(world.bytes("outfitter.toml"), b"[model]");
    assert_eq!(world.bytes(".outfitter/rules"), b"mine");
    assert!(!world.path(".outfitter/new").exists());
}

#[rstest]
#[tokio::test]
async fn configuration_that_is_a_link_protects_what_it_leads_to(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("settings/real.toml", "[model]");
    world.make("settings/dir/rules", "mine");
    world.link("outfitter.toml", "settings/real.toml");
    world.link(".outfitter", "settings/dir");
    for path in [
        "settings/real.toml",
        "settings/dir/rules",
        "settings/dir/new",
    ] {
        assert!(refused(&world, path, PutMode::Append).await, "{path}");
    }
    world.write("settings/other.toml", "x").await.unwrap();
}

#[rstest]
#[tokio::test]
async fn no_copy_takes_its_name_either(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let from = world.outside.join("secret.txt");
    for path in ["outfitter.toml", ".outfitter", "sub/.outfitter/x"] {
        let error = world
            .files
            .import(from.clone(), here(path))
            .await
            .unwrap_err();
        assert!(
            matches!(error, FilesError::Protected { .. }),
            "{path}: {error:?}"
        );
    }
}

#[rstest]
#[tokio::test]
async fn configuration_may_be_read_and_what_resembles_it_written(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    assert_eq!(world.read("outfitter.toml").await.unwrap(), "[model]");
    assert_eq!(world.read(".outfitter/rules").await.unwrap(), "mine");
    for path in [
        "outfitter.toml.new",
        "docs/outfitter.md",
        "outfitter/x",
        ".outfitterrc",
    ] {
        world.write(path, "x").await.unwrap();
    }
}

#[rstest]
#[case(".bashrc")]
#[case(".PROFILE")]
#[case(".config/outfitter/outfitter.toml")]
#[case(".config/outfitter/more")]
#[case(".config/fish/conf.d/x.fish")]
#[case(".config/autostart/x.desktop")]
#[case(".gitconfig")]
#[tokio::test]
async fn a_workspace_that_is_the_home_does_not_write_what_a_login_runs(
    #[case] path: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::at(machine, "home").await else {
        return;
    };
    world.make(".bashrc", "mine");
    for mode in MODES {
        assert!(refused(&world, path, mode).await, "{path}, {mode:?}");
    }
    assert!(
        !world.path(".config").exists(),
        "no parents are made for it"
    );
    assert_eq!(world.read(".bashrc").await.unwrap(), "mine");
    world.write(".config/editor/settings", "x").await.unwrap();
}
