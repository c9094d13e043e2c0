//! Names of tools on the wire, and back.

use std::borrow::Cow;
use std::collections::HashMap;

use futures_util::StreamExt;
use outfitter_core::{Hash, ModelDelta, ModelStream, ToolCallDelta};

use super::SchemaDialect;
use super::rules::FirstCharacter;

/// The longest name that every provider takes.
const LONGEST: usize = 64;

/// How many digits of the hash of a name stand at the end of one that had to be changed.
const DIGITS: usize = 8;

/// A name as wires accept it: `[A-Za-z0-9_-]`, 1 to 64, and where a provider wants it a letter
/// first. A model may have made up any other, and a name that a provider refuses would make the
/// whole history unusable. It depends on the name alone, so it is the same in every request; names
/// that had to be changed end in a hash of what they were, so that they stay different.
pub(crate) fn wire_name(dialect: SchemaDialect, name: &str) -> Cow<'_, str> {
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    let letter_first = match dialect.rules().first_character {
        FirstCharacter::Any => false,
        FirstCharacter::Letter => true,
    };
    let begins_well = |byte: u8| !letter_first || byte.is_ascii_alphabetic() || byte == b'_';
    if name.len() <= LONGEST
        && name.bytes().all(is_plain)
        && name.bytes().next().is_some_and(begins_well)
    {
        return Cow::Borrowed(name);
    }
    let hash = Hash::of(name).to_string();
    let digits = hash.trim_start_matches("sha256:").chars().take(DIGITS);
    let head: String = name.chars().map(plain).collect();
    let before = if head.bytes().next().is_some_and(begins_well) {
        ""
    } else {
        "_"
    };
    let room = LONGEST - DIGITS - 1 - before.len();
    let text = before.chars().chain(head.chars().take(room));
    Cow::Owned(text.chain(['_']).chain(digits).collect())
}

pub(super) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn plain(character: char) -> char {
    match u8::try_from(character) {
        Ok(byte) if is_plain(byte) => character,
        _ => '_',
    }
}

/// The names that a provider knows tools by, where they are not ours.
#[derive(Debug, Default)]
pub(crate) struct NameBack(HashMap<String, String>);

impl NameBack {
    /// Of pairs of our name and the provider's.
    pub(crate) fn of<'a>(names: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let changed = names.filter(|(ours, wire)| ours != wire);
        Self(
            changed
                .map(|(ours, wire)| (wire.to_owned(), ours.to_owned()))
                .collect(),
        )
    }

    /// Our name of a tool.
    pub(crate) fn ours<'a>(&'a self, wire: &'a str) -> &'a str {
        self.0.get(wire).map_or(wire, String::as_str)
    }

    /// A reply with our names. Names may come in pieces, so a call whose name is on the way is held
    /// until something else comes. A reply of tools that all keep their names is not touched.
    pub(crate) fn reply(self, stream: ModelStream) -> ModelStream {
        if self.0.is_empty() {
            return stream;
        }
        let state = (stream, self, None::<ToolCallDelta>, None, false);
        let renamed = futures_util::stream::unfold(
            state,
            |(mut stream, names, mut held, mut after, mut over)| async move {
                loop {
                    if let Some(item) = after.take() {
                        return Some((item, (stream, names, held, after, over)));
                    }
                    if over {
                        return None;
                    }
                    let next = stream.next().await;
                    over = next.is_none();
                    match next {
                        Some(Ok(ModelDelta::ToolCall(piece)))
                            if held.as_ref().is_some_and(|held| continues(held, &piece)) =>
                        {
                            let held = held.get_or_insert_default();
                            held.name = join(held.name.take(), piece.name);
                            held.id = held.id.take().or(piece.id);
                        }
                        Some(Ok(ModelDelta::ToolCall(piece)))
                            if piece.name.is_some() && piece.arguments.is_empty() =>
                        {
                            after = held.replace(piece).map(|held| names.call(held));
                        }
                        Some(Ok(ModelDelta::ToolCall(piece))) => {
                            after = Some(names.call(piece));
                            if let Some(held) = held.take() {
                                let item = names.call(held);
                                return Some((item, (stream, names, None, after, over)));
                            }
                        }
                        other => {
                            after = other;
                            if let Some(held) = held.take() {
                                let item = names.call(held);
                                return Some((item, (stream, names, None, after, over)));
                            }
                        }
                    }
                }
            },
        );
        Box::pin(renamed.fuse())
    }

    fn call(&self, mut piece: ToolCallDelta) -> Result<ModelDelta, outfitter_core::ModelError> {
        piece.name = piece.name.map(|name| self.ours(&name).to_owned());
        Ok(ModelDelta::ToolCall(piece))
    }
}

