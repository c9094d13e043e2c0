//! Documents beside the event lines.

use std::sync::Arc;

use outfitter_codec::{encode_error, encode_listing, encode_tool_output};
use outfitter_core::{
    Code, Effect, Effects, ErrorInfo, Exposure, Listing, Role, SourceId, Status, ToolName,
    ToolOutput,
};
use serde_json::{Value, json};

use crate::samples::{call, full_error, full_output};

pub(crate) fn written<T: ?Sized>(
    value: &T,
    encode: impl Fn(&T, &mut Vec<u8>) -> Result<(), outfitter_codec::EncodeError>,
) -> String {
    let mut out = Vec::new();
    encode(value, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn listing() -> Vec<Listing> {
    let grep = Listing {
        name: ToolName::new("grep").unwrap(),
        source: SourceId::new("builtin").unwrap(),
        description: "Finds lines.".into(),
        input_schema: Arc::new(json!({"type": "object", "properties": {}})),
        output_schema: None,
        exposure: Exposure::Listed,
        min_role: Role::Guest,
        effects: Effects::READ,
        presented: true,
    };
    let shell = Listing {
        name: ToolName::new("execute_shell_command").unwrap(),
        output_schema: Some(Arc::new(json!({"type": "object"}))),
        exposure: Exposure::Deferred,
        min_role: Role::Admin,
        effects: Effects::of(&[Effect::Exec, Effect::WriteOutside]),
        presented: false,
        ..grep.clone()
    };
    vec![grep, shell]
}

pub(crate) fn least_output() -> ToolOutput {
    ToolOutput {
        result: None,
        error: None,
        status: Status::Running,
        ui_hints: None,
        artifacts: Vec::new(),
        truncated: None,
        tool_call_id: call("call_1"),
        ..full_output()
    }
}

#[test]
fn documents_are_one_line_each_and_carry_the_version() {
    let all = [
        written(&full_output(), encode_tool_output),
        written(&least_output(), encode_tool_output),
        written(&full_error(), encode_error),
        written(&listing()[..], encode_listing),
        written(&[][..], encode_listing),
    ];
    insta::assert_snapshot!(all.concat());
}

#[test]
fn a_result_is_the_same_live_and_from_a_store() {
    let mut output = least_output();
    output.result = Some(Value::Null);
    output.error = Some(ErrorInfo {
        got: Some(Value::Null),
        expected: Some(Value::Null),
        ..ErrorInfo::new(Code::InvalidArguments, "/x is null")
    });
    let stored = serde_json::to_string(&output).unwrap();
    let read: ToolOutput = serde_json::from_str(&stored).unwrap();
    let live = written(&output, encode_tool_output);
    assert_eq!(written(&read, encode_tool_output), live);
    assert!(
        live.contains(r#""result":null,"#),
        "null is a result: {live}"
    );
    assert!(live.contains(r#""got":null"#), "null was found: {live}");
}
