//! Whatever comes, it is read without a panic and has an end.

use super::*;
use proptest::prelude::*;

fn any_event() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
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
    ]);
    let key = prop::sample::select(vec![
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
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<u8>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a{}\"]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 32, 4, move |inner| {
        let entries = prop::collection::vec((key.clone(), inner.clone()), 0..5);
        prop_oneof![
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::from),
            4 => (kind.clone(), entries).prop_map(|(kind, entries)| {
                let entries = entries.into_iter().map(|(key, value)| (key.to_owned(), value));
                let mut map: Map<String, Value> = entries.collect();
                map.insert("type".to_owned(), kind.into());
                Value::Object(map)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_event_panics(events in prop::collection::vec(any_event(), 1..8)) {
        let mut decoder = AnthropicDecoder::default();
        let mut out = Deltas::new();
        for event in events {
            let event = SseEvent { name: String::new(), data: event.to_string() };
            let _ = decoder.event(&event, &mut out);
            let _ = decoder.whole(&event.data, &mut out);
        }
        decoder.finish(&mut out);
        prop_assert!(matches!(out.back(), Some(ModelDelta::Stopped(_))));
    }
}
