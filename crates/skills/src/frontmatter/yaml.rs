//! YAML 1.2 within a budget, every scalar as it is written.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Options, Spanned};

use super::value::{Field, Kind, Value};
use crate::limits::MAX_FRONTMATTER_BYTES;
use crate::problem::Place;

/// Why a text is no frontmatter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NotYaml {
    NotAMapping,
    Invalid { message: String, at: Option<Place> },
}

/// How deep a frontmatter nests.
const MAX_NESTING: usize = 16;

/// Reads a mapping; `first_line` is the line of the file on which it begins.
pub(crate) fn parse(text: &str, first_line: usize) -> Result<Vec<Field>, NotYaml> {
    let place = |location: Location| place_of(location, first_line);
    match serde_saphyr::from_str_with_options::<Node>(text, options()) {
        Ok(Node::Map(entries)) => Ok(entries
            .into_iter()
            .map(|(key, value)| Field {
                at: place(key.referenced),
                key: key.value,
                value: settle(value, text, first_line),
            })
            .collect()),
        Ok(Node::Null) if text.trim().is_empty() => Ok(Vec::new()),
        Ok(_) => Err(NotYaml::NotAMapping),
        Err(error) => Err(NotYaml::Invalid {
            at: error.location().map(place),
            message: first_line_of(&error.without_snippet().to_string()),
        }),
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_NESTING,
            flow_nesting_limit: MAX_NESTING,
            simple_key_max_lookahead: 1024,
            max_events: 40_000,
            max_nodes: 20_000,
            max_aliases: 64,
            max_anchors: 64,
            max_recorded_anchor_events: 10_000,
            max_recorded_anchor_bytes: 4 * MAX_FRONTMATTER_BYTES,
            max_documents: 1,
            max_total_scalar_bytes: 4 * MAX_FRONTMATTER_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 8,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        strict_booleans: true,
        null_as_string: true,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    }
}

fn place_of(location: Location, first_line: usize) -> Place {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).max(1);
    Place {
        line: first_line.saturating_add(number(location.line()) - 1),
        column: number(location.column()),
    }
}

fn first_line_of(message: &str) -> String {
    message
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(300)
        .collect()
}

enum Node {
    Null,
    Text(String),
    /// A number or boolean as the parser sees it, where the source does not say more.
    Other(String),
    List(Vec<Spanned<Node>>),
    Map(Vec<(Spanned<String>, Spanned<Node>)>),
}

fn settle(node: Spanned<Node>, source: &str, first_line: usize) -> Value {
    let at = place_of(node.referenced, first_line);
    let kind = match node.value {
        Node::Null => Kind::Null,
        Node::Text(text) => Kind::Text(text),
        Node::Other(seen) => Kind::Other(written(node.defined, source).unwrap_or(seen)),
        Node::List(list) => Kind::List(
            list.into_iter()
                .map(|item| settle(item, source, first_line))
                .collect(),
        ),
        Node::Map(entries) => Kind::Map(
            entries
                .into_iter()
                .map(|(key, value)| (key.value, settle(value, source, first_line)))
                .collect(),
        ),
    };
    Value { at, kind }
}

/// The text of a plain scalar in the source.
fn written(location: Location, source: &str) -> Option<String> {
    let start = usize::try_from(location.span().byte_offset()?).ok()?;
    let length = usize::try_from(location.span().byte_len()?).ok()?;
    let text = source.get(start..start.checked_add(length)?)?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> Result<Node, E> {
        Err(E::custom("binary values have no place here"))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Other(value.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }

    fn visit_enum<A: serde::de::EnumAccess<'de>>(self, _: A) -> Result<Node, A::Error> {
        Err(A::Error::custom("tagged values have no place here"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn first(text: &str) -> Kind {
        parse(text, 2).unwrap().swap_remove(0).value.kind
    }

    #[rstest]
    #[case("a: 1.10", Kind::Other("1.10".into()))]
    #[case("a: 1e3", Kind::Other("1e3".into()))]
    #[case("a: 0755", Kind::Other("0755".into()))]
    #[case("a: true", Kind::Other("true".into()))]
    #[case("a: yes", Kind::Text("yes".into()))]
    #[case("a: '1.10'", Kind::Text("1.10".into()))]
    #[case("a: .inf", Kind::Text(".inf".into()))]
    #[case("a:", Kind::Null)]
    #[case("a: ~", Kind::Null)]
    #[case("a: >-\n  one\n  two", Kind::Text("one two".into()))]
    #[case("a: |\n  one\n  two", Kind::Text("one\ntwo\n".into()))]
    #[case("a: !tagged text", Kind::Text("text".into()))]
    #[case("a: 2026-01-01", Kind::Text("2026-01-01".into()))]
    fn a_scalar_is_what_is_written(#[case] text: &str, #[case] kind: Kind) {
        assert_eq!(first(text), kind);
    }

    #[test]
    fn places_are_those_of_the_file() {
        let fields = parse("name: a\nmetadata:\n  version: 1.20\n", 2).unwrap();
        assert_eq!(fields[1].at, Place { line: 3, column: 1 });
        let Kind::Map(entries) = &fields[1].value.kind else {
            panic!("{:?}", fields[1]);
        };
        assert_eq!(entries[0].1.kind, Kind::Other("1.20".into()));
        assert_eq!(
            entries[0].1.at,
            Place {
                line: 4,
                column: 12
            }
        );
    }

    #[test]
    fn an_error_has_a_place() {
        let error = parse("name: a\ndescription: Use when: x\n", 2).unwrap_err();
        assert!(
            matches!(&error, NotYaml::Invalid { at: Some(at), .. } if at.line == 3),
            "{error:?}"
        );
    }

    #[test]
    fn an_alias_bomb_is_an_error() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let alias = format!("*a{}, ", level - 1).repeat(8);
            text.push_str(&format!("a{level}: &a{level} [{alias}]\n"));
        }
        assert!(matches!(parse(&text, 1), Err(NotYaml::Invalid { .. })));
    }

    #[test]
    fn deep_nesting_is_an_error() {
        assert!(parse(&format!("a: {}{}", "[".repeat(40), "]".repeat(40)), 1).is_err());
        let stairs: String = (0..40)
            .map(|depth| format!("{}a:\n", " ".repeat(depth)))
            .collect();
        assert!(parse(&stairs, 1).is_err());
    }

    #[rstest]
    #[case("- a\n- b\n")]
    #[case("just text")]
    fn what_is_no_mapping_is_said_to_be_none(#[case] text: &str) {
        assert_eq!(parse(text, 1), Err(NotYaml::NotAMapping));
    }

    #[test]
    fn duplicate_keys_all_come_through() {
        let keys: Vec<String> = parse("a: 1\nb: 2\na: 3\n", 1)
            .unwrap()
            .into_iter()
            .map(|f| f.key)
            .collect();
        assert_eq!(keys, ["a", "b", "a"]);
    }
}
