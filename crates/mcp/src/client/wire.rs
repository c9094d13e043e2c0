//! JSON-RPC messages out of lines, read as leniently as they can be understood.

use std::borrow::Cow;

use serde_json::Value;

/// The most bytes of an odd line that are quoted.
const QUOTED_BYTES: usize = 160;

/// The most bytes of an odd line that are looked at for what must not be quoted of it.
const NOISE_BYTES: usize = 8 * 1024;

/// What a server said.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// The reply to a request of ours.
    Reply(u64, Result<Value, Fault>),
    /// It wants something of us.
    Request { id: Value, method: String },
    /// It tells us something.
    Notification { method: String, params: Value },
    /// Not a message. The beginning of what was there instead, as it was.
    Noise(String),
    /// What was a message, by all signs, but cannot be read and does not say whose reply it is.
    Unreadable(Fault),
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// The server says no: code and message of JSON-RPC.
    Rpc { code: i64, message: String },
    /// The reply is longer than any reply may be.
    TooLong { bytes: usize },
    /// The reply cannot be read.
    Garbled(String),
}

/// Reads one line. Usually that is one message; an array is a batch of them.
pub(crate) fn read(line: &[u8], mut each: impl FnMut(Incoming)) {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return;
    }
    match parse(text) {
        Ok(Value::Array(batch)) => batch
            .into_iter()
            .for_each(|message| each(classify(message))),
        Ok(message) => each(classify(message)),
        Err(error) if text.starts_with('{') && text.contains("\"jsonrpc\"") => {
            let fault = Fault::Garbled(error.to_string());
            each(match recover_id(text.as_bytes(), text.as_bytes()) {
                Some(id) => Incoming::Reply(id, Err(fault)),
                None => Incoming::Unreadable(fault),
            });
        }
        Err(_) => each(Incoming::Noise(start(text))),
    }
}

/// What a line was that is too long to be read.
pub(crate) fn read_ends(head: &[u8], tail: &[u8], bytes: usize) -> Incoming {
    let fault = Fault::TooLong { bytes };
    match recover_id(head, tail) {
        Some(id) => Incoming::Reply(id, Err(fault)),
        None if head.trim_ascii_start().starts_with(b"{") => Incoming::Unreadable(fault),
        None => Incoming::Noise(format!("a line of {bytes} bytes")),
    }
}

fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| {
        // Half of a surrogate pair is legal in JSON's grammar and no text: Python writes it.
        match without_lone_surrogates(text) {
            Some(repaired) => serde_json::from_str(&repaired),
            None => Err(error),
        }
    })
}

fn classify(message: Value) -> Incoming {
    let Value::Object(mut message) = message else {
        return Incoming::Noise(start(&message.to_string()));
    };
    if let Some(Value::String(method)) = message.remove("method") {
        return match message.remove("id") {
            None | Some(Value::Null) => Incoming::Notification {
                method,
                params: message.remove("params").unwrap_or_default(),
            },
            Some(id) => Incoming::Request { id, method },
        };
    }
    let outcome = match (message.remove("result"), message.remove("error")) {
        (_, Some(error)) if !error.is_null() => Err(fault(error)),
        (Some(result), _) => Ok(result),
        (None, _) => return Incoming::Noise(start(&Value::Object(message).to_string())),
    };
    match (message.get("id").and_then(own_id), outcome) {
        (Some(id), outcome) => Incoming::Reply(id, outcome),
        (None, Err(fault)) => Incoming::Unreadable(fault),
        (None, Ok(_)) => Incoming::Noise("a reply to nothing that was asked".to_owned()),
    }
}

