//! Whatever comes, it is read without a panic and has an end.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::any_event::{any_event, has_an_end};

const KINDS: &[&str] = &[
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.refusal.delta",
    "response.reasoning_summary_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.completed",
    "response.incomplete",
    "message",
    "reasoning",
    "function_call",
    "new",
];

const KEYS: &[&str] = &[
    "item",
    "output_index",
    "delta",
    "arguments",
    "text",
    "response",
    "output",
    "status",
    "usage",
    "content",
    "summary",
    "encrypted_content",
    "call_id",
    "name",
    "incomplete_details",
];

proptest! {
    #[test]
    fn no_event_panics(events in prop::collection::vec(any_event(KINDS, KEYS), 1..8)) {
        prop_assert!(has_an_end(ResponsesDecoder::default(), &events));
    }
}

#[test]
fn only_sealed_thoughts_come_back() {
    assert!(comes_back(
        &json!({"type": "reasoning", "encrypted_content": "x"})
    ));
    assert!(!comes_back(
        &json!({"type": "reasoning", "encrypted_content": null})
    ));
    assert!(!comes_back(&json!({"type": "reasoning", "summary": []})));
}