/// Whether a piece goes on with the name of a call.
fn continues(held: &ToolCallDelta, piece: &ToolCallDelta) -> bool {
    let same_place = piece.index == held.index;
    let same_id = piece.id.is_none() || piece.id == held.id || held.id.is_none();
    let numbered = piece.index.is_some() || piece.name.is_none();
    piece.arguments.is_empty() && same_place && same_id && numbered
}

/// A name that grows, repeats or comes in pieces, as the assembler reads it.
fn join(have: Option<String>, more: Option<String>) -> Option<String> {
    match (have, more) {
        (Some(have), Some(more)) if more.starts_with(&have) => Some(more),
        (Some(have), Some(more)) => Some(have + &more),
        (have, more) => have.or(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("read_file", "read_file")]
    #[case("functions.read file", "functions_read_file_")]
    #[case("", "unnamed")]
    #[case("读", "__")]
    fn a_made_up_name_does_not_spoil_the_history(#[case] name: &str, #[case] sent: &str) {
        let shaped = wire_name(SchemaDialect::OpenAiChat, name);
        assert!(shaped.starts_with(sent), "{shaped}");
    }

    /// A12.
    #[test]
    fn a12_a_hundred_names_are_plain_unique_and_come_back() {
        let mut names: Vec<String> = (0..30).map(|n| format!("calendar.get{n}")).collect();
        names.extend((0..30).map(|n| format!("admin/tools.list/{n}")));
        names.extend((0..30).map(|n| format!("{}{n:02}", "x".repeat(90))));
        names.extend((0..10).map(|n| format!("{n}digit first")));
        assert_eq!(names.len(), 100);
        for dialect in SchemaDialect::ALL {
            let sent: Vec<String> = names
                .iter()
                .map(|name| wire_name(dialect, name).into_owned())
                .collect();
            let unique: std::collections::BTreeSet<&String> = sent.iter().collect();
            assert_eq!(unique.len(), names.len());
            let back = NameBack::of(
                names
                    .iter()
                    .map(String::as_str)
                    .zip(sent.iter().map(String::as_str)),
            );
            for (name, sent) in names.iter().zip(&sent) {
                assert!(
                    (1..=64).contains(&sent.len()) && sent.bytes().all(is_plain),
                    "{sent}"
                );
                assert_eq!(back.ours(sent), name);
                assert_eq!(*sent, wire_name(dialect, name), "it is the same every time");
            }
        }
    }

    #[tokio::test]
    async fn a_renamed_call_comes_back_also_in_pieces() {
        let back = || NameBack::of([("2fa", "_2fa_x"), ("plain", "plain")].into_iter());
        let piece = |index, name: Option<&str>, arguments: &str| {
            Ok(ModelDelta::ToolCall(ToolCallDelta {
                index: Some(index),
                id: None,
                name: name.map(str::to_owned),
                arguments: arguments.to_owned(),
            }))
        };
        let calls = vec![
            piece(0, Some("_2f"), ""),
            piece(0, Some("a_x"), ""),
            piece(0, None, "{}"),
            piece(1, Some("plain"), "{\"a\":"),
            piece(1, None, "1}"),
            piece(2, Some("_2fa_x"), ""),
            Ok(ModelDelta::Stopped(outfitter_core::StopReason::ToolCalls)),
        ];
        let stream = back().reply(Box::pin(futures_util::stream::iter(calls)));
        let got: Vec<String> = stream
            .map(|item| match item.unwrap() {
                ModelDelta::ToolCall(piece) => format!(
                    "{} {} {}",
                    piece.index.unwrap(),
                    piece.name.unwrap_or_default(),
                    piece.arguments
                ),
                other => format!("{other:?}"),
            })
            .collect()
            .await;
        assert_eq!(
            got,
            [
                "0 2fa ",
                "0  {}",
                "1 plain {\"a\":",
                "1  1}",
                "2 2fa ",
                "Stopped(ToolCalls)"
            ]
        );
    }
}
