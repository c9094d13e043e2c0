//! Nothing leads out of the workspace.

use std::fs;

use outfitter_core::{Files as _, FilesError, Range};
use proptest::prelude::*;
use rstest::rstest;

use super::world::{Machine, SECRET, World, found, here, hits, is_denial, paths};

#[rstest]
#[tokio::test]
async fn a_linked_directory_that_leads_outside_is_closed_to_everything(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.link("outbox", &world.outside);
    world.link("up", "../../outside");
    for link in ["outbox", "up"] {
        let file = format!("{link}/secret.txt");
        let denials = [
            world.read(&file).await.unwrap_err(),
            world.write(&file, "x").await.unwrap_err(),
            world.write(&format!("{link}/new"), "x").await.unwrap_err(),
            world.write(&format!("{link}/a/b"), "x").await.unwrap_err(),
            world.list(link, 1).await.unwrap_err(),
            world.glob(link, "*").await.unwrap_err(),
            world.glob(".", &format!("{link}/*")).await.unwrap_err(),
            world.grep(link, "secret").await.unwrap_err(),
            world.files.hash(here(&file)).await.unwrap_err(),
            world.files.stat(here(&file)).await.unwrap_err(),
        ];
        for denial in denials {
            assert!(matches!(denial, FilesError::Outside { .. }), "{denial:?}");
        }
    }
    // Walks from above do not follow it either.
    assert_eq!(hits(&world.grep(".", "secret").await.unwrap()), [""; 0]);
    assert_eq!(found(&world.glob(".", "**/*").await.unwrap()), [""; 0]);
    assert_eq!(paths(&world.list(".", 5).await.unwrap()), ["outbox", "up"]);
    assert_eq!(fs::read_dir(&world.outside).unwrap().count(), 1);
}

#[rstest]
#[tokio::test]
async fn links_that_stay_inside_work(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("real/deep/file.txt", "inside");
    world.link("relative", "real/deep");
    world.link("absolute", world.path("real/deep"));
    world.link("chain", "absolute");
    world.link("file-link", "real/deep/file.txt");
    for link in ["relative", "absolute", "chain", "real/../relative"] {
        let file = format!("{link}/file.txt");
        assert_eq!(world.read(&file).await.unwrap(), "inside", "{link}");
        let written = world.write(&format!("{link}/new.txt"), "x").await.unwrap();
        assert!(written.created, "{link}");
        fs::remove_file(world.path("real/deep/new.txt")).unwrap();
        let listed = world.list(link, 1).await.unwrap();
        assert_eq!(paths(&listed), ["real/deep/file.txt"], "{link}");
        let searched = world.grep(link, "in").await.unwrap();
        assert_eq!(hits(&searched), ["real/deep/file.txt:1:1:inside"], "{link}");
        let globbed = world.glob(".", &format!("{link}/*.txt")).await.unwrap();
        assert_eq!(found(&globbed), ["real/deep/file.txt"], "{link}");
    }
    assert_eq!(world.read("file-link").await.unwrap(), "inside");
}

#[rstest]
#[tokio::test]
async fn absolute_paths_in_the_workspace_are_its_own(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    world.make("a/b.txt", "inside");
    let workspace = world.workspace.to_str().unwrap();
    for path in ["/a/b.txt", "//a/./b.txt", "/../ws/a/b.txt", "/a/../a/b.txt"] {
        let path = format!("{workspace}{path}");
        assert_eq!(world.read(&path).await.unwrap(), "inside", "{path}");
    }
    assert_eq!(paths(&world.list(workspace, 1).await.unwrap()), ["a"]);
}

#[rstest]
#[case::up("../x")]
#[case::far_up("../../../../../../../../etc/passwd")]
#[case::through("a/../../x")]
#[case::absolute("/etc/passwd")]
#[case::root("/")]
#[case::sibling_with_the_same_beginning("../ws-other/x")]
#[tokio::test]
async fn paths_that_lead_outside_are_said_to(
    #[case] path: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    fs::create_dir(world.path("a")).unwrap();
    let error = world.read(path).await.unwrap_err();
    assert!(matches!(error, FilesError::Outside { .. }), "{error:?}");
    let error = world.write(path, "x").await.unwrap_err();
    assert!(
        matches!(
            error,
            FilesError::Outside { .. } | FilesError::WrongKind { .. }
        ),
        "{error:?}"
    );
}

