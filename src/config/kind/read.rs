//! Values as the environment has them.

use serde_json::Value;

use super::Kind;
use crate::config::toml_value;

impl Kind {
    /// Reads the text of an environment variable: as the key's own type demands, written as in the
    /// file or plainly. What cannot be read stays text, for [`Kind::check`] to refuse.
    pub(in crate::config) fn read(&self, text: &str) -> Value {
        let plain = || Value::String(text.to_owned());
        let trimmed = text.trim();
        match self {
            Self::Boolean => match trimmed.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Value::Bool(true),
                "false" | "0" | "no" | "off" => Value::Bool(false),
                _ => plain(),
            },
            Self::TextOrTable => plain(),
            Self::TableOrPath if !trimmed.starts_with('{') => plain(),
            Self::Integer { .. }
            | Self::Map
            | Self::TableOrPath
            | Self::Values
            | Self::Table(_)
            | Self::Tables(_)
            | Self::Rows(_) => toml_value::parse(trimmed)
                .filter(|value| value.is_number() || value.is_object() || value.is_array())
                .unwrap_or_else(plain),
            Self::Text(_) | Self::OneOf(_) => {
                let quoted = trimmed.len() > 1 && trimmed.starts_with(['"', '\'']);
                quoted
                    .then(|| toml_value::parse(trimmed))
                    .flatten()
                    .filter(Value::is_string)
                    .unwrap_or_else(plain)
            }
            Self::ListOrBoolean(format) => match Self::Boolean.read(text) {
                boolean @ Value::Bool(_) => boolean,
                _ => Self::List(*format).read(text),
            },
            Self::ListOrWord(word) if trimmed == *word => Value::String(trimmed.to_owned()),
            Self::List(_) | Self::ListOrWord(_) if trimmed.starts_with('[') => {
                toml_value::parse(trimmed).unwrap_or_else(plain)
            }
            Self::List(_) | Self::ListOrWord(_) => text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| Value::String(item.to_owned()))
                .collect(),
        }
    }
}
