//! Whatever comes, it is read without a panic and has an end.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn any_event() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
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
    ]);
    let key = prop::sample::select(vec![
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
        let mut decoder = ResponsesDecoder::default();
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
