//! Events that no provider sends, to try what reads them: of about the right shape, with any type
//! anywhere.

use proptest::prelude::*;
use serde_json::{Map, Value};

use outfitter_core::ModelDelta;

use crate::reply::{Decoder, Deltas};
use crate::sse::SseEvent;

/// Events of these kinds, with these keys.
pub(crate) fn any_event(
    kinds: &'static [&'static str],
    keys: &'static [&'static str],
) -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(kinds);
    let key = prop::sample::select(keys);
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

/// Whether a reply of these events has an end, whatever is in them.
pub(crate) fn has_an_end(mut decoder: impl Decoder, events: &[Value]) -> bool {
    let mut out = Deltas::new();
    for event in events {
        let event = SseEvent {
            name: String::new(),
            data: event.to_string(),
        };
        let _ = decoder.event(&event, &mut out);
        let _ = decoder.whole(&event.data, &mut out);
    }
    decoder.finish(&mut out);
    matches!(out.back(), Some(ModelDelta::Stopped(_)))
}
