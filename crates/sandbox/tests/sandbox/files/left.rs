//! Files in the making that a process left when it was ended in the middle of a write.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use outfitter_core::List;
use rstest::rstest;

use super::world::{Machine, World, found, here, paths, search};

/// Its name tells that it was begun in 1970,
const OLD: &str = ".outfitter-new-1-1f-0-2a";
/// and this one just now.
fn fresh() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!(".outfitter-new-{:x}-1f-1-2a", now.as_secs())
}

const ALL: List = List {
    depth: 3,
    max_items: 200,
    hidden: true,
    ignored: true,
};

#[rstest]
#[tokio::test]
async fn what_was_left_is_neither_listed_nor_found(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for name in [OLD, &fresh(), ".outfitter-notes", ".outfitter-kept-1-1-1-1"] {
        world.make(&format!("d/{name}"), "needle");
    }
    world.make(&format!("d/{OLD}1/deep"), "needle");
    let people = ["d/.outfitter-kept-1-1-1-1", "d/.outfitter-notes"];
    let listed = world.files.list(here("."), ALL).await.unwrap();
    assert_eq!(paths(&listed), ["d", people[0], people[1]]);
    assert_eq!(found(&world.glob(".", "**/.*").await.unwrap()), people);
    let mut wanted = search("needle");
    wanted.glob = Some(".*".to_owned());
    let hits = world.files.search(here("."), wanted).await.unwrap().hits;
    let hits: Vec<_> = hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(hits, people);
}

#[rstest]
#[tokio::test]
async fn a_write_in_its_directory_removes_what_no_write_can_still_be_making(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let fresh = fresh();
    let stays = [
        fresh.as_str(),
        ".outfitter-notes",
        ".outfitter-kept-1-1-1-1",
        "f",
    ];
    for name in stays.into_iter().chain([OLD]) {
        world.make(&format!("d/{name}"), "x");
    }
    world.make(&format!("d/{OLD}1/a/b"), "x");
    world.make(&format!("other/{OLD}"), "x");
    world.make(&format!("d/{OLD}-and-more"), "x");
    // Refused: nothing is written, and nothing else is done.
    world.write("d/.git/x", "x").await.unwrap_err();
    assert!(world.path("d").join(OLD).exists());
    world.write("d/new", "x").await.unwrap();
    let mut names: Vec<_> = fs::read_dir(world.path("d"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let more = format!("{OLD}-and-more");
    let mut expected = vec![more.as_str(), "new"];
    expected.extend(stays);
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert!(world.path("other").join(OLD).exists());
}
