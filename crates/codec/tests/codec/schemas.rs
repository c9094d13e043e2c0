//! The published schemas are those of the code, and fit what is written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use outfitter_codec::{
    AuditStatus, encode_error, encode_listing, encode_messages, encode_sessions,
    encode_tool_output, schema_files,
};
use outfitter_core::{EventBody, SessionId, SessionSummary, UnixMs};
use serde_json::{Value, json};

use crate::documents::{least_output, listing, written};
use crate::samples::{every_kind, full_error, full_output, lines, run, waiting_run};

pub(crate) fn protocols() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols")
}

/// The schema of `name`, closed: published schemas let fields be added, our own output has none
/// that they do not name.
pub(crate) fn closed(name: &str) -> Validator {
    let file = schema_files().into_iter().find(|file| file.name == name);
    let mut schema = file.expect("a schema of that name").schema;
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

pub(crate) fn assert_fits(schema: &Validator, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    let faults: Vec<String> = schema
        .iter_errors(&value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{text}\n{}", faults.join("\n"));
}

#[test]
fn the_committed_schemas_are_those_of_the_code() {
    let made = schema_files();
    for file in &made {
        let committed = std::fs::read_to_string(protocols().join(file.name)).unwrap_or_default();
        assert!(
            committed == file.text(),
            "docs/protocols/{} is out of date: run `cargo run -p outfitter-codec --example write-schemas`",
            file.name
        );
    }
    let names: BTreeSet<&str> = made.iter().map(|file| file.name).collect();
    for entry in std::fs::read_dir(protocols()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let ours = name.ends_with(".schema.json");
        assert!(!ours || names.contains(&*name), "{name} has no code");
    }
}

#[test]
fn every_event_fits_the_schema_of_events() {
    let schema = closed("event.schema.json");
    for events in [every_kind(), run(), waiting_run()] {
        for line in lines(&events).lines() {
            assert_fits(&schema, line);
        }
    }
}

#[test]
fn every_type_of_line_in_the_schema_is_one_that_is_written() {
    let written: BTreeSet<String> = lines(&every_kind())
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].to_string())
        .collect();
    let schema = &schema_files()[0].schema;
    let known: BTreeSet<String> = schema["$defs"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(|form| form.pointer("/properties/type/const"))
        .map(Value::to_string)
        .collect();
    assert_eq!(written, known);
    assert_eq!(schema["oneOf"].as_array().unwrap().len(), known.len());
}

#[test]
fn every_document_fits_its_schema() {
    let output = closed("tool-output.schema.json");
    assert_fits(&output, &written(&full_output(), encode_tool_output));
    assert_fits(&output, &written(&least_output(), encode_tool_output));
    assert_fits(
        &closed("error.schema.json"),
        &written(&full_error(), encode_error),
    );
    let tools = closed("tool-list.schema.json");
    assert_fits(&tools, &written(&listing()[..], encode_listing));
    assert_fits(&tools, &written(&[][..], encode_listing));
}

#[test]
fn sessions_and_their_messages_fit_their_schemas() {
    let id = SessionId::new("s").unwrap();
    let summary = SessionSummary {
        id: id.clone(),
        created: UnixMs(1),
        updated: UnixMs(2),
        entries: 3,
    };
    let list = closed("session-list.schema.json");
    let text = written(&[(summary.clone(), Vec::new())][..], encode_sessions);
    assert_eq!(
        text,
        "{\"v\":1,\"sessions\":[{\"id\":\"s\",\"created\":1,\"updated\":2,\"entries\":3}]}\n"
    );
    assert_fits(&list, &text);
    assert_fits(&list, &written(&[][..], encode_sessions));
    let asked: Vec<_> = every_kind()
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Interrupt(asked) => Some(asked.into()),
            _ => None,
        })
        .collect();
    let text = written(&[(summary, asked.clone())][..], encode_sessions);
    assert_fits(&list, &text);
    assert!(text.contains("outfitter sessions answer int_"), "{text}");
    assert!(!list.is_valid(&json!({"v": 1, "sessions": [{"id": "s"}]})));

    let messages: Vec<_> = run()
        .into_iter()
        .chain(every_kind())
        .filter_map(|event| match event.body {
            EventBody::Message(message) => Some(message),
            _ => None,
        })
        .collect();
    assert!(messages.iter().any(|message| message.output.is_some()));
    let text = written(&messages[..], |messages, out| {
        let audit_status = AuditStatus {
            suggested_tools: vec!["grep"],
            tools_expanded: true,
        };
        let jobs = [outfitter_codec::JobLine {
            task_id: "job_1".to_owned(),
            command: "make".to_owned(),
            started: 1,
            status: "ended",
            ended: Some("exit code 0".to_owned()),
        }];
        encode_messages(&id, messages, audit_status, &asked, &jobs, out)
    });
    assert_fits(&closed("session.schema.json"), &text);
}

/// A schema that accepts anything would pass every test above.
#[test]
fn the_schemas_refuse_what_is_wrong() {
    let schema = closed("event.schema.json");
    let sound: Vec<Value> = lines(&every_kind())
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for line in &sound {
        for key in ["type", "seq", "ts", "run_id", "session_id"] {
            let mut broken = line.clone();
            broken.as_object_mut().unwrap().shift_remove(key);
            assert!(!schema.is_valid(&broken), "without {key}: {broken}");
        }
        for (key, value) in [
            ("extra", json!(1)),
            ("seq", json!(0)),
            ("agent_id", json!(null)),
            ("type", json!("other")),
        ] {
            let mut broken = line.clone();
            broken[key] = value;
            assert!(!schema.is_valid(&broken), "with a wrong {key}: {broken}");
        }
    }
}

#[test]
fn the_published_schema_lets_fields_be_added_but_not_to_the_output_of_a_run() {
    let open = jsonschema::validator_for(&schema_files()[0].schema).unwrap();
    let written = lines(&run());
    let mut last: Value = serde_json::from_str(written.lines().last().unwrap()).unwrap();
    last["later"] = json!(1);
    assert!(open.is_valid(&last));
    last["output"]["later"] = json!(1);
    assert!(!open.is_valid(&last));
}

#[test]
fn no_schema_offers_null_for_what_is_left_out() {
    for file in schema_files() {
        assert!(!file.text().contains("\"null\""), "{}", file.name);
    }
}
