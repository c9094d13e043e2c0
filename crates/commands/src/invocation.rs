//! Arguments become flags and input, the same ones each time.

use outfitter_core::canonical;
use serde_json::{Map, Value, json};

/// The longest value that stands on a command line, in bytes.
const MAX_FLAG_BYTES: usize = 4096;

/// How the arguments of a call reach a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// What stands after the subcommand.
    pub(crate) flags: Vec<String>,
    /// What the program reads, where there is something to read.
    pub(crate) stdin: Option<String>,
}

impl Invocation {
    /// `--name=value` for each plain value, by name; the rest as `{"args":{…}}` on standard input.
    pub(crate) fn of(args: &Map<String, Value>) -> Self {
        let mut flags = vec!["--json".to_owned()];
        let mut rest = Map::new();
        let mut names: Vec<(&String, &Value)> = args.iter().collect();
        names.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
        for (name, value) in names {
            match plain(value) {
                Some(text) => flags.push(format!("--{name}={text}")),
                None => {
                    rest.insert(name.clone(), value.clone());
                }
            }
        }
        let stdin = (!rest.is_empty()).then(|| {
            flags.push("--stdin".to_owned());
            canonical(&json!({ "args": rest }))
        });
        Self { flags, stdin }
    }
}

/// The text of a value that can stand on a command line. What begins with a dash is kept off it,
/// however it is read there.
fn plain(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => canonical(value),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    let fits = text.len() <= MAX_FLAG_BYTES && !text.starts_with('-') && !text.contains('\0');
    fits.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(value: Value) -> Invocation {
        let Value::Object(map) = value else {
            unreachable!("{value}")
        };
        Invocation::of(&map)
    }

    #[test]
    fn plain_values_are_flags_in_the_order_of_their_names() {
        let made = of(json!({
            "to": "2026-12-01", "all": true, "from": "a b'\"$(x)\n", "limit": 20, "share": 0.5, "e": "",
        }));
        assert_eq!(
            made.flags,
            [
                "--json",
                "--all=true",
                "--e=",
                "--from=a b'\"$(x)\n",
                "--limit=20",
                "--share=0.5",
                "--to=2026-12-01"
            ]
        );
        assert_eq!(made.stdin, None);
    }

    #[test]
    fn what_is_no_plain_value_is_read_from_the_input() {
        let made = of(json!({
            "with": ["ada"], "when": {"b": 1, "a": 2}, "dash": "--token=x", "below": -1,
            "nothing": null, "zero": "a\u{0}b", "title": "lunch",
        }));
        assert_eq!(made.flags, ["--json", "--title=lunch", "--stdin"]);
        assert_eq!(
            made.stdin.unwrap(),
            r#"{"args":{"below":-1,"dash":"--token=x","nothing":null,"when":{"a":2,"b":1},"with":["ada"],"zero":"a\u0000b"}}"#
        );
    }

    #[test]
    fn a_long_value_is_read_from_the_input() {
        let at = of(json!({ "text": "x".repeat(4096) }));
        assert_eq!((at.flags.len(), at.stdin), (2, None));
        let above = of(json!({ "text": "x".repeat(4097) }));
        assert_eq!(above.flags, ["--json", "--stdin"]);
        assert!(above.stdin.unwrap().len() > 4097);
    }

    proptest! {
        /// Nothing is lost, and no value can pass for a flag of its own.
        #[test]
        fn every_argument_arrives_once(args in prop::collection::btree_map("[a-z][a-z0-9]{0,4}", ".{0,6}|-.{0,3}", 0..6)) {
            let made = of(json!(args));
            let read: Value = made.stdin.as_deref().map_or(json!({"args": {}}), |text| serde_json::from_str(text).unwrap());
            for (name, value) in &args {
                let flag = format!("--{name}={value}");
                let as_flag = made.flags.iter().filter(|is| **is == flag).count();
                let as_input = usize::from(read["args"][name] == *value);
                prop_assert_eq!(as_flag + as_input, 1);
            }
            prop_assert!(made.flags.iter().all(|flag| flag.starts_with("--") && !flag.contains("=-")));
        }
    }
}
