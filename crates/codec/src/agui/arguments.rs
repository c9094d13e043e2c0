//! Arguments as AG-UI wants them: a text that is JSON, whatever the model wrote.

use outfitter_core::canonical;
use serde_json::{Value, json};

/// The text of arguments as they are shown: the object; a text that was malformed is put into one.
pub(super) fn shown_text(shown: &Value) -> String {
    match shown {
        Value::String(text) => canonical(&json!({ "malformed_arguments": text })),
        value => canonical(value),
    }
}

/// Bytes of one delta. Clients refuse an event above 10 MiB, and draw small ones sooner.
const PIECE: usize = 64 * 1024;

/// A text in pieces that are small enough for one event each; an empty one has none.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_characters_and_nothing_is_lost() {
        let text = "é".repeat(PIECE);
        let pieces: Vec<&str> = pieces(&text).collect();
        assert!(pieces.iter().all(|piece| piece.len() <= PIECE));
        assert_eq!(pieces.concat(), text);
        assert_eq!(super::pieces("").count(), 0);
    }

    #[test]
    fn arguments_are_json_whatever_the_model_wrote() {
        assert_eq!(shown_text(&json!({"b": 1, "a": 2})), r#"{"a":2,"b":1}"#);
        assert_eq!(
            shown_text(&json!("{\"a\": ")),
            r#"{"malformed_arguments":"{\"a\": "}"#
        );
    }
}
