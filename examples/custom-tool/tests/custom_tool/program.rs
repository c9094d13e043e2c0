//! The program of its own: everything Outfitter has, and the two tools.

use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// What the program did.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in {:?}, {}", self.stdout, self.stderr))
    }
}

#[expect(
    clippy::disallowed_types,
    reason = "a test runs the program as a person does"
)]
fn run(home: &Path, args: &[&str]) -> Ran {
    let Output {
        status,
        stdout,
        stderr,
    } = std::process::Command::new(env!("CARGO_BIN_EXE_custom-tool"))
        .args(args)
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran {
        code: status.code(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

fn call(name: &str, args: &str) -> (Option<i32>, Value) {
    let home = TempDir::new().unwrap();
    let ran = run(
        home.path(),
        &["tools", "call", name, "--args", args, "--json"],
    );
    (ran.code, ran.json())
}

#[test]
fn both_tools_stand_beside_those_that_ship() {
    let home = TempDir::new().unwrap();
    let list = run(home.path(), &["tools", "list", "--json"]).json();
    let tools = list.as_array().unwrap();
    let source = |name: &str| {
        let found = tools.iter().find(|tool| tool["name"] == name);
        found.map(|tool| tool["source"].clone())
    };
    assert_eq!(source("get_weather"), Some(json!("linked")));
    assert_eq!(source("get_forecast"), Some(json!("application")));
    assert_eq!(source("calculator"), Some(json!("builtin")));
}

#[test]
fn a_model_reads_the_name_the_description_and_the_schema_that_the_author_wrote() {
    let home = TempDir::new().unwrap();
    let tool = run(home.path(), &["tools", "show", "get_weather", "--json"]).json();
    assert_eq!(tool["description"], "按城市名查询天气");
    assert_eq!(
        tool["input_schema"],
        json!({
            "type": "object",
            "properties": { "city": {
                "type": "string", "description": "The name of the city, in any language.",
            } },
            "required": ["city"],
            "additionalProperties": false,
        })
    );
    let people = run(home.path(), &["tools", "list"]).stdout;
    assert!(people.contains("按城市名查询天气"), "{people}");
}

#[test]
fn a_call_from_the_command_line_goes_down_the_pipeline() {
    let (code, output) = call("get_weather", r#"{"city":"Oslo"}"#);
    assert_eq!((code, &output["status"]), (Some(0), &json!("success")));
    assert_eq!(
        output["result"],
        json!({ "city": "Oslo", "temp_c": 23, "condition": "sunny" })
    );
    let (code, output) = call("get_forecast", r#"{"city":"Oslo","days":1}"#);
    assert_eq!(code, Some(0));
    assert_eq!(output["result"]["days"], json!([{ "high": 14, "low": 6 }]));
}

#[test]
fn arguments_are_held_to_the_schemas_that_the_types_make() {
    for (name, args, path) in [
        ("get_weather", "{}", "/city"),
        ("get_weather", r#"{"city":7}"#, "/city"),
        (
            "get_weather",
            r#"{"city":"Oslo","country":"NO"}"#,
            "/country",
        ),
        ("get_forecast", r#"{"city":""}"#, "/city"),
        ("get_forecast", r#"{"city":"Oslo","days":8}"#, "/days"),
        (
            "get_forecast",
            r#"{"city":"Oslo","unit":"kelvin"}"#,
            "/unit",
        ),
    ] {
        let (code, output) = call(name, args);
        assert_eq!(code, Some(2), "{name} {args}");
        assert_eq!(
            output["error"]["code"], "invalid_arguments",
            "{name} {args}"
        );
        let found = output["error"]["path"].as_str().unwrap_or_default();
        assert_eq!(found, path, "{name} {args}: {output}");
    }
}

#[test]
fn a_model_calls_the_tool_and_people_see_what_it_does_meanwhile() {
    let home = TempDir::new().unwrap();
    std::fs::write(
        home.path().join("script.yaml"),
        "- tool_calls:\n    - name: get_weather\n      arguments: { city: Oslo }\n\
         - expect: sunny\n  text: It is sunny in Oslo.\n",
    )
    .unwrap();
    std::fs::write(
        home.path().join("outfitter.toml"),
        "[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\n",
    )
    .unwrap();
    let ran = run(
        home.path(),
        &["run", "--json", "How is the weather in Oslo?"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let events: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let progress: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "tool_progress")
        .collect();
    assert_eq!(progress[0]["text"], "asking for the weather in Oslo\n");
    assert_eq!(progress[0]["stream"], "info");
    assert_eq!(progress.last().unwrap()["closed"], true);
    let last = events.last().unwrap();
    assert_eq!(last["output"]["answer"], "It is sunny in Oslo.");
}
