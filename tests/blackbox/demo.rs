//! The tour that needs nothing: no key, no network, no configuration.

use std::collections::BTreeSet;

use crate::world::World;

#[test]
fn the_demo_uses_seven_tools_and_is_refused_something() {
    let world = World::new();
    let lines = world.run(&["demo", "--json"]).exits(0).lines();
    assert_eq!(lines.outcome(), "success");
    let used: BTreeSet<&str> = lines
        .outputs()
        .iter()
        .map(|output| output["tool_name"].as_str().unwrap())
        .collect();
    for tool in [
        "list_dir",
        "glob",
        "grep",
        "file_read",
        "file_write",
        "file_update",
        "execute_shell_command",
    ] {
        assert!(used.contains(tool), "{tool} is not among {used:?}");
    }
    assert!(!lines.progress("stdout").is_empty(), "nothing is seen live");
    assert!(!lines.answer().is_empty());
}

#[test]
fn the_demo_reads_well_and_leaves_the_current_directory_alone() {
    let world = World::new();
    let ran = world.run(&["demo"]).exits(0);
    assert!(!ran.stdout.is_empty());
    assert!(!ran.shown().contains('\u{1b}'));
    assert_eq!(std::fs::read_dir(world.work("")).unwrap().count(), 0);
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    assert_eq!(listed["sessions"], serde_json::json!([]));
}

/// A key in the environment changes nothing: the demo never calls anybody.
#[test]
fn the_demo_does_not_look_for_a_model() {
    let world = World::new()
        .with("OPENAI_API_KEY", crate::world::KEY)
        .with("OUTFITTER_MODEL__BASE_URL", "http://127.0.0.1:1/v1")
        .with("OUTFITTER_MODEL__PROVIDER", "openai");
    world.run(&["demo"]).exits(0);
}