#[rstest]
#[case::nul("a\0b")]
#[case::empty("")]
#[tokio::test]
async fn what_cannot_be_a_path_is_said_to_be_none(
    #[case] path: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for error in [
        world.read(path).await.unwrap_err(),
        world.write(path, "x").await.unwrap_err(),
        world.list(path, 1).await.unwrap_err(),
        world.grep(path, "x").await.unwrap_err(),
    ] {
        assert!(matches!(error, FilesError::Invalid { .. }), "{error:?}");
    }
}

#[rstest]
#[tokio::test]
async fn names_too_long_are_said_to_be(#[values(Machine::Ours, Machine::Theirs)] machine: Machine) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for path in ["x".repeat(300), "x/".repeat(3000) + "y"] {
        for error in [
            world.read(&path).await.unwrap_err(),
            world.write(&path, "x").await.unwrap_err(),
        ] {
            assert!(matches!(error, FilesError::Invalid { .. }), "{error:?}");
            assert!(error.to_string().len() < 600);
        }
    }
}

#[rstest]
#[tokio::test]
async fn a_workspace_that_has_been_removed_is_said_to_be(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    outfitter_process::remains::remove_tree(&world.workspace).unwrap();
    for error in [
        world.read("a").await.unwrap_err(),
        world.write("a", "x").await.unwrap_err(),
        world.write("a/b", "x").await.unwrap_err(),
    ] {
        assert!(matches!(error, FilesError::Unavailable { .. }), "{error:?}");
        assert!(error.to_string().contains("has been removed"), "{error}");
    }
}

#[rstest]
#[tokio::test]
async fn a_workspace_that_has_been_removed_was_listed_and_searched_as_an_empty_one(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    outfitter_process::remains::remove_tree(&world.workspace).unwrap();
    for error in [
        world.list(".", 1).await.unwrap_err(),
        world.glob(".", "**").await.unwrap_err(),
        world.grep(".", "x").await.unwrap_err(),
    ] {
        assert!(matches!(error, FilesError::Unavailable { .. }), "{error:?}");
        assert!(error.to_string().contains("has been removed"), "{error}");
    }
}

/// Commands run in what has its name, and files were written where nobody looked for them.
#[tokio::test]
async fn a_workspace_with_another_in_its_place_was_written_where_it_had_been_moved_to() {
    let world = World::new();
    world.make("a", "needle");
    let (at, moved) = (&world.workspace, world.home.join("moved"));
    fs::rename(at, &moved).unwrap();
    let places: [fn(&std::path::Path); 3] = [
        |at| fs::create_dir(at).unwrap(),
        |at| std::os::unix::fs::symlink("elsewhere", at).unwrap(),
        |at| fs::write(at, "").unwrap(),
    ];
    fs::create_dir(at.with_file_name("elsewhere")).unwrap();
    for place in places {
        place(at);
        for error in [
            world.read("a").await.unwrap_err(),
            world.write("b", "x").await.unwrap_err(),
            world
                .write(at.join("b").to_str().unwrap(), "x")
                .await
                .unwrap_err(),
            world.list(".", 1).await.unwrap_err(),
            world.glob(".", "**").await.unwrap_err(),
            world.grep(".", "needle").await.unwrap_err(),
        ] {
            assert!(matches!(error, FilesError::Unavailable { .. }), "{error:?}");
            assert!(
                error.to_string().contains("another is in its place"),
                "{error}"
            );
        }
        fs::remove_dir(at).or_else(|_| fs::remove_file(at)).unwrap();
    }
    assert_eq!(fs::read_dir(&moved).unwrap().count(), 1);
    fs::rename(&moved, at).unwrap();
    world.write("b", "x").await.unwrap();
}

#[tokio::test]
async fn a_workspace_that_was_renamed_is_still_the_same() {
    let world = World::new();
    world.make("a/x.log", "needle");
    world.make("a/x.txt", "needle");
    world.make(".gitignore", "*.log");
    fs::rename(&world.workspace, world.home.join("moved")).unwrap();
    assert_eq!(paths(&world.list("a", 1).await.unwrap()), ["a/x.txt"]);
    assert_eq!(
        hits(&world.grep(".", "needle").await.unwrap()),
        ["a/x.txt:1:1:needle"]
    );
    world.write("a/new", "x").await.unwrap();
    assert_eq!(fs::read(world.home.join("moved/a/new")).unwrap(), b"x");
    let error = world.write(".git/config", "x").await.unwrap_err();
    assert!(matches!(error, FilesError::Protected { .. }), "{error:?}");
}

