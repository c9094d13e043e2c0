//! What came of a call, as an outcome.
//!
//! Structured content is the truth where a server gives it: the specification has it say the same
//! in text for those who cannot read it. Otherwise the text blocks are the result, in order, and
//! every block that is no text says in words what it is. Pictures go along as parts that models may
//! see; sound, blobs and links as files, which models do not read: what a link leads to is told, and
//! what there is of the rest is an artifact that the words name.

use outfitter_core::{Code, ErrorInfo, Outcome, Part, PartSource};
use serde_json::Value;

use super::keep::{Fate, Kept};

/// The longest base64 of a picture that goes along; a longer one is only told of.
pub(crate) const MAX_IMAGE_BYTES: usize = 7 * 1024 * 1024;

/// A result whose content is no list of blocks: what is in it cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its content is {0} and not a list")]
pub(crate) struct NoList(&'static str);

/// What the result of `tools/call` says.
pub(crate) fn outcome(result: Value, kept: &Kept) -> Result<Outcome, NoList> {
    let mut result = match result {
        Value::Object(result) => result,
        // Not what the protocol says, but said.
        Value::Null => return Ok(Outcome::text("")),
        Value::String(text) => return Ok(Outcome::text(text)),
        other => return Ok(Outcome::json(other)),
    };
    let failed = result.get("isError").and_then(Value::as_bool) == Some(true);
    let structured = result.remove("structuredContent");
    let mut texts = Vec::new();
    let mut parts = Vec::new();
    match result.remove("content") {
        Some(Value::Array(blocks)) => {
            for (place, block) in blocks.into_iter().enumerate() {
                let is_text = block.get("type").is_some_and(|kind| kind == "text");
                let (text, part) = read(block, kept.get(&place));
                // Structured content says what the texts say. The rest it does not say.
                if !is_text
                    && structured
                        .as_ref()
                        .is_some_and(|content| !content.is_null())
                {
                    parts.push(Part::Text { text: text.clone() });
                }
                texts.push(text);
                parts.extend(part);
            }
        }
        None | Some(Value::Null) => {}
        Some(other) => return Err(NoList(kind_of(&other))),
    }
    let text = texts.join("\n");
    let mut outcome = match structured {
        Some(structured) if !structured.is_null() => Outcome::json(structured),
        Some(_) | None if failed => Outcome::json(Value::Null),
        Some(_) | None => Outcome::text(text.clone()),
    };
    outcome.parts = parts;
    outcome.artifacts = kept.values().filter_map(Fate::id).cloned().collect();
    if failed {
        let message = match text.trim() {
            "" => "the tool failed and gave no reason".to_owned(),
            said => said.to_owned(),
        };
        outcome = outcome.failing(ErrorInfo::new(Code::Failed, message));
    }
    Ok(outcome)
}

/// A block as text, and as a part where a model may be able to see it.
fn read(block: Value, kept: Option<&Fate>) -> (String, Option<Part>) {
    let Value::Object(mut block) = block else {
        return match block {
            Value::String(text) => (text, None),
            other => (format!("[{}: not shown]", kind_of(&other)), None),
        };
    };
    let word = |key: &str| {
        block
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let kind = word("type");
    let mime = word("mimeType");
    match kind.as_str() {
        "text" => (word("text"), None),
        "image" => {
            let Some(Value::String(data)) = block.remove("data") else {
                return ("[image without data]".to_owned(), None);
            };
            let size = decoded_len(&data);
            if data.len() > MAX_IMAGE_BYTES {
                let why = match kept {
                    Some(Fate::Kept(id)) => format!("too large to show, kept as {id}"),
                    Some(Fate::NotKept) => "too large to show, and could not be kept".to_owned(),
                    None => "too large to show".to_owned(),
                };
                let text = described(&kind, &[&mime, &format!("{size} bytes: {why}")]);
                return (text, file(&mime, &kind, kept));
            }
            let text = format!("[image {mime}, {size} bytes]");
            let source = PartSource::Base64 { data };
            (text, Some(Part::Image { mime, source }))
        }
        "resource_link" => {
            let name = Some(word("title"))
                .filter(|title| !title.is_empty())
                .unwrap_or_else(|| word("name"));
            let uri = word("uri");
            let text = described("resource", &[&name, &uri, &mime]);
            let link = Part::File {
                name,
                source: PartSource::Url { url: uri.clone() },
                mime,
            };
            (text, (!uri.is_empty()).then_some(link))
        }
        "resource" => {
            let resource = block.remove("resource").unwrap_or_default();
            let uri = resource["uri"].as_str().unwrap_or_default();
            let mime = resource["mimeType"].as_str().unwrap_or_default();
            match (resource["text"].as_str(), resource["blob"].as_str()) {
                (Some(text), _) => (
                    format!("{}\n{text}", described("resource", &[uri, mime])),
                    None,
                ),
                (None, Some(blob)) => {
                    let size = sized(blob, kept);
                    let text = described("resource", &[uri, mime, &size]);
                    (text, file(mime, uri, kept))
                }
                (None, None) => (described("resource", &[uri, mime]), None),
            }
        }
        // Sound, and whatever a later revision or a mistake brings.
        _ => {
            let kind = if kind.is_empty() {
                "content of no type"
            } else {
                &kind
            };
            let size = match (
                block.get("data").and_then(Value::as_str),
                block.get("text").and_then(Value::as_str),
            ) {
                (Some(data), _) => sized(data, kept),
                (None, Some(text)) => return (format!("[{kind}]\n{text}"), None),
                (None, None) => "not shown".to_owned(),
            };
            (described(kind, &[&mime, &size]), file(&mime, kind, kept))
        }
    }
}

/// How large something is, and where it is.
fn sized(base64: &str, kept: Option<&Fate>) -> String {
    let size = decoded_len(base64);
    match kept {
        Some(Fate::Kept(id)) => format!("{size} bytes: kept as {id}"),
        Some(Fate::NotKept) => format!("{size} bytes: could not be kept"),
        None => format!("{size} bytes: not shown"),
    }
}

/// What was kept, as a part.
fn file(mime: &str, name: &str, kept: Option<&Fate>) -> Option<Part> {
    Some(Part::File {
        mime: mime.to_owned(),
        name: name.to_owned(),
        source: PartSource::Artifact {
            id: kept?.id()?.clone(),
        },
    })
}

fn described(kind: &str, facts: &[&str]) -> String {
    let facts: Vec<&str> = facts
        .iter()
        .copied()
        .filter(|fact| !fact.is_empty())
        .collect();
    if facts.is_empty() {
        format!("[{kind}]")
    } else {
        format!("[{kind} {}]", facts.join(", "))
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The bytes that a base64 text stands for.
fn decoded_len(base64: &str) -> usize {
    let padding = base64
        .bytes()
        .rev()
        .take(2)
        .take_while(|byte| *byte == b'=')
        .count();
    (base64.len() / 4 * 3).saturating_sub(padding) + [0, 0, 1, 2][base64.len() % 4]
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::canonical;
    use serde_json::json;

    #[test]
    fn every_block_leaves_something_and_none_voids_the_rest() {
        let said = [
            json!({"content": [{"type": "text", "text": "a"}]}),
            json!({}),
            json!(null),
            json!([1]),
            json!("bare"),
            json!({"content": {"type": "text", "text": "one block"}}),
            json!({"content": [{"type": "text", "text": "a"}], "isError": "yes"}),
            json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            json!({"content": [{"type": "text", "text": "{}"}], "structuredContent": {"a": 1}}),
            json!({"structuredContent": [1]}),
            json!({"content": "a"}),
            json!({"content": 7, "structuredContent": {"a": 1}}),
            json!({"content": null}),
            json!({"content": [{"type": "text", "text": "no such file"}], "isError": true}),
            json!({"content": [], "structuredContent": {"a": 1}, "isError": true}),
            json!({"content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}]}),
            json!({"content": [{"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"}]}),
            json!({"content": [{"type": "text", "text": "a"}, {"type": "video", "data": "aGk=", "mimeType": "video/mp4"}]}),
            json!({"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "body"}}]}),
            json!({"content": [{"type": "resource", "resource": {"uri": "file:///a", "mimeType": "a/b", "blob": "aGk="}}]}),
            json!({"content": [{"type": "resource_link", "uri": "relative/path"}]}),
            json!({"content": [{"type": "text", "text": "a", "annotations": {"audience": ["system"]}}]}),
            json!({"content": [{"x": 1}, 7, null]}),
        ];
        let lines: Vec<String> = said
            .into_iter()
            .map(|said| {
                let text = canonical(&said);
                let Outcome {
                    result,
                    parts,
                    failed,
                    ..
                } = match outcome(said, &Kept::new()) {
                    Ok(outcome) => outcome,
                    Err(why) => return format!("{text}\n  refused: {why}"),
                };
                let failed = failed.map(|error| format!(" failed {:?}", error.message));
                let parts = match parts.len() {
                    0 => String::new(),
                    count => format!(" parts {count}"),
                };
                format!(
                    "{text}\n  {}{parts}{}",
                    canonical(&result),
                    failed.unwrap_or_default()
                )
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn a_failure_without_words_is_a_failure() {
        for content in [
            json!([]),
            json!(null),
            json!([{"type": "text", "text": ""}]),
        ] {
            let said = json!({"content": content, "isError": true});
            let failed = outcome(said.clone(), &Kept::new())
                .ok()
                .and_then(|got| got.failed);
            let words = failed.map(|error| error.message).unwrap_or_default();
            assert!(!words.trim().is_empty(), "{said}");
        }
    }

    /// A14: whatever a result consists of, the model reads of it what it is and how large.
    #[test]
    fn a14_no_kind_of_content_reaches_a_model_as_nothing() {
        let alone = [
            (json!({"type": "text", "text": "hello"}), "hello"),
            (
                json!({"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}),
                "[image image/png, 5 bytes]",
            ),
            (
                json!({"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"}),
                "[audio audio/wav, 5 bytes: not shown]",
            ),
            (
                json!({"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "a/b"}),
                "[resource a, file:///a, a/b]",
            ),
            (
                json!({"type": "resource", "resource": {"uri": "file:///a", "mimeType": "a/b", "blob": "aGk="}}),
                "[resource file:///a, a/b, 2 bytes: not shown]",
            ),
        ];
        for (block, says) in alone {
            let read = outcome(json!({"content": [block]}), &Kept::new()).unwrap();
            assert_eq!(read.result, json!(says));
            if says == "hello" {
                continue;
            }
            let both = json!({"content": [block], "structuredContent": {"n": 1}});
            let read = outcome(both, &Kept::new()).unwrap();
            assert_eq!(read.result, json!({"n": 1}));
            let first = Part::Text {
                text: says.to_owned(),
            };
            assert_eq!(read.parts.first(), Some(&first));
        }
        let only = outcome(
            json!({"content": [], "structuredContent": {"n": 1}}),
            &Kept::new(),
        )
        .unwrap();
        assert_eq!((only.result, only.parts), (json!({"n": 1}), vec![]));
    }

    #[test]
    fn sizes_are_those_of_the_decoded_bytes() {
        for (text, size) in [
            ("", 0),
            ("aGk=", 2),
            ("aA==", 1),
            ("aGVs", 3),
            ("aGk", 2),
            ("aA", 1),
        ] {
            assert_eq!(decoded_len(text), size, "{text}");
        }
    }
}
