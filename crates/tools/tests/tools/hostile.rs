//! Schemas that mean harm.

use outfitter_core::Status;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Probe, World};

#[rstest]
#[case::refers_to_itself(json!({"type": "object", "$ref": "#"}))]
#[case::refers_in_a_circle(json!({
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/x"}},
    "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}},
}))]
#[case::any_of_itself(json!({"type": "object", "anyOf": [{"$ref": "#"}]}))]
#[case::backtracks(json!({
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^(?=(a+)+$)(a|a)*b$"}},
}))]
#[tokio::test]
async fn a_schema_without_an_end_neither_hangs_nor_crashes(#[case] schema: Value) {
    let world = World::new([]);
    let tool = Probe::new("hostile").schema(schema);
    let source = crate::support::source(
        "remote",
        outfitter_core::Trust::Remote,
        vec![std::sync::Arc::new(tool)],
    );
    world.registry.add(source).unwrap();
    let raw = json!({"a": "a".repeat(200)}).to_string();
    let output = world.output("remote__hostile", &raw).await;
    assert!(matches!(output.status, Status::Success | Status::Error));
}
