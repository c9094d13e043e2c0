//! Whatever comes, it is read without a panic and has an end.

use super::*;
use proptest::prelude::*;

/// JSON of about the right shape, with any type anywhere.
fn any_chunk() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "choices",
        "delta",
        "message",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "index",
        "id",
        "usage",
        "prompt_tokens",
        "error",
        "finish_reason",
        "reasoning_details",
        "type",
        "text",
        "thinking",
        "extra_content",
        "function_call",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a{}\"]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5).prop_map(|entries| {
                let entries = entries
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::Object(entries.collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_chunk_panics(chunks in prop::collection::vec(any_chunk(), 1..4)) {
        let mut decoder = OpenAiDecoder::default();
        let mut out = Deltas::new();
        for chunk in chunks {
            let event = SseEvent { name: String::new(), data: chunk.to_string() };
            let _ = decoder.event(&event, &mut out);
            let _ = decoder.whole(&event.data, &mut out);
        }
        decoder.finish(&mut out);
        prop_assert!(matches!(out.back(), Some(ModelDelta::Stopped(_))));
    }
}
