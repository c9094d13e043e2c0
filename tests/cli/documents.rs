//! What commands print under `--json` fits the published schemas.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rstest::rstest;
use serde_json::{Value, json};

use crate::serving::Serving;
use crate::world::World;

fn protocols() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/protocols")
}

/// The schema, closed: published schemas let fields be added, our own output has none that they do
/// not name.
fn closed(name: &str) -> jsonschema::Validator {
    let text = std::fs::read_to_string(protocols().join(name)).unwrap();
    let mut schema = serde_json::from_str(&text).unwrap();
    close(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("type") == Some(&json!("object")) && map.contains_key("properties") {
                map.insert("additionalProperties".to_owned(), json!(false));
            }
            map.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn assert_fits(name: &str, document: &Value) {
    let faults: Vec<String> = closed(name)
        .iter_errors(document)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(
        faults.is_empty(),
        "{name}\n{document:#}\n{}",
        faults.join("\n")
    );
}

#[test]
fn the_committed_schemas_are_those_of_the_commands() {
    let made = outfitter::cli::schema_files();
    let folder = protocols().join("cli");
    for file in &made {
        let committed = std::fs::read_to_string(folder.join(file.name)).unwrap_or_default();
        assert!(
            committed == file.text(),
            "docs/protocols/cli/{} is out of date: run `cargo run --example write-schemas`",
            file.name
        );
    }
    let names: BTreeSet<&str> = made.iter().map(|file| file.name).collect();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(&*name), "{name} has no code");
    }
}

/// A machine with two skills, one of them odd, a session, and a server that is not there.
fn world() -> World {
    let world = World::with(
        "[commands.gone]\nprogram = \"/nowhere/at-all\"\n\
         [mcp.servers.off]\nbuiltin = \"notes\"\nenabled = false\n",
    );
    world.write(
        "here/skills/report/SKILL.md",
        "---\nname: report\ndescription: Writes a report.\nversion: 1.2.0\n---\n\n# Report\n\nWrite it.\n",
    );
    world.write("here/skills/report/template.md", "# Title\n");
    world.write(
        "here/skills/odd/SKILL.md",
        "---\nname: odd\n---\nNo description.\n",
    );
    let args = ["tools", "call", "calculator", "--session", "s", "--args"];
    let called = world.run(&[&args[..], &["{\"expression\": \"6 * 7\"}"]].concat());
    assert_eq!(called.code, 0, "{}", called.shown());
    world
}

#[rstest]
#[case(&["config", "check"], "cli/config-check.schema.json")]
#[case(&["config", "explain"], "cli/config-explain.schema.json")]
#[case(&["config", "explain", "--prompt"], "cli/config-explain-prompt.schema.json")]
#[case(&["doctor"], "cli/doctor.schema.json")]
#[case(&["skills", "list"], "cli/skill-list.schema.json")]
#[case(&["skills", "show", "report"], "cli/skill.schema.json")]
#[case(&["init"], "cli/init.schema.json")]
#[case(&["tools", "list"], "tool-list.schema.json")]
#[case(&["sessions", "list"], "session-list.schema.json")]
#[case(&["sessions", "show", "s"], "session.schema.json")]
#[case(&["sessions", "delete", "s"], "cli/session-deleted.schema.json")]
fn a_document_fits_its_schema(#[case] args: &[&str], #[case] schema: &str) {
    let ran = world().run(&[args, &["--json"]].concat());
    assert!(ran.code == 0 || args == ["doctor"], "{}", ran.shown());
    let document = ran.json();
    assert_fits(schema, &document);
    let mut without_version = document;
    if let Some(map) = without_version.as_object_mut() {
        map.shift_remove("v");
        assert!(
            !closed(schema).is_valid(&without_version),
            "{schema} asks for no version"
        );
    }
}

#[test]
fn what_a_server_says_when_it_is_ready_fits_its_schema() {
    let world = World::with("[server]\nbind = \"127.0.0.1:0\"\n");
    let serving = Serving::start(&world);
    assert_fits("cli/serve.schema.json", &serving.said);
}

#[test]
fn sessions_have_their_messages_and_a_list_has_its_sessions() {
    let world = world();
    let list = world.run(&["sessions", "list", "--json"]).json();
    assert_eq!(list["sessions"][0]["id"], "s");
    let shown = world.run(&["sessions", "show", "s", "--json"]).json();
    assert_eq!(shown["session_id"], "s");
    let outputs: Vec<&Value> = shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .collect();
    let output = &outputs[0]["metadata"]["tool_agent_output"];
    assert_eq!(output["tool_name"], "calculator");
}

#[test]
fn no_schema_offers_null_for_what_is_left_out() {
    for file in outfitter::cli::schema_files() {
        assert!(!file.text().contains("\"null\""), "{}", file.name);
    }
}
