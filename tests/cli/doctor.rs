//! `doctor` on what is connected.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::world::World;

/// The status and finding of the rows about something.
fn rows(world: &World, what: &str) -> Vec<(String, String)> {
    let document = world.run(&["doctor", "--json"]).json();
    let checks = document["checks"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    checks
        .filter(|row| row["what"] == what)
        .map(|row| (text(&row["status"]), text(&row["finding"])))
        .collect()
}

#[test]
fn where_nothing_is_connected_there_are_no_rows_of_it() {
    let world = World::new();
    for what in ["mcp", "commands", "skills", "connections"] {
        assert_eq!(rows(&world, what), [], "{what}");
    }
}

#[test]
fn servers_say_how_they_stand() {
    let world = World::with(
        "[mcp.servers.notes]\nbuiltin = \"notes\"\n\
         [mcp.servers.off]\nbuiltin = \"notes\"\nenabled = false\n\
         [mcp.servers.gone]\ncommand = \"/nowhere/at-all\"\n",
    );
    let rows = rows(&world, "mcp");
    let of = |name: &str| {
        let mut found = rows
            .iter()
            .filter(|(_, text)| text.starts_with(&format!("{name}: ")));
        found
            .next()
            .unwrap_or_else(|| panic!("no {name} in {rows:?}"))
    };
    let (status, finding) = of("notes");
    assert_eq!(status, "ok");
    assert!(finding.starts_with("notes: ready, "), "{finding}");
    assert_eq!(of("off"), &("ok".to_owned(), "off: turned off".to_owned()));
    let (status, finding) = of("gone");
    assert_eq!(status, "fail");
    assert!(finding.starts_with("gone: down: "), "{finding}");
    assert_eq!(
        world.run(&["doctor"]).code,
        1,
        "what is asked for does not work"
    );
}

#[test]
fn servers_that_are_all_turned_off_are_named_once() {
    let world = World::with("[mcp]\nenabled = false\n[mcp.servers.notes]\nbuiltin = \"notes\"\n");
    let expected = ("warn".to_owned(), "1 server turned off".to_owned());
    assert_eq!(rows(&world, "mcp"), [expected]);
}

#[test]
fn programs_say_whether_they_answer() {
    let world = World::with(
        "[commands.planner]\nprogram = \"planner\"\n\
         [commands.gone]\nprogram = \"/nowhere/at-all\"\n",
    );
    let rows = rows(&world, "commands");
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[0].0, "fail");
    assert_eq!(rows[0].1, "gone: /nowhere/at-all is not there");
    let document = world.run(&["doctor", "--json"]).json();
    let checks = document["checks"].as_array().unwrap();
    let gone = checks.iter().find(|row| row["what"] == "commands").unwrap();
    assert_eq!(gone["hint"], "[commands.gone] program names it");
    assert_eq!(rows[1], ("ok".to_owned(), "planner: planner".to_owned()));
}

/// Its tool was gone, and a call of it was told of a name that nobody has.
#[test]
fn a_lazy_program_that_is_gone_was_right_and_its_tool_unknown() {
    let described = json!({"v": 1, "name": "probe", "commands": [{
        "command": "probe", "subcommand": "run", "skill": "probe", "summary": "Runs.",
        "effects": ["read"], "args": { "type": "object" }, "result": { "type": "object" },
    }]});
    let world = World::new();
    let program = world.path("probe");
    world.write(
        "here/outfitter.toml",
        &format!("[commands.probe]\nprogram = {program:?}\nlazy = true\n"),
    );
    world.program("probe", &format!("#!/bin/sh\necho '{described}'\n"));
    world.run(&["tools", "list"]);
    let idle = "probe: idle, 1 command; its first call asks it".to_owned();
    assert_eq!(rows(&world, "commands"), [("ok".to_owned(), idle)]);
    std::fs::remove_file(program).unwrap();
    let why = "probe: idle, 1 command: ROOT/probe is not there".to_owned();
    assert_eq!(rows(&world, "commands"), [("warn".to_owned(), why)]);
    let args = r#"{"command": "probe", "subcommand": "run", "args": {}}"#;
    let ran = world.run(&["tools", "call", "project_cli", "--json", "--args", args]);
    let error = &ran.json()["error"];
    assert_eq!(error["code"], "unavailable", "{error}");
    // One that was never asked has no tool, and the call says why.
    let world = World::with("[commands.gone]\nprogram = \"/nowhere/at-all\"\nlazy = true\n");
    let ran = world.run(&["tools", "call", "project_cli", "--json", "--args", args]);
    let error = &ran.json()["error"];
    assert_eq!(error["code"], "unavailable", "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("gone: /nowhere/at-all is not there"),
        "{message}"
    );
}