#[tokio::test]
async fn a_read_only_root_is_read_and_not_written() {
    let beside = tempfile::tempdir().unwrap();
    let laid = beside.path().canonicalize().unwrap().join("skills");
    fs::create_dir_all(laid.join("pack")).unwrap();
    fs::write(laid.join("pack/SKILL.md"), "how to").unwrap();
    fs::write(laid.with_file_name("secret.txt"), SECRET).unwrap();
    let world = World::new();
    let files = world.files.clone().with_read_only(&laid).unwrap();
    let path = laid.join("pack/SKILL.md");
    let path = path.to_str().unwrap();
    let range = Range { from: 0, max: 100 };
    let chunk = files.read(here(path), range).await.unwrap();
    assert_eq!(&chunk.bytes[..], b"how to");
    for path in [path, laid.join("new/x").to_str().unwrap()] {
        let error = files
            .put(here(path), super::world::replace("x"))
            .await
            .unwrap_err();
        assert!(matches!(error, FilesError::Protected { .. }), "{error:?}");
    }
    let found = files.search(here(laid.to_str().unwrap()), super::world::search("how"));
    assert_eq!(found.await.unwrap().hits[0].path, path);
    // What is beside it is still outside.
    let error = files
        .read(
            here(laid.with_file_name("secret.txt").to_str().unwrap()),
            range,
        )
        .await
        .unwrap_err();
    assert!(matches!(error, FilesError::Outside { .. }), "{error:?}");
}

/// Paths of every sort: words, dots, links in and out, absolute ones.
fn any_path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => Just("..".to_owned()),
        2 => Just(".".to_owned()),
        1 => Just(String::new()),
        3 => Just("out".to_owned()),
        3 => Just("in".to_owned()),
        2 => Just("d".to_owned()),
        2 => Just("secret.txt".to_owned()),
        2 => Just("outside".to_owned()),
        1 => Just("home".to_owned()),
        1 => Just("ws".to_owned()),
        1 => Just("~".to_owned()),
        1 => "\\PC{0,6}",
    ];
    let parts = prop::collection::vec(part, 1..9).prop_map(|parts| parts.join("/"));
    prop_oneof![
        parts.clone(),
        parts.prop_map(|path| format!("/{path}")),
        any::<String>()
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Sentinels lie outside and everything that can be read inside is something else. No path
    /// reads them, and no path writes beside them.
    #[test]
    fn no_path_reaches_outside(path in any_path(), absolute in any::<bool>()) {
        let world = World::new();
        world.make("d/file.txt", "inside");
        world.link("out", &world.outside);
        world.link("d/out", "../../../outside");
        world.link("in", "d");
        let path = if absolute {
            format!("{}/{path}", world.workspace.display())
        } else {
            path
        };
        let before = tree(&world);
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            if let Ok(text) = world.read(&path).await {
                assert_ne!(text, SECRET);
            }
            let found = world.grep(&path, "secret of").await.unwrap_or_default();
            assert_eq!(found.hits, []);
            let listed = world.list(&path, 3).await.unwrap_or_default();
            assert!(!paths(&listed).iter().any(|path| path.ends_with("secret.txt")));
            let _ = world.write(&path, "written").await;
        });
        prop_assert_eq!(before, tree(&world));
    }
}

/// All there is outside the workspace, by name and content.
fn tree(world: &World) -> Vec<(String, Vec<u8>)> {
    let mut seen = Vec::new();
    let mut open = vec![world.outside.clone(), world.home.clone()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            if entry.path() == world.workspace {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                let content = fs::read(entry.path()).unwrap_or_default();
                seen.push((entry.path().display().to_string(), content));
            }
        }
    }
    seen.sort();
    seen
}

#[test]
fn a_denial_is_what_the_tables_take_for_one() {
    let path = String::new();
    assert!(is_denial(&FilesError::Outside { path: path.clone() }));
    assert!(!is_denial(&FilesError::NotFound { path }));
}
