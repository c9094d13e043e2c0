//! JSON read strictly: a key given twice and an integer that no machine integer holds are errors
//! with their path, because a lenient reader would silently change what the writer meant.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::{Malformed, MalformedKind, REDACTED, is_secret_key};

/// Marks our own error among those of serde_json.
const PREFIX: &str = "\u{1}duplicate:";

/// Reads one JSON value and nothing after it, strictly: a key given twice and an integer that
/// neither `i64` nor `u64` holds are errors, because reading on would change what was meant.
///
/// # Errors
/// [`Malformed`] with the kind of the fault and where it is.
pub fn parse_strict(text: &str) -> Result<Value, Malformed> {
    let path = RefCell::new(Vec::new());
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { path: &path }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| classify(&error, text, &path.borrow()))?;
    if has_long_integer(text.as_bytes()) {
        oversized_integer(text)?;
    }
    Ok(value)
}

fn classify(error: &serde_json::Error, text: &str, path: &[Step]) -> Malformed {
    let message = error.to_string();
    if let Some(key) = message.strip_prefix(PREFIX) {
        let key = key.rsplit_once(" at line").map_or(key, |(key, _)| key);
        return Malformed {
            kind: MalformedKind::DuplicateKey,
            path: pointer(path),
            message: format!("the key {key:?} is given twice"),
        };
    }
    let cut_off = error.is_eof();
    Malformed {
        kind: if cut_off {
            MalformedKind::CutOff
        } else {
            MalformedKind::Syntax
        },
        path: pointer(path),
        message: if cut_off {
            format!(
                "the JSON ends too early, after {} bytes: it was cut off",
                text.len()
            )
        } else {
            message
        },
    }
}

#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Index(usize),
}

fn pointer(path: &[Step]) -> String {
    use fmt::Write as _;
    path.iter().fold(String::new(), |mut out, step| {
        out.push('/');
        match step {
            Step::Key(key) => out.push_str(&key.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => {
                let _ = write!(out, "{index}");
            }
        }
        out
    })
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    path: &'a RefCell<Vec<Step>>,
}

impl Strict<'_> {
    fn enter(self, step: Step) {
        self.path.borrow_mut().push(step);
    }

    fn leave(self) {
        self.path.borrow_mut().pop();
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    crate::any_value::scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            self.enter(Step::Index(list.len()));
            match items.next_element_seed(self)? {
                Some(item) => list.push(item),
                None => break,
            }
            self.leave();
        }
        self.leave();
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("{PREFIX}{key}")));
            }
            self.enter(Step::Key(key.clone()));
            let value = entries.next_value_seed(self)?;
            self.leave();
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// Whether there is a run of 19 digits, which is where integers begin not to fit.
fn has_long_integer(text: &[u8]) -> bool {
    let mut run = 0;
    text.iter().any(|byte| {
        run = if byte.is_ascii_digit() { run + 1 } else { 0 };
        run >= 19
    })
}

/// Finds the first integer outside `i64` and `u64`. The text is valid JSON already.
fn oversized_integer(text: &str) -> Result<(), Malformed> {
    let bytes = text.as_bytes();
    let mut path: Vec<Step> = Vec::new();
    let mut key: Option<String> = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at);
                if matches!(path.last(), Some(Step::Key(_))) {
                    key = serde_json::from_str(&text[at..end]).ok();
                }
                at = end;
                continue;
            }
            b'{' => path.push(Step::Key(String::new())),
            b'[' => path.push(Step::Index(0)),
            b'}' | b']' => {
                path.pop();
            }
            b':' => {
                if let (Some(Step::Key(slot)), Some(name)) = (path.last_mut(), key.take()) {
                    *slot = name;
                }
            }
            b',' => {
                if let Some(Step::Index(index)) = path.last_mut() {
                    *index += 1;
                }
            }
            b'-' | b'0'..=b'9' => {
                let end = number_end(bytes, at);
                let number = &text[at..end];
                let integer = !number.contains(['.', 'e', 'E']);
                if integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    let is_secret = path
                        .iter()
                        .any(|step| matches!(step, Step::Key(key) if is_secret_key(key)));
                    let said = if is_secret { REDACTED } else { number };
                    return Err(Malformed {
                        kind: MalformedKind::Integer,
                        path: pointer(&path),
                        message: format!("the integer {said} does not fit in 64 bits"),
                    });
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn number_end(bytes: &[u8], from: usize) -> usize {
    let digits = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    bytes[from..]
        .iter()
        .position(|byte| !digits(byte))
        .map_or(bytes.len(), |len| from + len)
}
