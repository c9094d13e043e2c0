//! Canonical JSON: compact, object keys sorted by their bytes. Projections, hashes and schemas use
//! it, because the order inside a `Value` depends on who made it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The canonical text of a value.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::with_capacity(64);
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push('{');
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::String(text) => write_string(text, out),
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => {
            use fmt::Write as _;
            // Writing to a String cannot fail.
            let _ = write!(out, "{number}");
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[from..index]);
        if escape.is_empty() {
            use fmt::Write as _;
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        from = index + 1;
    }
    out.push_str(&text[from..]);
    out.push('"');
}

/// A SHA-256, written `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// The hash of the canonical text of a value.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of(canonical(value))
    }

    /// Reads what [`Hash`] prints.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?;
        if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[at * 2..at * 2 + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// A [`Hash`] of bytes that come in pieces.
#[derive(Debug, Clone, Default)]
pub struct Hashing(Sha256);

impl Hashing {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next piece.
    pub fn update(&mut self, piece: impl AsRef<[u8]>) {
        self.0.update(piece.as_ref());
    }

    /// The hash of all pieces.
    #[must_use]
    pub fn finish(self) -> Hash {
        Hash(self.0.finalize().into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a sha256 hash"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    pub(crate) fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn keys_are_sorted_and_nothing_else_is_added() {
        let value = json!({"b": [1, {"z": null, "a": "\u{1}\n\"é"}], "a": 1.5});
        assert_eq!(
            canonical(&value),
            r#"{"a":1.5,"b":[1,{"a":"\u0001\n\"é","z":null}]}"#
        );
    }

    proptest! {
        #[test]
        fn canonical_text_reads_back_as_the_same_value(value in any_json()) {
            let text = canonical(&value);
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }

        #[test]
        fn pieces_hash_like_the_whole(pieces in prop::collection::vec(any::<Vec<u8>>(), 0..5)) {
            let mut hashing = Hashing::new();
            pieces.iter().for_each(|piece| hashing.update(piece));
            prop_assert_eq!(hashing.finish(), Hash::of(pieces.concat()));
        }

        #[test]
        fn a_hash_reads_back(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let hash = Hash::of(bytes);
            prop_assert_eq!(Hash::parse(&hash.to_string()), Some(hash));
        }
    }
}
