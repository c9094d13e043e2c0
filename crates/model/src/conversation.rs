//! What all wires do to a conversation before they write it down.

use std::borrow::Cow;
use std::sync::Arc;

use outfitter_core::{CallId, Hash, Message, MessageRole, Part, PartSource};

/// The messages in the order that providers demand: the results of a message's calls directly
/// after it and in the order of the calls, whatever order they finished in.
pub(crate) fn ordered(messages: &[Arc<Message>]) -> Vec<&Message> {
    let mut out: Vec<&Message> = Vec::with_capacity(messages.len());
    let mut rest = messages.iter().map(Arc::as_ref).peekable();
    while let Some(message) = rest.next() {
        out.push(message);
        if message.role != MessageRole::Assistant || message.tool_calls().next().is_none() {
            continue;
        }
        let mut results = Vec::new();
        while let Some(result) = rest.next_if(|next| next.role == MessageRole::Tool) {
            results.push(result);
        }
        let place = |result: &&Message| {
            let call = answered(result);
            message.tool_calls().position(|made| Some(&made.id) == call)
        };
        // Results of no call of this message stay behind those that are.
        results.sort_by_key(|result| place(result).unwrap_or(usize::MAX));
        out.extend(results);
    }
    out
}

/// The call that a tool's message answers.
pub(crate) fn answered(message: &Message) -> Option<&CallId> {
    message.output.as_ref().map(|output| &output.tool_call_id)
}

/// An id of a call as the stricter wire accepts it: the same characters, and different ids stay
/// different.
pub(crate) fn wire_id(id: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    if id.len() <= LONGEST && id.bytes().all(is_plain) {
        return Cow::Borrowed(id);
    }
    let hash = Hash::of(id).to_string();
    let digits = hash.trim_start_matches("sha256:").chars().take(12);
    let head = id.chars().take(LONGEST - 13).map(plain);
    Cow::Owned(head.chain(['_']).chain(digits).collect())
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn plain(character: char) -> char {
    match u8::try_from(character) {
        Ok(byte) if is_plain(byte) => character,
        _ => '_',
    }
}

/// What stands where there is nothing and a wire, or a strict server of it, wants something.
pub(crate) const EMPTY: &str = "(empty)";

/// Whether text says nothing, which one wire refuses as a block.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A picture where there is no picture to be sent.
pub(crate) fn picture_in_words(mime: &str, source: &PartSource, why: &str) -> String {
    let place = match source {
        PartSource::Base64 { data } => format!("{} bytes", data.len() / 4 * 3),
        PartSource::Artifact { id } => format!("artifact {id}"),
        PartSource::Url { url } if !url.starts_with("data:") => url.clone(),
        PartSource::Url { .. } => "inline".to_owned(),
    };
    format!("[picture, {mime}, {place}: {why}]")
}

/// Why a picture is said in words.
pub(crate) const NO_VISION: &str = "this model cannot see pictures";

/// Why a picture is said in words.
pub(crate) const NOT_LOADED: &str = "not loaded";

/// The text of a message with its pictures in words.
pub(crate) fn words(message: &Message) -> String {
    message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } | Part::Refusal { text } => Some(Cow::Borrowed(text.as_str())),
            Part::Image { mime, source } => {
                Some(Cow::Owned(picture_in_words(mime, source, NO_VISION)))
            }
            Part::Reasoning { .. }
            | Part::ToolCall(_)
            | Part::File { .. }
            | Part::Provider { .. } => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_plain_and_stay_different() {
        assert_eq!(wire_id("call_1"), "call_1");
        let ids = [
            "functions.a:0",
            "functions.a.0",
            "functions_a_0",
            &"x".repeat(80),
        ];
        let sent: std::collections::BTreeSet<_> = ids.iter().map(|id| wire_id(id)).collect();
        assert_eq!(sent.len(), ids.len());
        for id in sent {
            assert!(id.len() <= 64 && id.bytes().all(is_plain), "{id}");
        }
    }
}
