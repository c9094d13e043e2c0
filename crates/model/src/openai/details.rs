//! `reasoning_details`: the opaque reasoning of one gateway, which wants it back as a whole list
//! and sends it in pieces.

use serde_json::{Map, Value};

/// Collects the pieces of a reply.
#[derive(Debug, Default)]
pub(super) struct ReasoningDetails(Vec<Map<String, Value>>);

/// Fields that come in pieces. Of any other field the last value that is not null counts.
const TEXTS: [&str; 3] = ["text", "summary", "data"];

impl ReasoningDetails {
    /// Takes the list of one delta. A piece continues the last item of its type and index.
    pub(super) fn push(&mut self, pieces: Value) {
        let Value::Array(pieces) = pieces else {
            return;
        };
        for piece in pieces {
            let Value::Object(piece) = piece else {
                continue;
            };
            let same = |item: &&mut Map<String, Value>| {
                ["type", "index"]
                    .iter()
                    .all(|key| item.get(*key) == piece.get(*key))
            };
            match self.0.last_mut().filter(same) {
                Some(item) => join(item, piece),
                None => self.0.push(piece),
            }
        }
    }

    /// The whole list, if there is anything in it.
    pub(super) fn take(&mut self) -> Option<Value> {
        let items = std::mem::take(&mut self.0);
        (!items.is_empty()).then(|| items.into_iter().map(Value::Object).collect())
    }
}

fn join(item: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, value) in piece {
        match (item.get_mut(&key), value) {
            (_, Value::Null) => {}
            (Some(Value::String(have)), Value::String(more)) if TEXTS.contains(&key.as_str()) => {
                have.push_str(&more);
            }
            (_, value) => {
                item.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pieces_become_the_list_they_are_pieces_of() {
        let mut details = ReasoningDetails::default();
        details
            .push(json!([{"type": "reasoning.text", "text": "a", "index": 0, "signature": null}]));
        details
            .push(json!([{"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"}]));
        details.push(json!([{"type": "reasoning.encrypted", "data": "x", "index": 1}]));
        details.push(json!([{"type": "reasoning.text", "text": "c", "index": 2}]));
        assert_eq!(
            details.take(),
            Some(json!([
                {"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"},
                {"type": "reasoning.encrypted", "data": "x", "index": 1},
                {"type": "reasoning.text", "text": "c", "index": 2},
            ]))
        );
        assert_eq!(details.take(), None);
    }
}
