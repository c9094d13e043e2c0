//! `init`.

use crate::world::World;

#[test]
fn what_is_written_is_right_and_is_used() {
    let world = World::new();
    insta::assert_snapshot!(world.run(&["init"]).shown());
    let check = world.run(&["config", "check"]);
    assert_eq!(
        (check.code, check.stdout.as_str()),
        (0, "outfitter.toml is right\n")
    );
    let skills = world.run(&["skills", "list", "--json"]).json();
    assert_eq!(skills["skills"][0]["name"], "house-rules");
    assert_eq!(skills["skills"][0]["valid"], true, "{skills:#}");
    assert_eq!(skills["diagnostics"], serde_json::json!([]));
}

/// A line that can be switched on by taking away its `#` gives a configuration that is right.
#[test]
fn every_line_that_is_switched_off_can_be_switched_on() {
    let world = World::new();
    world.run(&["init"]);
    let path = world.path("here/outfitter.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let on: String = text
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    assert!(on.contains("\n[mcp.servers.files]\n"), "{on}");
    std::fs::write(&path, on).unwrap();
    let ran = world.run(&["config", "check"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
}

#[test]
fn what_is_there_stays_as_it_is() {
    let world = World::with("[agent]\nmax_turns = 7\n");
    let ran = world.run(&["init", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let document = ran.json();
    assert_eq!(document["kept"], serde_json::json!(["outfitter.toml"]));
    assert_eq!(
        document["written"],
        serde_json::json!(["skills/house-rules/SKILL.md"])
    );
    let text = std::fs::read_to_string(world.path("here/outfitter.toml")).unwrap();
    assert_eq!(text, "[agent]\nmax_turns = 7\n");

    world.write("here/skills/house-rules/SKILL.md", "mine");
    let again = world.run(&["init"]);
    assert_eq!(again.code, 0, "{}", again.shown());
    let skill = world.path("here/skills/house-rules/SKILL.md");
    assert_eq!(std::fs::read_to_string(skill).unwrap(), "mine");
}

#[test]
fn a_link_that_leads_nowhere_is_not_followed() {
    let world = World::new();
    let link = world.path("here/outfitter.toml");
    std::os::unix::fs::symlink(world.path("elsewhere.toml"), link).unwrap();
    let ran = world.run(&["init", "--json"]);
    assert_eq!(ran.json()["kept"], serde_json::json!(["outfitter.toml"]));
    assert!(!world.path("elsewhere.toml").exists());
}

#[test]
fn a_named_configuration_is_written_where_it_is_named() {
    let world = World::new();
    let ran = world.run(&["init", "--config", "etc/o.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let check = world.run(&["config", "check", "--config", "etc/o.toml"]);
    assert_eq!(check.code, 0, "{}", check.shown());
}

#[test]
fn where_nothing_can_be_written_that_is_said() {
    let world = World::new();
    world.write("here/skills", "a file");
    let ran = world.run(&["init"]);
    assert_eq!(ran.code, 1, "{}", ran.shown());
    assert!(
        ran.stderr
            .starts_with("error: failed to write skills/house-rules/SKILL.md: "),
        "{}",
        ran.stderr
    );
}
