//! Keys about skills, MCP servers and programs of a project.

use serde_json::{Value, json};

use super::{PATH, call, called, listed};
use crate::world::World;

const PROGRAM: &str = env!("CARGO_BIN_EXE_outfitter");

fn of(names: &[String], prefix: &str) -> Vec<String> {
    let own = names.iter().filter(|name| name.starts_with(prefix));
    own.cloned().collect()
}

#[test]
fn skills_are_found_in_the_directories_that_are_named() {
    let world = World::with("[skills]\ndirs = [\"packs\"]\n");
    let skill = "---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n";
    world.write("here/packs/tea/SKILL.md", skill);
    world.write("here/skills/other/SKILL.md", &skill.replace("tea", "other"));
    let list = world.run(&["skills", "list", "--json"]).json();
    let names: Vec<&Value> = list["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(names, ["tea"]);
}

#[test]
fn a_server_is_started_as_it_is_configured() {
    // It says what it was given, and then is the server that ships with us.
    let world = World::with(&format!(
        "[mcp.servers.n]\ncommand = \"sh\"\n\
         args = [\"-c\", \"echo $MARK > mark; exec {PROGRAM} __mcp-notes --file notes.json\"]\n\
         env = {{ MARK = \"as configured\" }}\ncwd = \"here\"\n"
    ));
    std::fs::create_dir(world.path("here/here")).unwrap();
    let output = call(&world, "n__add", &json!({"title": "t", "text": "x"}));
    assert_eq!(output["status"], "success", "{output}");
    let mark = std::fs::read_to_string(world.path("here/here/mark")).unwrap();
    assert_eq!(mark, "as configured\n");
    assert!(world.path("here/here/notes.json").is_file());
}

#[test]
fn a_server_is_let_end_by_itself_after_a_call() {
    let world = World::with(&format!(
        "[mcp.servers.n]\ncommand = \"sh\"\ncwd = \".\"\n\
         args = [\"-c\", \"{PROGRAM} __mcp-notes --file notes.json; echo ended > mark\"]\n"
    ));
    let output = call(&world, "n__add", &json!({"title": "t", "text": "x"}));
    assert_eq!(output["status"], "success", "{output}");
    let mark = std::fs::read_to_string(world.path("here/mark")).unwrap();
    assert_eq!(mark, "ended\n");
}

/// The server of notes, which tells how often it was started.
fn counted(more: &str) -> String {
    format!(
        "[mcp.servers.n]\ncommand = \"sh\"\ncwd = \".\"\n\
         args = [\"-c\", \"echo started >> starts && exec {PROGRAM} __mcp-notes --file notes.json\"]\n{more}\n"
    )
}

#[test]
fn a_lazy_server_is_started_at_its_first_call() {
    let world = World::with(&counted("lazy = true"));
    let starts = || {
        let text = std::fs::read_to_string(world.path("here/starts")).unwrap_or_default();
        text.lines().count()
    };
    let all = ["n__add", "n__delete", "n__get", "n__list"];
    // Once, to be asked what it offers; after that nobody has to ask.
    assert_eq!(of(&listed(&world, &[]), "n__"), all);
    assert_eq!(starts(), 1);
    assert_eq!(of(&listed(&world, &[]), "n__"), all);
    let doctor = world.run_with(&["doctor"], &[PATH]);
    let says = "n: idle, 4 tools; its first call starts it";
    assert!(doctor.stdout.contains(says), "{}", doctor.shown());
    assert_eq!(starts(), 1);
    let output = call(&world, "n__add", &json!({"title": "t", "text": "x"}));
    assert_eq!(output["status"], "success", "{output}");
    assert_eq!(starts(), 2);
    // Changed, it is another one. And one that cannot be started any more has its tools, which say
    // why they cannot be called.
    world.write(
        "here/outfitter.toml",
        &counted("lazy = true\nenv = { LEVEL = \"2\" }"),
    );
    assert_eq!(of(&listed(&world, &[]), "n__"), all);
    assert_eq!(starts(), 3);
    std::fs::remove_file(world.path("here/starts")).unwrap();
    std::fs::create_dir(world.path("here/starts")).unwrap();
    world.write("here/notes.json", "no notes");
    let output = call(&world, "n__list", &json!({}));
    assert!(
        output["error"]["code"] == "unavailable" || output["status"] == "error",
        "{output}"
    );
}

#[test]
fn servers_are_used_or_not_as_they_are_switched() {
    let tools = |more: &str, all: &str| {
        let toml = format!("{all}[mcp.servers.n]\nbuiltin = \"notes\"\n{more}\n");
        of(&listed(&World::with(&toml), &[]), "n__")
    };
    assert_eq!(tools("", ""), ["n__add", "n__delete", "n__get", "n__list"]);
    assert_eq!(tools("enabled = false", ""), <[&str; 0]>::default());
    assert_eq!(
        tools("", "[mcp]\nenabled = false\n"),
        <[&str; 0]>::default()
    );
    assert_eq!(tools("tools = [\"l*\"]", ""), ["n__list"]);
}

#[test]
fn a_server_is_for_the_role_that_it_names() {
    let may = |min_role: &str, role: &str| {
        let toml = format!("[mcp.servers.n]\nbuiltin = \"notes\"\nmin_role = \"{min_role}\"\n");
        !of(&listed(&World::with(&toml), &["--role", role]), "n__").is_empty()
    };
    assert!(!may("user", "guest") && may("user", "user"));
    assert!(!may("admin", "user") && may("guest", "guest"));
}

#[test]
fn a_server_that_does_not_start_in_time_is_given_up() {
    let world = World::with(
        "[mcp.servers.slow]\ncommand = \"sleep\"\nargs = [\"600\"]\nconnect_timeout_seconds = 1\n",
    );
    let document = world.run_with(&["doctor", "--json"], &[PATH]).json();
    let rows = document["checks"].as_array().unwrap();
    let slow = rows.iter().find(|row| row["what"] == "mcp").unwrap();
    assert_ne!(slow["status"], "ok", "{slow}");
}

#[test]
fn a_call_to_a_server_has_the_time_that_it_may_have() {
    // The answer to a call, and nothing else, comes late.
    let late =
        "while read -r line; do case $line in *kept-late*) sleep 300;; esac; echo $line; done";
    let world = World::with(&format!(
        "[mcp.servers.n]\ncommand = \"sh\"\ncall_timeout_seconds = 5\n\
         args = [\"-c\", \"{PROGRAM} __mcp-notes | {late}\"]\n"
    ));
    let add = |title: &str| call(&world, "n__add", &json!({"title": title, "text": "x"}));
    assert_eq!(add("in time")["status"], "success");
    let output = add("kept-late");
    assert_eq!(output["error"]["code"], "timeout", "{output}");
}

/// A program of a project: it says of itself what `probe.json` has, and tells what it was given.
fn probe(more: &str) -> World {
    let world = World::with(&format!(
        "[commands.probe]\nprogram = \"sh\"\nargs = [\"PROBE\"]\n{more}\n"
    ));
    let path = world.path("here/probe.sh");
    let entry = |subcommand: &str| {
        json!({
            "command": "tell", "subcommand": subcommand, "skill": "telling",
            "summary": "Tells.", "effects": ["read"],
            "args": {"type": "object", "properties": {}, "additionalProperties": false},
            "result": {"type": "object"},
        })
    };
    let description = json!({"v": 1, "name": "probe", "commands": [entry("all"), entry("less")]});
    world.write("here/probe.json", &description.to_string());
    world.write(
        "here/probe.sh",
        &format!(
            "if [ \"$1\" = describe ]; then cat {}; exit; fi\n\
             if [ \"$MARK\" = slow ]; then sleep 300; fi\n\
             if [ \"$MARK\" = much ]; then seq 1 100000; fi\n\
             printf '{{\"v\":1,\"status\":\"success\",\"result\":{{\"mark\":\"%s\",\"token\":%s}}}}' \
             \"$MARK\" \"${{#PROJECT_CLI_TOKEN}}\"\n",
            world.path("here/probe.json").display()
        ),
    );
    let toml = world.path("here/outfitter.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    std::fs::write(toml, text.replace("PROBE", path.to_str().unwrap())).unwrap();
    world
}

fn told(world: &World, subcommand: &str) -> Value {
    let arguments = json!({"command": "tell", "subcommand": subcommand, "args": {}});
    call(world, "project_cli", &arguments)
}

#[test]
fn a_program_gets_what_the_configuration_gives_it() {
    let output = told(&probe("env = { MARK = \"given\" }"), "all");
    assert_eq!(output["result"]["mark"], "given", "{output}");
    assert_ne!(output["result"]["token"], 0, "a credential for each call");
    let output = told(&probe("credential = \"none\""), "all");
    assert_eq!(
        output["result"],
        json!({"mark": "", "token": 0}),
        "{output}"
    );
}

#[test]
fn a_program_has_the_time_and_the_output_that_it_may_have() {
    let output = told(
        &probe("env = { MARK = \"slow\" }\ntimeout_seconds = 5"),
        "all",
    );
    assert_eq!(output["error"]["code"], "timeout", "{output}");
    let output = told(
        &probe("env = { MARK = \"much\" }\nmax_output_bytes = 1024"),
        "all",
    );
    assert_eq!(output["error"]["code"], "protocol_error", "{output}");
}

#[test]
fn a_program_offers_only_what_is_wanted_of_it() {
    let world = probe("only = [\"tell all\"]");
    assert_eq!(told(&world, "all")["status"], "success");
    assert_eq!(told(&world, "less")["status"], "error");
    let ran = called(
        &probe(""),
        "project_cli",
        &json!({"command": "tell", "subcommand": "less"}),
        &[],
    );
    assert_eq!(ran.code, 0, "{}", ran.shown());
}

#[test]
fn a_program_has_skills_of_its_own() {
    let world = probe("skills_dir = \"of-probe\"");
    world.write(
        "here/of-probe/telling/SKILL.md",
        "---\nname: telling\ndescription: How to tell.\n---\nTell.\n",
    );
    let list = world
        .run_with(&["skills", "list", "--json"], &[PATH])
        .json();
    assert_eq!(list["skills"][0]["name"], "telling", "{list:#}");
}
