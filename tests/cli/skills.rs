//! `skills list` and `skills show`.

use crate::world::World;

const REPORT: &str = "---\nname: report\ndescription: Writes a report, where one is asked for.\n\
                      version: 1.2.0\n---\n\n# Report\n\nWrite it \u{1b}[31mshort.\n";

fn world() -> World {
    let world = World::with("[skills]\nload = [\"report\"]\n");
    world.write("here/skills/report/SKILL.md", REPORT);
    world.write("here/skills/report/template.md", "# Title\n");
    world.write(
        "here/skills/cite/SKILL.md",
        "---\nname: cite\ndescription: Cites sources.\ndependencies: [report]\n---\n\nCite.\n",
    );
    world.write(
        "here/skills/odd/SKILL.md",
        "---\nname: odd\n---\nNothing.\n",
    );
    world
}

#[test]
fn a_list_names_the_skills_and_says_what_was_left_out() {
    insta::assert_snapshot!(world().run(&["skills", "list"]).shown());
}

#[test]
fn a_skill_is_shown_with_its_instructions_and_nothing_that_controls_a_terminal() {
    let ran = world().run(&["skills", "show", "report"]);
    insta::assert_snapshot!(ran.shown());
    assert!(!ran.stdout.contains('\u{1b}'));
}

#[test]
fn programs_read_the_same() {
    let world = world();
    let list = world.run(&["skills", "list", "--json"]).json();
    let names: Vec<&str> = list["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["cite", "report"]);
    assert_eq!(list["skills"][0]["loaded"], false);
    assert_eq!(list["skills"][1]["loaded"], true);
    let refused = &list["diagnostics"][0];
    assert_eq!(refused["severity"], "refused");
    assert_eq!(refused["path"], "ROOT/here/skills/odd/SKILL.md");

    let shown = world.run(&["skills", "show", "cite", "--json"]).json();
    assert_eq!(shown["skill"]["path"], "ROOT/here/skills/cite/SKILL.md");
    assert_eq!(shown["dependencies"][0], "report");
    assert!(shown["instructions"].as_str().unwrap().contains("Cite."));
    let shown = world.run(&["skills", "show", "report", "--json"]).json();
    assert_eq!(shown["files"][0], "template.md");
}

#[test]
fn a_skill_that_is_none_is_not_found_with_the_one_that_was_meant() {
    let ran = world().run(&["skills", "show", "reprot"]);
    assert_eq!(ran.code, 5, "{}", ran.shown());
    assert!(
        ran.stderr.contains("did you mean report?"),
        "{}",
        ran.stderr
    );
    let ran = world().run(&["skills", "show", "zzz"]);
    assert_eq!(ran.code, 5, "{}", ran.shown());
    assert!(
        ran.stderr.contains("`outfitter skills list`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_skill_that_is_not_available_is_neither_listed_nor_shown() {
    let world = world();
    world.write("here/outfitter.toml", "[skills]\navailable = [\"ci*\"]\n");
    let list = world.run(&["skills", "list", "--json"]).json();
    assert_eq!(list["skills"].as_array().unwrap().len(), 1, "{list:#}");
    assert_eq!(world.run(&["skills", "show", "report"]).code, 5);
}

#[test]
fn a_directory_that_was_named_and_is_not_there_is_said() {
    let world = World::with("[skills]\ndirs = [\"packs\"]\n");
    let ran = world.run(&["skills", "list"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(ran.stderr.contains("ROOT/here/packs"), "{}", ran.stderr);
    assert_eq!(World::new().run(&["skills", "list"]).stderr, "");
}

#[test]
fn a_run_says_which_skills_are_in_use() {
    let world = world();
    world.write("here/script.yaml", "- text: done\n");
    world.write(
        "here/outfitter.toml",
        "[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\n[skills]\nload = [\"report\"]\n",
    );
    let ran = world.run(&["run", "--json", "hi"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let first = ran.stdout.lines().next().unwrap();
    let started: serde_json::Value = serde_json::from_str(first).unwrap();
    assert_eq!(started["type"], "run_started");
    assert_eq!(started["skills"], serde_json::json!(["cite", "report"]));
    let shown = world.run(&["run", "-v", "hi"]);
    assert!(
        shown.stderr.contains("skills cite, report"),
        "{}",
        shown.stderr
    );
}

#[test]
fn what_a_model_is_told_first_is_shown() {
    let toml = "[agent]\nsystem_prompt = \"You make tea.\"\n[skills]\nload = [\"tea\"]\n";
    let world = World::with(toml);
    world.write(
        "here/skills/tea/SKILL.md",
        "---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n",
    );
    let ran = world.run(&["config", "explain", "--prompt", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let told = ran.json();
    let system = told["system"].as_str().unwrap();
    assert!(system.starts_with("You make tea.\n\n"), "{system}");
    assert!(system.contains("Makes tea."), "{system}");
    assert!(told["opening"].as_str().unwrap().contains("Boil water."));
    let sections = told["sections"].as_array().unwrap();
    let all = |key: &str| -> Vec<&str> {
        let values = sections.iter().map(|section| section[key].as_str());
        values.map(Option::unwrap).collect()
    };
    assert_eq!(
        all("name"),
        ["instructions", "environment", "tools", "skills"]
    );
    assert_eq!(all("text").join("\n\n"), system);
    let tokens = |value: &serde_json::Value| value["tokens"].as_u64().unwrap();
    let sum: u64 = sections.iter().map(tokens).sum();
    assert!(sum <= tokens(&told) && tokens(&told) < sum + 10, "{told}");
    let read = world.run(&["config", "explain", "--prompt"]);
    assert!(read.stdout.starts_with(system), "{}", read.stdout);
    for name in all("name") {
        assert!(
            read.stderr.contains(&format!("\n  {name} ")),
            "{}",
            read.stderr
        );
    }
    // What stdout has are the same bytes again.
    assert_eq!(
        world.run(&["config", "explain", "--prompt"]).stdout,
        read.stdout
    );
}