/// Our ids are numbers; some servers send them back as text.
fn own_id(id: &Value) -> Option<u64> {
    match id {
        Value::Number(number) => number.as_u64().or_else(|| {
            let number = number.as_f64()?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the range is looked at before"
            )]
            (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn fault(error: Value) -> Fault {
    match error {
        Value::Object(mut error) => Fault::Rpc {
            code: error.get("code").and_then(Value::as_i64).unwrap_or(0),
            message: match error.remove("message") {
                Some(Value::String(message)) => message,
                _ => "the server gave no reason".to_owned(),
            },
        },
        other => Fault::Rpc {
            code: 0,
            message: match other {
                Value::String(message) => message,
                other => other.to_string(),
            },
        },
    }
}

/// The id of a reply, out of its beginning or its end: some servers write it first, some last.
fn recover_id(head: &[u8], tail: &[u8]) -> Option<u64> {
    id_at_top(head).or_else(|| id_at_end(tail))
}

/// The value of the key `id` of the outermost object, as far as `text` reaches.
fn id_at_top(text: &[u8]) -> Option<u64> {
    let mut depth = 0_u32;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = string_end(text, at)?;
                if depth == 1 && &text[at..end] == b"\"id\"" {
                    let rest = text[end..].trim_ascii_start();
                    if let Some(value) = rest.strip_prefix(b":") {
                        return number(value).map(|(id, _)| id);
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// One past the closing quote of the string that begins at `at`.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The id where it, and at most the version, is the end of the message.
fn id_at_end(text: &[u8]) -> Option<u64> {
    let from = text.windows(4).rposition(|key| key == b"\"id\"")?;
    let value = text[from + 4..].trim_ascii_start().strip_prefix(b":")?;
    let (id, rest) = number(value)?;
    let rest: Vec<u8> = rest
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    matches!(&*rest, b"}" | b",\"jsonrpc\":\"2.0\"}").then_some(id)
}

/// A number, perhaps in quotes, and what follows it.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.trim_ascii_start();
    let quoted = text.strip_prefix(b"\"");
    let digits = quoted.unwrap_or(text);
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    let id = std::str::from_utf8(&digits[..end]).ok()?.parse().ok()?;
    let rest = &digits[end..];
    match quoted {
        Some(_) => Some((id, rest.strip_prefix(b"\"")?)),
        None => Some((id, rest)),
    }
}

/// The text with each half of a surrogate pair that stands alone replaced, if there is one.
fn without_lone_surrogates(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut repaired) = (text, false);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push_str("\\ufffd");
                repaired = true;
                rest = &escape[6..];
                continue;
            }
            // The next character belongs to the escape, also when it is a backslash.
            _ => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at(length);
        out.push_str(escape);
        rest = after;
    }
    out.push_str(rest);
    repaired.then_some(out)
}

/// The unit of an escape `\uXXXX` that the text begins with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

fn start(text: &str) -> String {
    text[..text.floor_char_boundary(NOISE_BYTES)].to_owned()
}

/// An odd line as it is quoted: short, and on one line.
pub(crate) fn quote(text: &str) -> String {
    let end = text.floor_char_boundary(QUOTED_BYTES);
    match text.len() > end {
        true => Cow::from(format!("{}…", &text[..end])),
        false => Cow::from(text),
    }
    .escape_debug()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    fn one(line: &[u8]) -> Incoming {
        let mut all = Vec::new();
        read(line, |incoming| all.push(incoming));
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    #[rstest]
    #[case::plain(r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#)]
    #[case::id_as_text(r#"{"jsonrpc":"2.0","id":"7","result":{"a":1}}"#)]
    #[case::id_as_float(r#"{"jsonrpc":"2.0","id":7.0,"result":{"a":1}}"#)]
    #[case::without_version(r#"{"id":7,"result":{"a":1}}"#)]
    #[case::null_error(r#"{"id":7,"result":{"a":1},"error":null}"#)]
    #[case::byte_order_mark("\u{feff}{\"id\":7,\"result\":{\"a\":1}}")]
    #[case::extra_fields(r#"{"id":7,"result":{"a":1},"execution":{"x":[]}}"#)]
    fn a_reply_is_known_by_its_id_and_its_result(#[case] line: &str) {
        assert_eq!(
            one(line.as_bytes()),
            Incoming::Reply(7, Ok(json!({"a": 1})))
        );
    }

    #[rstest]
    #[case(r#"{"level":"info","msg":"listening"}"#)]
    #[case("Server running on stdio")]
    #[case("{not json")]
    #[case("42")]
    #[case(r#"{"id":7}"#)]
    fn what_is_no_message_is_noise(#[case] line: &str) {
        assert!(matches!(one(line.as_bytes()), Incoming::Noise(_)));
    }

    #[test]
    fn blank_lines_are_nothing_and_a_batch_is_its_messages() {
        let mut seen = Vec::new();
        read(b"  \r", |incoming| seen.push(incoming));
        assert_eq!(seen, []);
        let batch = br#"[{"id":1,"result":1},{"method":"notifications/x"}]"#;
        read(batch, |incoming| seen.push(incoming));
        assert_eq!(seen.len(), 2);
    }

    #[rstest]
    #[case(r#"{"id":1,"result":"a\ud83dz"}"#, "a\u{fffd}z")]
    #[case(r#"{"id":1,"result":"\udc00"}"#, "\u{fffd}")]
    #[case(r#"{"id":1,"result":"\ud83d\ude00 \ud83d"}"#, "😀 \u{fffd}")]
    #[case(r#"{"id":1,"result":"\\ud83d \ud83d"}"#, "\\ud83d \u{fffd}")]
    fn half_a_surrogate_pair_is_replaced_and_nothing_else(#[case] line: &str, #[case] text: &str) {
        assert_eq!(one(line.as_bytes()), Incoming::Reply(1, Ok(json!(text))));
    }

    #[test]
    fn a_byte_that_is_no_text_is_replaced() {
        let line = b"{\"id\":1,\"result\":\"a\xffz\"}";
        assert_eq!(one(line), Incoming::Reply(1, Ok(json!("a\u{fffd}z"))));
    }

    #[rstest]
    #[case(r#"{"jsonrpc":"2.0","id":3,"result":{"#, Some(3))]
    #[case(r#"{"jsonrpc":"2.0","id":"3","result":{"#, Some(3))]
    #[case(
        r#"{"result":{"id":9,"text":"\"id\":8"},"jsonrpc":"2.0","id":3} junk"#,
        Some(3)
    )]
    #[case(r#"{"jsonrpc":"2.0","result":{"id":9"#, None)]
    fn a_reply_that_cannot_be_read_fails_its_request(#[case] line: &str, #[case] id: Option<u64>) {
        match (one(line.as_bytes()), id) {
            (Incoming::Reply(found, Err(Fault::Garbled(_))), Some(id)) => assert_eq!(found, id),
            (Incoming::Unreadable(Fault::Garbled(_)), None) => {}
            (other, _) => panic!("{other:?}"),
        }
    }

    #[rstest]
    #[case(r#"{"jsonrpc":"2.0","id":3,"result":"aaa"#, "aaaa\"}", Some(3))]
    #[case(r#"{"result":"aaa"#, r#"aa","jsonrpc":"2.0","id":3}"#, Some(3))]
    #[case(r#"{"result":"aaa"#, r#"aa","id":"3","jsonrpc":"2.0"}"#, Some(3))]
    #[case(r#"{"result":{"x":"#, r#"{"id":4}}}"#, None)]
    fn a_reply_that_is_too_long_fails_its_request(
        #[case] head: &str,
        #[case] tail: &str,
        #[case] id: Option<u64>,
    ) {
        match (read_ends(head.as_bytes(), tail.as_bytes(), 99), id) {
            (Incoming::Reply(found, Err(Fault::TooLong { bytes: 99 })), Some(id)) => {
                assert_eq!(found, id);
            }
            (Incoming::Unreadable(Fault::TooLong { bytes: 99 }), None) => {}
            (other, _) => panic!("{other:?}"),
        }
    }

    proptest! {
        #[test]
        fn no_line_panics(line in prop::collection::vec(any::<u8>(), 0..200)) {
            read(&line, |_| {});
            let _ = read_ends(&line, &line, line.len());
        }

        #[test]
        fn no_text_with_escapes_panics(line in r#"(\\|u|d|8|"|id|:|\{|\}|é|[0-9]){0,40}"#) {
            read(line.as_bytes(), |_| {});
            let _ = without_lone_surrogates(&line);
        }
    }
}
