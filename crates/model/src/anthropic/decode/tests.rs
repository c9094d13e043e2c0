//! Whatever comes, it is read without a panic and has an end.

use proptest::prelude::*;

use super::*;
use crate::any_event::{any_event, has_an_end};

const KINDS: &[&str] = &[
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
    "new",
    "text",
    "tool_use",
    "thinking",
    "server_tool_use",
    "text_delta",
    "input_json_delta",
    "signature_delta",
    "citations_delta",
    "thinking_delta",
];

const KEYS: &[&str] = &[
    "index",
    "message",
    "content_block",
    "delta",
    "usage",
    "error",
    "content",
    "input",
    "text",
    "thinking",
    "signature",
    "citations",
    "citation",
    "partial_json",
    "stop_reason",
    "id",
    "name",
];

proptest! {
    #[test]
    fn no_event_panics(events in prop::collection::vec(any_event(KINDS, KEYS), 1..8)) {
        prop_assert!(has_an_end(AnthropicDecoder::default(), &events));
    }
}
