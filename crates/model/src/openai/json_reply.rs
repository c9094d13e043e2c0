//! A reply that is held to a schema, read while it comes.

use outfitter_core::{CallId, ModelDelta, StopReason, SystemClock, ToolCallDelta};
use serde::Deserialize;
use serde_json::json;

use crate::json::{Raw, arguments, text};

/// The tool that a reply calls that is neither a call nor an answer: there is none of this name, so
/// the model is told which there are.
pub(super) const NO_TOOL: &str = "reply_without_a_name";

/// What a reply turned out to be.
#[derive(Debug, Default)]
enum Form {
    /// Not enough came.
    #[default]
    Unknown,
    /// An answer: its text is shown as it comes.
    Answer(JsonText),
    /// A call, or something else that is an object: it is held until it is whole.
    Object,
    /// No object: a server that did not hold the reply to anything. It is shown as it is.
    Prose,
}

/// The state of one reply.
#[derive(Debug, Default)]
pub(super) struct Reading {
    form: Form,
    held: String,
}

/// A reply of either form.
#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    arguments: Raw<'a>,
    #[serde(borrow, default)]
    answer: Raw<'a>,
}

impl Reading {
    pub(super) fn take(&mut self, delta: ModelDelta, out: &mut Vec<ModelDelta>) {
        match delta {
            ModelDelta::Text(piece) => self.text(&piece, out),
            ModelDelta::Stopped(stop) => {
                let called = self.end(out);
                out.push(ModelDelta::Stopped(match stop {
                    StopReason::End if called => StopReason::ToolCalls,
                    stop => stop,
                }));
            }
            other => out.push(other),
        }
    }

    fn text(&mut self, piece: &str, out: &mut Vec<ModelDelta>) {
        let shown = match &mut self.form {
            Form::Answer(answer) => answer.take(piece),
            Form::Prose => piece.to_owned(),
            Form::Object => {
                self.held.push_str(piece);
                return;
            }
            Form::Unknown => {
                self.held.push_str(piece);
                self.recognise()
            }
        };
        if !shown.is_empty() {
            out.push(ModelDelta::Text(shown));
        }
    }

    /// Looks at the head of the reply and gives what of it may be shown.
    fn recognise(&mut self) -> String {
        let head = self.held.trim_start();
        let Some(rest) = head.strip_prefix('{') else {
            // A fence is a habit of models; what is in it is looked at when it is whole.
            if head.is_empty() || "```".starts_with(head) {
                return String::new();
            }
            if head.starts_with("```") {
                self.form = Form::Object;
                return String::new();
            }
            self.form = Form::Prose;
            return std::mem::take(&mut self.held);
        };
        let mut rest = rest.trim_start();
        for token in ["\"answer\"", ":", "\""] {
            match rest.strip_prefix(token) {
                Some(after) if token == "\"" => {
                    let mut answer = JsonText::default();
                    let shown = answer.take(after);
                    self.form = Form::Answer(answer);
                    return shown;
                }
                Some(after) => rest = after.trim_start(),
                None if token.starts_with(rest) => return String::new(),
                None => {
                    self.form = Form::Object;
                    return String::new();
                }
            }
        }
        String::new()
    }

    /// The reply is over. Whether it was a call.
    fn end(&mut self, out: &mut Vec<ModelDelta>) -> bool {
        match std::mem::take(&mut self.form) {
            Form::Answer(_) | Form::Prose => false,
            Form::Unknown if self.held.trim().is_empty() => false,
            Form::Unknown | Form::Object => self.object(out),
        }
    }

