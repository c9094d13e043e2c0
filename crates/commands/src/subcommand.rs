//! One subcommand, as a program described it.

use std::fmt::Write as _;

use outfitter_core::{Code, Effect, Effects, ErrorInfo, Role, ToolError, UiHints};
use serde_json::{Map, Value, json};

use crate::schema::{self, Schema};

pub(crate) struct Subcommand {
    pub(crate) command: String,
    pub(crate) subcommand: String,
    /// The skill that says how it is used.
    pub(crate) skill: String,
    pub(crate) summary: String,
    pub(crate) effects: Effects,
    pub(crate) args: Schema,
    pub(crate) result: Schema,
    pub(crate) ui: Option<UiHints>,
    /// All of it, as it was described.
    pub(crate) said: Value,
}

/// What may be read or told with the least role.
const GUEST: Effects = Effects::of(&[Effect::Read, Effect::Message]);

impl Subcommand {
    /// What it is called in rules, approvals and messages.
    pub(crate) fn subject(&self) -> String {
        format!("{} {}", self.command, self.subcommand)
    }

    /// The word of a credential that is for it.
    pub(crate) fn scope(&self) -> String {
        format!("{}:{}", self.command, self.subcommand)
    }

    /// The least role that may call it, by what it does: whoever may read and tell is a guest, whoever
    /// changes something a user, and programs are run by administrators.
    pub(crate) fn least_role(&self) -> Role {
        if self.effects.has(Effect::Exec) {
            Role::Admin
        } else if self.effects.within(GUEST) {
            Role::Guest
        } else {
            Role::User
        }
    }

    /// Holds the arguments to the schema that the program gave; all faults are in the error.
    pub(crate) fn check(&self, args: &Map<String, Value>) -> Result<(), ToolError> {
        let known = self.args.value.get("properties").and_then(Value::as_object);
        let mut faults: Vec<schema::Fault> = args
            .iter()
            .filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)))
            .map(|(name, value)| {
                schema::unknown(&format!("/{}", schema::escaped(name)), Some(value))
            })
            .collect();
        faults.extend(self.args.faults(&Value::Object(args.clone())));
        faults.dedup_by(|a, b| a.path == b.path && a.says == b.says);
        let Some(first) = faults.first().cloned() else {
            return Ok(());
        };
        for fault in &mut faults {
            fault.says = fault.says.replacen('/', "/args/", 1);
        }
        let mut info = ErrorInfo::new(
            Code::InvalidArguments,
            format!(
                "the arguments of {} do not fit: {}",
                self.subject(),
                schema::listed(&faults)
            ),
        )
        .at(format!("/args{}", first.path))
        .with_hint(format!("it takes {}", self.signature(Detail::Types)));
        info.expected = first
            .expected
            .or_else(|| known.map(|known| json!(known.keys().collect::<Vec<_>>())));
        info.got = first.got;
        Err(info.into())
    }

    /// Its arguments in short: `from* (string, date): what it means`.
    pub(crate) fn signature(&self, detail: Detail) -> String {
        let schema = &*self.args.value;
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return "no arguments".to_owned();
        };
        if properties.is_empty() {
            return "no arguments".to_owned();
        }
        let required = |name: &str| {
            schema["required"]
                .as_array()
                .is_some_and(|names| names.iter().any(|is| is == name))
        };
        let mut text = String::new();
        for (name, property) in properties {
            if !text.is_empty() {
                text.push_str(match detail {
                    Detail::Words => "; ",
                    Detail::Types => ", ",
                });
            }
            text.push_str(name);
            if required(name) {
                text.push('*');
            }
            if let Some(kind) = kind(property) {
                // Writing to a String cannot fail.
                let _ = write!(text, " ({kind})");
            }
            if let (Detail::Words, Some(words)) = (detail, property["description"].as_str()) {
                let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
                let _ = write!(text, ": {}", words.trim_end_matches('.'));
            }
        }
        text
    }
}

/// How much is said of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Names, types and what they mean.
    Words,
    /// Names and types.
    Types,
}

fn kind(property: &Value) -> Option<String> {
    if let Some(choices) = property["enum"].as_array() {
        let words: Vec<String> = choices
            .iter()
            .map(|choice| {
                choice
                    .as_str()
                    .map_or_else(|| choice.to_string(), str::to_owned)
            })
            .collect();
        return Some(words.join("|"));
    }
    let kind = property["type"].as_str()?;
    let kind = match property["format"].as_str() {
        Some(format) => format!("{kind}, {format}"),
        None => kind.to_owned(),
    };
    Some(match property.get("default") {
        Some(default) => format!("{kind}, else {default}"),
        None => kind,
    })
}