#[test]
fn what_programs_and_servers_were_given_was_told_where_they_fail() {
    let fails = "echo \\\"bad $1 $2 $K\\\" >&2; exit 3";
    let given = format!(
        "args = [\"-c\", \"{fails}\", \"sh\", \"--password\", \"SECP12345\"]\nenv = {{ K = \"SECENV1234567\" }}\n"
    );
    let world = World::with(&format!(
        "[commands.q]\nprogram = \"/bin/sh\"\n{given}[mcp.servers.m]\ncommand = \"/bin/sh\"\n{given}"
    ));
    let [(_, q)] = &rows(&world, "commands")[..] else {
        panic!("one program")
    };
    assert!(q.contains("bad --password [redacted] [redacted]"), "{q}");
    let [(_, m)] = &rows(&world, "mcp")[..] else {
        panic!("one server")
    };
    assert!(m.contains("bad --password [redacted] [redacted]"), "{m}");
    for command in [&["doctor"][..], &["tools", "list"]] {
        let shown = world.run(command).shown();
        assert!(!shown.contains("SEC"), "{shown}");
    }
}

#[test]
fn a_lazy_server_that_cannot_be_started_was_right() {
    let world = World::new();
    world.program(
        "server",
        "#!/bin/sh\nwhile read -r line; do\nid=$(echo \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\ncase \"$line\" in\n\
         *'\"initialize\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}';;\n\
         *'\"tools/list\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}]}}';;\n\
         *'\"id\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"error\":{\"code\":-32601,\"message\":\"no\"}}';;\n\
         esac\ndone\n",
    );
    let server = world.path("server");
    world.write(
        "here/outfitter.toml",
        &format!("[mcp.servers.m]\ncommand = {server:?}\nlazy = true\n"),
    );
    world.run(&["tools", "list"]);
    let idle = "m: idle, 1 tool; its first call starts it".to_owned();
    assert_eq!(rows(&world, "mcp"), [("ok".to_owned(), idle)]);
    std::fs::set_permissions(&server, std::fs::Permissions::from_mode(0o600)).unwrap();
    let why = "m: idle, 1 tool: ROOT/server is not executable".to_owned();
    assert_eq!(rows(&world, "mcp"), [("warn".to_owned(), why)]);
}

#[test]
fn skills_say_how_many_they_are_and_what_is_wrong() {
    let world = World::new();
    world.write(
        "here/skills/a/SKILL.md",
        "---\nname: a\ndescription: About a.\n---\nA.\n",
    );
    world.write("here/skills/b/SKILL.md", "---\nname: b\n---\nB.\n");
    let rows = rows(&world, "skills");
    assert_eq!(rows[0], ("ok".to_owned(), "1 skill".to_owned()));
    assert_eq!(rows[1].0, "warn");
    assert!(
        rows[1].1.starts_with("ROOT/here/skills/b/SKILL.md"),
        "{rows:?}"
    );
}

