//! What a path leads to, for rules: the same on every machine.

use std::fs;

use outfitter_core::{Deadline, LeadsTo};
use rstest::rstest;

use super::world::{AsFiles as _, Machine, World};

/// A rule named what is in `secrets`, and a link into it was another path over SFTP, or any.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_is_what_it_leads_to_through_links(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("secrets/deep/key", "x");
    world.make("plain", "x");
    let workspace = world.workspace.display().to_string();
    let outside = world.outside.display().to_string();
    for (link, to) in [
        ("docs", "secrets"),
        ("again", "./docs/deep"),
        ("absolute", &*format!("{workspace}/secrets/deep")),
        ("out", &outside),
        ("up", "../../outside"),
        ("secrets/back", ".."),
        ("to-a-file", "secrets/deep/key"),
        ("nowhere", "secrets/none"),
        ("round", "round"),
        ("secrets/deep/climb", "../../plain"),
    ] {
        world.link(link, to);
    }
    let within = |path: &str| LeadsTo::Path(format!("{workspace}/{path}"));
    let without = |path: &str| LeadsTo::Path(format!("{outside}{path}"));
    for (path, leads) in [
        (".", LeadsTo::Path(workspace.clone())),
        ("plain", within("plain")),
        ("./secrets//deep/./key", within("secrets/deep/key")),
        ("docs/deep/key", within("secrets/deep/key")),
        ("again/key", within("secrets/deep/key")),
        ("absolute/key", within("secrets/deep/key")),
        ("to-a-file", within("secrets/deep/key")),
        ("docs/deep/climb", within("plain")),
        // The end of a path need not be there.
        ("docs/new/file", within("secrets/new/file")),
        ("plain/x", within("plain/x")),
        // Nor need what a link leads to.
        ("nowhere", within("secrets/none")),
        ("nowhere/x", within("secrets/none/x")),
        // `..` is of what a link leads to.
        ("docs/../plain", within("plain")),
        ("again/../../plain", within("plain")),
        ("out/../outside/secret.txt", without("/secret.txt")),
        ("docs/back/secrets", within("secrets")),
        ("out", without("")),
        ("up/secret.txt", without("/secret.txt")),
        (&format!("{workspace}/docs"), within("secrets")),
        (&format!("{outside}/none"), without("/none")),
        ("missing/../plain", LeadsTo::Unknown),
    ] {
        assert_eq!(
            world.files.as_files().leads_to(path, Deadline::NEVER),
            leads,
            "{path}"
        );
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_is_what_it_is_in_paths_too(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    fs::create_dir(world.home.join("real")).unwrap();
    std::os::unix::fs::symlink("real", world.home.join("linked")).unwrap();
    let leads = world
        .files
        .as_files()
        .leads_to("~/linked/x", Deadline::NEVER);
    let home = world.home.display();
    assert_eq!(leads, LeadsTo::Path(format!("{home}/real/x")));
}

/// By the rules it was another file of the workspace, of its own name.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_leads_round_or_too_far_was_taken_for_what_it_is_called(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("end", "x");
    world.link("0", "end");
    for link in 1..50 {
        world.link(&link.to_string(), (link - 1).to_string());
    }
    world.link("round", "round");
    let end = world.path("end").display().to_string();
    let leads = |path| world.files.as_files().leads_to(path, Deadline::NEVER);
    assert_eq!(leads("39"), LeadsTo::Path(end));
    for unknown in ["40", "49/x", "round", "round/x"] {
        assert_eq!(leads(unknown), LeadsTo::Unknown, "{unknown}");
    }
}
