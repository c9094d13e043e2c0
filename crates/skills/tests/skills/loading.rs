//! What loading a skill gives.

use outfitter_core::NameSet;
use outfitter_skills::{DependencyState, LoadError, Loaded, Problem, Severity, limits};

use crate::world::{Has, World, write};

fn load(world: &World, name: &str, tools: Vec<&'static str>) -> Result<Loaded, LoadError> {
    let has = Has {
        tools,
        ..Has::everything()
    };
    world.proxy().load(name, &has, limits::LOAD_TOKENS)
}

fn states(loaded: &Loaded) -> Vec<(String, DependencyState)> {
    loaded
        .dependencies
        .iter()
        .map(|each| (each.name.to_string(), each.state))
        .collect()
}

fn report(world: &World) {
    world
        .skill("report", "name: report\ndescription: d\nversion: 1.2.0\ndependencies: citations, tables\ntools: web_search, file_read")
        .skill("citations", "name: citations\ndescription: d\ndependencies: [sources]\ntools: fetch_webpages")
        .skill("tables", "name: tables\ndescription: d\ndependencies: sources")
        .skill("sources", "name: sources\ndescription: d\nversion: 3.10");
}

#[test]
fn a_skill_comes_with_what_it_is_built_on_the_deepest_first() {
    let world = World::new();
    report(&world);
    let loaded = load(&world, "report", vec!["file_read"]).unwrap();
    insta::assert_json_snapshot!(loaded);
}

#[test]
fn tools_that_the_session_has_are_not_missing() {
    let world = World::new();
    report(&world);
    let all = load(
        &world,
        "report",
        vec!["file_read", "web_search", "fetch_webpages"],
    )
    .unwrap();
    assert_eq!(all.missing_tools, Vec::<String>::new());
}

#[test]
fn a_circle_is_refused_and_told_once() {
    let world = World::new();
    for (name, on) in [("a", "b"), ("b", "c"), ("c", "a")] {
        world.skill(
            name,
            &format!("name: {name}\ndescription: d\ndependencies: {on}"),
        );
    }
    world
        .skill("me", "name: me\ndescription: d\ndependencies: me")
        .plain(&["free"]);
    let error = load(&world, "b", vec![]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "load the skill: skills depend on each other: b -> c -> a -> b"
    );
    assert!(load(&world, "free", vec![]).is_ok());
    let snapshot = world.catalog().snapshot();
    let told: Vec<&str> = snapshot
        .diagnostics()
        .iter()
        .filter(|told| told.code == Problem::DependencyCycle)
        .map(|told| told.message.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "skills depend on each other: a -> b -> c -> a",
            "skills depend on each other: me -> me"
        ]
    );
}

#[test]
fn what_is_missing_is_told_and_stops_nothing() {
    let world = World::new();
    world
        .skill("report", "name: report\ndescription: d\ndependencies: gone")
        .plain(&["tables"]);
    let loaded = load(&world, "report", vec![]).unwrap();
    assert_eq!(
        states(&loaded),
        [("gone".to_owned(), DependencyState::Unavailable)]
    );
    assert_eq!(
        world.told(Severity::Warning),
        ["dependency_missing report/SKILL.md"]
    );
}

#[test]
fn a_dependency_that_is_not_granted_is_as_if_it_were_not_there() {
    let world = World::new();
    world
        .skill(
            "report",
            "name: report\ndescription: d\ndependencies: [citations, gone]",
        )
        .plain(&["citations"]);
    let proxy = world.catalog().proxy(&NameSet::of(["report"]));
    let loaded = proxy
        .load("report", &Has::everything(), limits::LOAD_TOKENS)
        .unwrap();
    assert_eq!(
        states(&loaded),
        [
            ("citations".to_owned(), DependencyState::Unavailable),
            ("gone".to_owned(), DependencyState::Unavailable)
        ]
    );
    assert!(
        loaded
            .dependencies
            .iter()
            .all(|each| each.instructions.is_none() && each.version.is_none())
    );
}

#[test]
fn dependencies_that_find_no_room_are_left_out_and_said_to_be() {
    let world = World::new();
    world
        .skill(
            "report",
            "name: report\ndescription: d\ndependencies: [long, short]",
        )
        .file(
            "long/SKILL.md",
            format!(
                "---\nname: long\ndescription: d\n---\n{}",
                "many words here ".repeat(6000)
            ),
        )
        .plain(&["short"]);
    let loaded = load(&world, "report", vec![]).unwrap();
    assert_eq!(
        states(&loaded),
        [
            ("long".to_owned(), DependencyState::LeftOut),
            ("short".to_owned(), DependencyState::Loaded)
        ]
    );
    let long = load(&world, "long", vec![]).unwrap();
    assert!(
        long.instructions.len() > 90_000,
        "by itself it is given whole"
    );
}

#[test]
fn long_chains_are_no_problem() {
    let world = World::new();
    for number in 0..400 {
        let next = number + 1;
        world.skill(
            &format!("s{number}"),
            &format!("name: s{number}\ndescription: d\ndependencies: s{next}"),
        );
    }
    world.plain(&["s400"]);
    let loaded = load(&world, "s0", vec![]).unwrap();
    assert_eq!(loaded.dependencies.len(), 400);
    assert_eq!(loaded.dependencies[0].name.as_str(), "s400");
}

#[test]
fn an_edit_is_seen_and_another_skill_in_its_place_is_not() {
    let world = World::new();
    world.plain(&["report"]);
    let proxy = world.proxy();
    world.file(
        "report/SKILL.md",
        "---\nname: report\ndescription: d\n---\nEdited.\n",
    );
    let loaded = |what: &str| {
        proxy
            .load("report", &Has::everything(), 100)
            .map_err(|error| format!("{what}: {error}"))
    };
    assert_eq!(loaded("edited").unwrap().instructions, "Edited.");
    world.file(
        "report/SKILL.md",
        "---\nname: other\ndescription: d\n---\nOther.\n",
    );
    assert!(
        loaded("renamed")
            .unwrap_err()
            .contains("it has another name")
    );
    world.file("report/SKILL.md", "gone bad");
    assert!(
        loaded("broken")
            .unwrap_err()
            .contains("does not begin with a line ---")
    );
}

#[test]
fn a_directory_put_in_the_place_of_a_pack_is_not_read() {
    let world = World::new();
    world.plain(&["report"]);
    let proxy = world.proxy();
    write(
        &world.beside("private/SKILL.md"),
        "---\nname: report\ndescription: d\n---\nSecret.\n",
    );
    std::fs::rename(world.root().join("report"), world.beside("moved")).unwrap();
    world.link("report", world.beside("private"));
    let error = proxy.load("report", &Has::everything(), 100).unwrap_err();
    assert_eq!(
        error.to_string(),
        "read the skill: its directory was replaced since it was found"
    );
}

#[test]
fn files_are_listed_without_hidden_ones_links_and_more_than_fit() {
    let world = World::new();
    world
        .plain(&["report"])
        .file("report/references/style.md", "Style.")
        .file("report/scripts/run.sh", "echo")
        .file("report/.git/config", "secret")
        .file("report/node_modules/x/index.js", "x")
        .link("report/out", "/etc");
    assert_eq!(
        load(&world, "report", vec![]).unwrap().files,
        ["references/style.md", "scripts/run.sh"]
    );
    for number in 0..150 {
        world.file(&format!("report/many/{number:03}.txt"), "");
    }
    let loaded = load(&world, "report", vec![]).unwrap();
    assert_eq!(loaded.files.len() + loaded.files_omitted, 152);
    assert!(loaded.files.len() <= limits::MAX_LISTED_FILES);
}
