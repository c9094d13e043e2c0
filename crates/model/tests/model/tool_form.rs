//! A tool as a request has it.

use std::sync::Arc;

use outfitter_core::{ToolName, ToolSchema};
use outfitter_model::{Wire, tool_on_wire};
use serde_json::json;

fn tool() -> ToolSchema {
    ToolSchema {
        name: ToolName::new("grep").unwrap(),
        description: "Finds lines.".into(),
        parameters: Arc::new(json!({"type": "object", "properties": {"b": {}, "a": {}}})),
    }
}

#[test]
fn each_wire_has_its_own_form_and_a_script_has_none() {
    let form = |wire| {
        let form = tool_on_wire(wire, &tool()).unwrap();
        form.map(|form| form.to_string())
    };
    let parameters = r#"{"properties":{"a":{},"b":{}},"type":"object"}"#;
    assert_eq!(
        form(Wire::OpenAi).unwrap(),
        format!(
            r#"{{"function":{{"description":"Finds lines.","name":"grep","parameters":{parameters}}},"type":"function"}}"#
        )
    );
    assert_eq!(
        form(Wire::Anthropic).unwrap(),
        format!(r#"{{"description":"Finds lines.","input_schema":{parameters},"name":"grep"}}"#)
    );
    assert_eq!(form(Wire::Scripted), None);
}