/// Whichever backend is asked for, each has a row with what it reaches here.
#[test]
fn each_backend_says_what_it_reaches_and_what_is_missing() {
    let world = World::new();
    let report =
        |variables: &[(&str, &str)]| world.run_with(&["doctor", "--json"], variables).json();
    let row = |report: &Value, what: &str| -> Value {
        let checks = report["checks"].as_array().unwrap();
        let found = checks.iter().find(|row| row["what"] == what);
        found
            .unwrap_or_else(|| panic!("no {what}: {report:#}"))
            .clone()
    };
    let with_programs = report(&[("PATH", "/usr/bin:/bin")]);
    let local = row(&with_programs, "local");
    let finding = local["finding"].as_str().unwrap();
    let level = finding.split([' ', ':']).nth(1).unwrap().to_owned();
    if ["full", "partial"].contains(&level.as_str()) {
        assert!(finding.contains("Landlock ABI "), "{local}");
        assert!(finding.contains("memory "), "{local}");
        assert!(finding.contains("processes by "), "{local}");
    }
    // It agrees with the row of what is asked for.
    let sandbox = row(&with_programs, "sandbox");
    assert_eq!(sandbox["finding"], format!("local, level {level}"));
    let passthrough = row(&with_programs, "passthrough");
    assert!(
        passthrough["finding"]
            .as_str()
            .unwrap()
            .starts_with("level none: ")
    );
    // Where there is no such program, it says how to get it.
    let without = row(&report(&[("PATH", "/nowhere")]), "bwrap");
    assert_eq!(without["status"], "warn", "{without}");
    assert!(
        without["hint"]
            .as_str()
            .unwrap()
            .contains("apt install bubblewrap")
    );
    if std::path::Path::new("/usr/bin/bwrap").exists() {
        let bwrap = row(&with_programs, "bwrap");
        assert!(
            bwrap["finding"].as_str().unwrap().contains("bubblewrap "),
            "{bwrap}"
        );
    }
}

#[test]
fn every_row_there_is_has_its_name_in_the_schema() {
    let world = World::with(
        "[mcp.servers.notes]\nbuiltin = \"notes\"\n[commands.gone]\nprogram = \"gone\"\n\
         [plugin_api]\nallowlist = [\"api\"]\n\
         apis.api = { url = \"http://127.0.0.1:1/\", schema = {} }\n[files]\nquota_mb = 7\n\
         [sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nhost = \"127.0.0.1\"\nport = 1\n\
         user = \"nobody\"\nkey_file = \"k\"\nknown_hosts = \"k\"\nworkspace = \"/w\"\n",
    );
    let schema = include_str!("../../docs/protocols/cli/doctor.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let words = schema["$defs"]["Check"]["properties"]["what"]["description"]
        .as_str()
        .unwrap();
    let document = world.run(&["doctor", "--json"]).json();
    let checks = document["checks"].as_array().unwrap().iter();
    let found: BTreeSet<&str> = checks.map(|row| row["what"].as_str().unwrap()).collect();
    for there in ["plugin_api", "ssh", "mcp", "commands"] {
        assert!(found.contains(there), "{found:?}");
    }
    for what in found {
        assert!(words.contains(&format!("`{what}`")), "{what}: {words}");
    }
}

#[test]
fn what_a_quota_counts_is_said_where_it_is_looked_at() {
    assert_eq!(rows(&World::new(), "files"), []);
    let world = World::with("[files]\nquota_mb = 7\n");
    let said = rows(&world, "files");
    let [(status, quota)] = said.as_slice() else {
        panic!("{said:?}");
    };
    assert_eq!(status, "ok");
    assert!(quota.starts_with("file tools may fill 7 MiB "), "{quota}");
    assert!(
        quota.contains("elsewhere what they have added since the program began"),
        "{quota}"
    );
    let notes = world.run(&["config", "explain", "--json"]).json()["notes"].clone();
    assert_eq!(notes["sandbox_quota"][0], quota.as_str(), "{notes:#}");
}