    fn object(&mut self, out: &mut Vec<ModelDelta>) -> bool {
        let held = std::mem::take(&mut self.held);
        let whole = unfenced(&held);
        let (name, arguments) = match serde_json::from_str::<Reply<'_>>(whole) {
            Ok(reply) => match (text(reply.name), text(reply.answer)) {
                (Some(name), _) => (name, arguments(reply.arguments)),
                (None, Some(answer)) => {
                    out.push(ModelDelta::Text(answer));
                    return false;
                }
                (None, None) => (NO_TOOL.to_owned(), json!({"reply": whole}).to_string()),
            },
            // Cut off or malformed: what there is of its arguments, which will not parse and so
            // will not run, and the model is told.
            Err(_) => match cut_off(whole) {
                Some((name, arguments)) => (name, arguments.to_owned()),
                None => (NO_TOOL.to_owned(), whole.to_owned()),
            },
        };
        out.push(ModelDelta::ToolCall(ToolCallDelta {
            index: Some(0),
            // The form has no place for an id, so it is ours from the start.
            id: Some(CallId::mint(&SystemClock).as_str().to_owned()),
            name: Some(name),
            arguments,
        }));
        true
    }
}

/// What stands in a fence.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else {
        return text;
    };
    let inside = inside.strip_prefix("json").unwrap_or(inside);
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

/// The name and the arguments so far of a call that does not parse.
fn cut_off(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix('{')?.trim_start();
    let rest = rest.strip_prefix("\"name\"")?.trim_start();
    let rest = rest.strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut name = JsonText::default();
    let said = name.take(rest);
    let after = name.after(rest)?.trim_start();
    let after = after.strip_prefix(',')?.trim_start();
    let after = after.strip_prefix("\"arguments\"")?.trim_start();
    let arguments = after.strip_prefix(':')?.trim_start();
    (!arguments.is_empty()).then_some((said, arguments))
}

/// The inside of a JSON string, decoded while it comes.
#[derive(Debug, Default)]
struct JsonText {
    /// An escape that is not whole yet.
    escape: String,
    /// The first half of a character that has two.
    high: Option<u32>,
    closed: bool,
    /// How many bytes were read up to the closing quote, that one included.
    read: usize,
}

impl JsonText {
    fn take(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for character in piece.chars() {
            if self.closed {
                break;
            }
            self.read += character.len_utf8();
            if !self.escape.is_empty() {
                self.escape.push(character);
                self.escaped(&mut out);
            } else if character == '\\' {
                self.escape.push(character);
            } else {
                self.lone(&mut out);
                match character {
                    '"' => self.closed = true,
                    plain => out.push(plain),
                }
            }
        }
        out
    }

