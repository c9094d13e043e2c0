//! What the tools say of themselves.

use std::collections::BTreeMap;

use outfitter_builtin::{BuiltinOptions, ShellOptions, builtin_tools};
use outfitter_core::{Effect, IDENTITY_PARAMETERS, Role, ToolSpec, canonical};
use serde_json::{Value, json};

fn specs() -> BTreeMap<String, ToolSpec> {
    builtin_tools(&BuiltinOptions::default())
        .iter()
        .map(|tool| (tool.spec().name.to_string(), tool.spec().clone()))
        .collect()
}

/// The same value, its keys in an order that does not depend on how it was made.
fn sorted(value: &Value) -> Value {
    serde_json::from_str(&canonical(value)).unwrap()
}

#[test]
fn every_spec_is_as_it_was() {
    let told: Vec<Value> = specs()
        .into_values()
        .map(|spec| {
            json!({
                "name": spec.name,
                "description": &*spec.description,
                "keywords": spec.keywords.iter().map(|word| &**word).collect::<Vec<_>>(),
                "exposure": spec.exposure,
                "min_role": spec.min_role,
                "effects": spec.effects,
                "idempotent": spec.idempotent,
                "timeout_seconds": spec.timeout.map(|timeout| timeout.as_secs()),
                "input_schema": sorted(&spec.input_schema),
                "output_schema": spec.output_schema.as_deref().map(sorted),
            })
        })
        .collect();
    insta::assert_json_snapshot!(told);
}

#[test]
fn a_description_says_when_not_and_names_a_neighbour_that_its_reader_can_have() {
    let specs = specs();
    // Comes from another crate, for everybody.
    let elsewhere = ["read_artifact"];
    for (name, spec) in &specs {
        let text = &*spec.description;
        assert!(text.len() >= 120, "{name} says little");
        assert!(
            text.contains("Use it") || text.contains("use it"),
            "{name} does not say when to use it"
        );
        let neighbours: Vec<&String> = specs
            .keys()
            .filter(|other| *other != name && names(text, other))
            .collect();
        assert!(!neighbours.is_empty(), "{name} names no neighbour");
        for other in neighbours {
            assert!(
                specs[other].min_role <= spec.min_role,
                "{name} tells of {other}, which its reader may not know"
            );
        }
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let like_a_tool =
                word.contains('_') && word.ends_with(|c: char| c.is_ascii_lowercase());
            let a_parameter = spec.input_schema["properties"].get(word).is_some();
            assert!(
                !like_a_tool
                    || specs.contains_key(word)
                    || a_parameter
                    || elsewhere.contains(&word)
                    || word == "if_hash",
                "{name} speaks of {word}, which is neither a tool nor a parameter"
            );
        }
    }
}

fn names(text: &str, tool: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .any(|word| word == tool)
}

#[test]
fn a_tool_is_found_in_chinese_too() {
    for (name, spec) in specs() {
        let chinese = |word: &str| word.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        let count = |wanted: bool| {
            spec.keywords
                .iter()
                .filter(|word| chinese(word) == wanted)
                .count()
        };
        assert!(count(true) >= 3, "{name} has few Chinese keywords");
        assert!(count(false) >= 3, "{name} has few English keywords");
    }
}

#[test]
fn a_schema_takes_what_it_names_and_nothing_else() {
    for (name, spec) in specs() {
        let schema = &*spec.input_schema;
        jsonschema::meta::validate(schema).unwrap();
        jsonschema::meta::validate(spec.output_schema.as_ref().unwrap()).unwrap();
        assert_eq!(schema["type"], "object", "{name}");
        // Providers refuse these at the top.
        for word in ["oneOf", "anyOf", "allOf", "not", "enum"] {
            assert!(schema.get(word).is_none(), "{name} has {word} at the top");
        }
        let validator = jsonschema::validator_for(schema).unwrap();
        check_object(&name, schema);
        assert!(
            !validator.is_valid(&json!({"no_such_parameter": 1})),
            "{name}"
        );
    }
}

fn check_object(name: &str, schema: &Value) {
    assert_eq!(schema["additionalProperties"], false, "{name}");
    for (property, said) in schema["properties"].as_object().unwrap() {
        // Whom a message is for is said; who sends it is not.
        let addressed = name == "send_message"
            && ["stream_id", "group_id", "user_id"].contains(&property.as_str());
        assert!(
            addressed || !IDENTITY_PARAMETERS.contains(&property.as_str()),
            "{name} takes {property}"
        );
        let described = said.get("description").is_some() || said.get("const").is_some();
        assert!(described, "{name} does not describe {property}");
        for variant in said["items"]["anyOf"].as_array().into_iter().flatten() {
            check_object(&format!("{name}.{property}"), variant);
        }
    }
}

#[test]
fn a_default_that_is_said_is_the_one_that_counts() {
    let specs = specs();
    let default = |tool: &str, parameter: &str| {
        specs[tool].input_schema["properties"][parameter]["default"].clone()
    };
    assert_eq!(default("execute_shell_command", "block_until_ms"), 30_000);
    assert_eq!(default("execute_shell_command", "timeout_seconds"), 1800);
    assert_eq!(default("run_command", "timeout_seconds"), 60);
    assert_eq!(default("await_shell", "block_until_ms"), 600_000);
    assert_eq!(default("file_read", "start_line"), 1);
    assert_eq!(default("file_read", "max_bytes"), 262_144);
    assert_eq!(default("file_write", "mode"), "overwrite");
    assert_eq!(default("list_dir", "path"), ".");
    assert_eq!(default("list_dir", "depth"), 2);
    assert_eq!(default("list_dir", "max_items"), 200);
    assert_eq!(default("list_dir", "include_hidden"), false);
    assert_eq!(default("glob", "limit"), 200);
    assert_eq!(default("grep", "limit"), 200);
    assert_eq!(default("grep", "mode"), "content");
}

#[test]
fn without_the_shell_its_tools_do_not_exist() {
    let options = BuiltinOptions {
        shell: ShellOptions {
            enabled: false,
            ..ShellOptions::default()
        },
        ..BuiltinOptions::default()
    };
    let tools = builtin_tools(&options);
    let left: Vec<_> = tools
        .iter()
        .map(|tool| tool.spec().name.to_string())
        .collect();
    let shell = [
        "await_shell",
        "execute_shell_command",
        "kill_shell",
        "run_command",
    ];
    let all: Vec<String> = specs().into_keys().collect();
    for name in &all {
        assert_ne!(
            left.contains(name),
            shell.contains(&name.as_str()),
            "{name}"
        );
    }
    assert_eq!(left.len() + shell.len(), all.len());
}

/// A sub-agent is given no tool with this effect unless its creator names it.
#[test]
fn what_runs_commands_says_so() {
    for (name, spec) in specs() {
        let runs = [
            "await_shell",
            "execute_shell_command",
            "kill_shell",
            "run_command",
        ];
        if runs.contains(&name.as_str()) {
            assert!(spec.effects.has(Effect::Exec), "{name}");
            assert_eq!(spec.min_role, Role::Admin, "{name}");
        }
    }
}

#[test]
fn a_call_outlasts_the_longest_wait_it_can_be_asked_for() {
    let options = BuiltinOptions::default();
    for (name, spec) in specs() {
        if ["execute_shell_command", "await_shell", "run_command"].contains(&name.as_str()) {
            assert!(spec.timeout.unwrap() > options.shell.max_timeout, "{name}");
        }
    }
}

#[test]
fn what_comes_later_is_unknown() {
    let specs = specs();
    for name in ["search_memory", "compress_history"] {
        assert!(!specs.contains_key(name));
    }
}
