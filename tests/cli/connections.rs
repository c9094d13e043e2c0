//! The keys about what is connected: tables by name, skills, the server, who may call.

use rstest::rstest;
use serde_json::{Value, json};

use crate::config::{explained, problems};
use crate::world::World;

/// One of each.
const ALL: &str = r#"[permissions]
http_role = "user"
approval = "never"

[server]
bind = "127.0.0.1:1234"
allowed_origins = ["http://localhost:3000"]
cancel_on_disconnect = false
heartbeat_seconds = 5

[skills]
dirs = ["packs", "~/more"]
available = ["report*"]
load = "auto"

[mcp.servers.notes]
builtin = "notes"

[mcp.servers.files]
command = "./bin/files"
args = ["--root", "./data"]
env = { TOKEN = "sk-hunter2" }
cwd = "data"
tools = ["read_*"]
min_role = "admin"

[commands.planner]
program = "planner"

[commands.ledger]
program = "bin/ledger"
skills_dir = "ledger/skills"
env = { PASSWORD = "hunter2" }
credential = "none"
only = ["entry *"]
"#;

/// A machine on which all of it is there.
fn whole() -> World {
    let world = World::with(ALL);
    for dir in ["here/packs", "home/more", "here/data", "here/ledger/skills"] {
        std::fs::create_dir_all(world.path(dir)).unwrap();
    }
    for program in ["here/bin/files", "here/bin/ledger"] {
        world.program(program, "#!/bin/sh\n");
    }
    world
}

#[test]
fn what_is_right_is_accepted() {
    let ran = whole().run(&["config", "check"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(ran.stderr, "", "{}", ran.shown());
}

#[test]
fn paths_of_tables_by_name_begin_where_the_file_is() {
    let world = World::new();
    world.write("etc/o.toml", ALL);
    let args = ["config", "explain", "--json", "--config", "../etc/o.toml"];
    let document = world.run(&args).json();
    let value = |key: &str| -> Value {
        let rows = document["keys"].as_array().unwrap();
        let row = rows.iter().find(|row| row["key"] == key);
        row.unwrap_or_else(|| panic!("no key {key}"))["value"].clone()
    };
    let real = |text: &str| text.replace("here/../", "");
    let dirs = value("skills.dirs");
    assert_eq!(real(dirs[0].as_str().unwrap()), "ROOT/etc/packs");
    assert_eq!(dirs[1], "ROOT/home/more");
    let files = &value("mcp.servers")["files"];
    assert_eq!(
        real(files["command"].as_str().unwrap()),
        "ROOT/etc/bin/files"
    );
    assert_eq!(real(files["cwd"].as_str().unwrap()), "ROOT/etc/data");
    assert_eq!(
        files["args"],
        json!(["--root", "./data"]),
        "arguments are texts"
    );
    let programs = value("commands");
    assert_eq!(
        programs["planner"]["program"], "planner",
        "a name is no path"
    );
    let ledger = &programs["ledger"];
    assert_eq!(
        real(ledger["program"].as_str().unwrap()),
        "ROOT/etc/bin/ledger"
    );
    assert_eq!(
        real(ledger["skills_dir"].as_str().unwrap()),
        "ROOT/etc/ledger/skills"
    );
}

#[test]
fn explain_says_where_each_table_stands_and_no_value_of_its_environment() {
    let ran = World::with(ALL).run(&["config", "explain"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (_, connected) = ran
        .stdout
        .split_once("# What is served over HTTP.")
        .unwrap();
    // What follows of the sandbox is of this machine.
    let (connected, _) = connected.split_once("# What runs commands here").unwrap();
    insta::assert_snapshot!(connected);
    assert!(!ran.stdout.contains("hunter2"));
}

#[test]
fn what_explain_prints_of_tables_gives_the_same_tables() {
    let without_secrets: String = ALL
        .lines()
        .filter(|line| !line.starts_with("env"))
        .map(|line| format!("{line}\n"))
        .collect();
    let world = World::with(&without_secrets);
    let values = |args: &[&str]| -> Vec<(Value, Value)> {
        let document = world
            .run(&[&["config", "explain", "--json"], args].concat())
            .json();
        let rows = document["keys"].as_array().unwrap().iter();
        rows.map(|row| (row["key"].clone(), row["value"].clone()))
            .collect()
    };
    let printed = world.run(&["config", "explain"]).stdout;
    let root = world.path("");
    world.write(
        "here/again.toml",
        &printed.replace("ROOT/", &root.to_string_lossy()),
    );
    assert_eq!(values(&["--config", "again.toml"]), values(&[]));
}

#[test]
fn what_may_be_secret_is_never_printed() {
    let right = whole();
    for args in [
        &["config", "explain"][..],
        &["config", "explain", "--json"],
        &["config", "check", "-v"],
    ] {
        let ran = right.run(args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(!ran.shown().contains("hunter2"), "{}", ran.shown());
    }
    for wrong in [
        "[commands.a]\nprogram = \"a\"\nenv = \"TOKEN=hunter2\"\n",
        "[commands.a]\nprogram = \"a\"\nenv = { TOKEN = [\"hunter2\"] }\n",
        "[mcp]\nservers = \"hunter2\"\n",
        "[model]\nbase_url = \"ftp://u:hunter2@h/\"\n",
    ] {
        let ran = World::with(wrong).run(&["config", "check", "--json"]);
        assert_eq!(ran.code, 2, "{}", ran.shown());
        assert!(!ran.shown().contains("hunter2"), "{}", ran.shown());
    }
    for name in ["OUTFITTER_MCP__SERVERS", "OUTFITTER_COMMANDS"] {
        for value in ["hunter2", "{ a = { env = { A = 1, B = \"hunter2\" } } }"] {
            let ran = World::new().run_with(&["config", "check"], &[(name, value)]);
            assert_eq!(ran.code, 2, "{}", ran.shown());
            assert!(!ran.shown().contains("hunter2"), "{}", ran.shown());
        }
    }
}

#[test]
fn the_url_of_a_webhook_was_explained_in_the_clear() {
    let world = World::with(
        r#"[channels.team]
kind = "webhook"
url = "https://hooks.example/T/hunter2"

[model]
provider = "openai"
name = "m"
base_url = "https://u:hunter2@models.example/v1"

[mcp.servers.far]
command = "far"
args = ["--at", "https://u:hunter2@far.example/"]
"#,
    );
    for args in [&["config", "explain"][..], &["config", "explain", "--json"]] {
        let ran = world.run(args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(!ran.shown().contains("hunter2"), "{}", ran.shown());
        assert!(ran.shown().contains("far.example"), "{}", ran.shown());
    }
}

#[test]
fn every_problem_in_a_table_by_name_has_its_place() {
    let world = World::with(
        r#"[mcp]
enabled = "sometimes"

[mcp.servers.a]
comand = "x"
args = "--flag"
min_role = "root"

[mcp.servers."b c"]
command = "x"

[commands.p]
program = ""
  timout_seconds = 5
max_output_bytes = 1
credential = "cal"

[commands]
q = 1

[skills]
load = "always"
dirs = "packs"

[server]
bind = "8470"
heartbeat_seconds = 0

[permissions]
http_role = "owner"
approval = "always"
"#,
    );
    insta::assert_snapshot!(world.run(&["config", "check"]).shown());
}

#[rstest]
#[case::neither(
    "[mcp.servers.x]\nargs = []",
    "outfitter.toml:1:14: `mcp.servers.x` needs `command` or `builtin`"
)]
#[case::both(
    "[mcp.servers.x]\ncommand = \"a\"\nbuiltin = \"notes\"",
    "`mcp.servers.x` cannot have both"
)]
#[case::unknown(
    "[mcp.servers.x]\nbuiltin = \"calendar\"",
    "no built-in server with \"calendar\", there is notes"
)]
#[case::disabled("[mcp.servers.x]\nenabled = false", "needs `command` or `builtin`")]
#[case::program(
    "\n[commands.x]\nargs = []",
    "outfitter.toml:2:11: `commands.x` needs `program`"
)]
#[case::blurred("[mcp.servers.a__b]\nbuiltin = \"notes\"", "single _ inside: \"a__b\"")]
#[case::taken("[mcp.servers.builtin]\nbuiltin = \"notes\"", "is taken: \"builtin\"")]
#[case::capital("[commands.Upper]\nprogram = \"planner\"", "a letter first: \"Upper\"")]
#[case::section(
    "commands = 1",
    "outfitter.toml:1:1: `commands` must be tables by name"
)]
#[case::servers(
    "mcp.servers = []",
    "outfitter.toml:1:5: `mcp.servers` must be tables by name"
)]
fn what_a_table_cannot_do_without(#[case] toml: &str, #[case] message: &str) {
    let world = World::with(toml);
    let problems = problems(&world, &[]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains(message), "{problems:?}");
    for command in [&["tools", "list"][..], &["run", "hi"], &["serve"]] {
        assert_eq!(world.run(command).code, 2, "{command:?}");
    }
}