    /// What of `text`, which was taken in one piece, stands after the closing quote.
    fn after<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.closed.then(|| text.get(self.read..)).flatten()
    }

    fn escaped(&mut self, out: &mut String) {
        let plain = match self.escape.as_bytes() {
            [_, b'u', digits @ ..] if digits.len() < 4 => return,
            [_, b'u', ..] => {
                let unit = u32::from_str_radix(self.escape.get(2..).unwrap_or_default(), 16);
                self.escape.clear();
                self.unit(unit.unwrap_or(0xfffd), out);
                return;
            }
            [_, b'n'] => '\n',
            [_, b't'] => '\t',
            [_, b'r'] => '\r',
            [_, b'b'] => '\u{8}',
            [_, b'f'] => '\u{c}',
            _ => self.escape.chars().nth(1).unwrap_or('\u{fffd}'),
        };
        self.escape.clear();
        self.lone(out);
        out.push(plain);
    }

    /// A unit of UTF-16.
    fn unit(&mut self, unit: u32, out: &mut String) {
        match (self.high.take(), unit) {
            (Some(high), 0xdc00..=0xdfff) => {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            (before, unit) => {
                if before.is_some() {
                    out.push('\u{fffd}');
                }
                match unit {
                    0xd800..=0xdbff => self.high = Some(unit),
                    unit => out.push(char::from_u32(unit).unwrap_or('\u{fffd}')),
                }
            }
        }
    }

    /// A first half whose second half did not come.
    fn lone(&mut self, out: &mut String) {
        if self.high.take().is_some() {
            out.push('\u{fffd}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn read(pieces: &[&str], stop: StopReason) -> (String, Vec<(String, String)>, StopReason) {
        let mut reading = Reading::default();
        let mut out = Vec::new();
        for piece in pieces {
            reading.take(ModelDelta::Text((*piece).to_owned()), &mut out);
        }
        reading.take(ModelDelta::Stopped(stop), &mut out);
        let (mut said, mut calls, mut stopped) = (String::new(), Vec::new(), None);
        for delta in out {
            match delta {
                ModelDelta::Text(text) => said.push_str(&text),
                ModelDelta::ToolCall(call) => calls.push((call.name.unwrap(), call.arguments)),
                ModelDelta::Stopped(stop) => stopped = Some(stop),
                other => panic!("{other:?}"),
            }
        }
        (said, calls, stopped.unwrap())
    }

    #[rstest]
    #[case::answer(
        r#"{"answer":"hello \"you\"\n\u00e9\ud83d\ude42"}"#,
        "hello \"you\"\né🙂"
    )]
    #[case::spaced(" { \"answer\" : \"a\" } ", "a")]
    #[case::prose("Sure, I can.", "Sure, I can.")]
    #[case::fenced("```json\n{\"answer\": \"a\"}\n```", "a")]
    #[case::nothing("", "")]
    fn a_text_is_shown_whatever_its_pieces(#[case] reply: &str, #[case] shown: &str) {
        let characters: Vec<String> = reply.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        for pieces in [vec![reply], characters] {
            let (said, calls, stop) = read(&pieces, StopReason::End);
            assert_eq!(
                (said.as_str(), calls.len(), stop),
                (shown, 0, StopReason::End)
            );
        }
    }

    #[rstest]
    #[case::call(
        r#"{"name":"echo","arguments":{"n":1e5, "big":123456789012345678901}}"#,
        "echo",
        r#"{"n":1e5, "big":123456789012345678901}"#
    )]
    #[case::other_order(r#"{"arguments":{"n":1},"name":"echo"}"#, "echo", r#"{"n":1}"#)]
    #[case::no_arguments(r#"{"name":"echo"}"#, "echo", "")]
    #[case::text_arguments(r#"{"name":"echo","arguments":"{\"n\":1}"}"#, "echo", r#"{"n":1}"#)]
    #[case::fenced("```json\n{\"name\":\"echo\",\"arguments\":{}}\n```", "echo", "{}")]
    #[case::cut_off(
        r#"{"name":"echo","arguments":{"text":"hel"#,
        "echo",
        r#"{"text":"hel"#
    )]
    #[case::neither(r#"{"foo":1}"#, NO_TOOL, r#"{"reply":"{\"foo\":1}"}"#)]
    #[case::cut_off_early(r#"{"name":"ec"#, NO_TOOL, r#"{"name":"ec"#)]
    fn a_call_is_a_call_with_its_arguments_as_written(
        #[case] reply: &str,
        #[case] name: &str,
        #[case] arguments: &str,
    ) {
        let (said, calls, stop) = read(&[reply], StopReason::End);
        assert_eq!(said, "");
        assert_eq!(calls, [(name.to_owned(), arguments.to_owned())]);
        assert_eq!(stop, StopReason::ToolCalls);
    }

    #[test]
    fn an_answer_is_shown_while_it_comes() {
        let mut reading = Reading::default();
        let mut out = Vec::new();
        for piece in ["{\"ans", "wer\": \"he", "ll", "o\"}"] {
            reading.take(ModelDelta::Text(piece.to_owned()), &mut out);
        }
        let shown = ["he", "ll", "o"].map(|text| ModelDelta::Text(text.to_owned()));
        assert_eq!(out, shown);
    }

    proptest! {
        #[test]
        fn any_answer_comes_out_as_it_went_in(answer in "\\PC{0,40}", cut in 1_usize..7) {
            let reply = json!({"answer": answer}).to_string();
            let characters: Vec<char> = reply.chars().collect();
            let pieces: Vec<String> =
                characters.chunks(cut).map(|piece| piece.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(read(&pieces, StopReason::End).0, answer);
        }

        #[test]
        fn no_reply_panics(pieces in prop::collection::vec("[{}\",:a-z\\\\u0-9 `]{0,8}", 0..8)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let _ = read(&pieces, StopReason::Length);
        }
    }
}