#[rstest]
#[case("AGENT_SKILLS", "auto", "skills.load", json!("auto"))]
#[case("AGENT_SKILLS", "report, citations", "skills.load", json!(["report", "citations"]))]
#[case("AGENT_SKILLS", "", "skills.load", json!([]))]
#[case("OUTFITTER_SKILLS__LOAD", "[\"auto\"]", "skills.load", json!(["auto"]))]
#[case("AGENT_SKILLS_DIR", "packs,~/p", "skills.dirs", json!(["ROOT/here/packs", "ROOT/home/p"]))]
#[case("OUTFITTER_PERMISSIONS__APPROVAL", "never", "permissions.approval", json!("never"))]
#[case("OUTFITTER_SERVER__BIND", "[::1]:80", "server.bind", json!("[::1]:80"))]
fn a_variable_sets_a_key_of_what_is_connected(
    #[case] name: &str,
    #[case] text: &str,
    #[case] key: &str,
    #[case] value: Value,
) {
    let set = explained(&World::new(), &[(name, text)], key);
    assert_eq!(set, (value, name.to_owned()));
}

#[test]
fn a_variable_can_set_tables_by_name() {
    let toml = "{ n = { builtin = \"notes\" } }";
    let (value, source) = explained(
        &World::new(),
        &[("OUTFITTER_MCP__SERVERS", toml)],
        "mcp.servers",
    );
    assert_eq!(value["n"]["builtin"], "notes");
    assert_eq!(value["n"]["concurrency"], 8, "the rest has its default");
    assert_eq!(source, "OUTFITTER_MCP__SERVERS");
}

#[rstest]
#[case(&["--skills", "no-such-skill"], "no-such-skill")]
#[case(&["--approval", "perhaps"], "perhaps")]
fn a_flag_about_skills_or_approval_that_is_wrong_is_usage(
    #[case] flags: &[&str],
    #[case] said: &str,
) {
    let ran = World::new().run(&[&["tools", "list"], flags].concat());
    assert_eq!(ran.code, 2, "{}", ran.shown());
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}
