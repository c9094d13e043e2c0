//! The script: a YAML list of turns.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use outfitter_core::{ModelError, StopReason, canonical};
use outfitter_text::regular_file::read_regular_text;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The longest script in bytes.
const MAX_SCRIPT_BYTES: u64 = 256 * 1024 * 1024;

/// A script.
#[derive(Debug, Clone)]
pub struct Script(Vec<Turn>);

/// What the model does when it is asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    /// What the last message must contain.
    #[serde(default)]
    pub(super) expect: Option<String>,
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) reasoning: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Vec<ScriptedCall>,
    /// The text of the arguments of the only call, which need not be JSON.
    #[serde(default)]
    pub(super) raw_arguments: Option<String>,
    /// How long the model thinks before its reply begins.
    #[serde(default)]
    pub(super) delay_ms: Option<u64>,
    /// How the reply ends instead.
    #[serde(default)]
    pub(super) error: Option<Failure>,
    /// Why the reply stops; as it is, unless said.
    #[serde(default)]
    stop: Option<ScriptedStop>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedCall {
    /// Made from its place when left out; may be empty, to see it repaired.
    #[serde(default)]
    pub(super) id: Option<String>,
    pub(super) name: String,
    #[serde(default)]
    arguments: Option<Value>,
    #[serde(default)]
    raw_arguments: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ScriptedStop {
    Length,
    Refused,
}

/// A failure: its words, or what it is.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) status: Option<u16>,
    pub(super) retry_after_ms: Option<u64>,
    pub(super) kind: Option<FailureKind>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FailureKind {
    Provider,
    Protocol,
    Truncated,
    Connect,
    Timeout,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// [`ModelError::Setup`] with the line, for what is no script, has a field that no turn has, or
    /// has no turn.
    pub fn from_text(text: &str) -> Result<Self, ModelError> {
        // As YAML 1.2 has it: `yes`, `no`, `on`, `off`, `y` and `n` are words, in arguments too.
        let options = serde_saphyr::options! { strict_booleans: true };
        let read = serde_saphyr::from_str_with_options(text, options);
        let turns: Vec<Turn> = read.map_err(|error| {
            let place = error.location().map(|at| format!("line {}: ", at.line()));
            let words = error.without_snippet().to_string();
            let words = words.strip_prefix("error: ").unwrap_or(&words);
            invalid(&format!("{}{words}", place.unwrap_or_default()))
        })?;
        if turns.is_empty() {
            return Err(invalid("it has no turns"));
        }
        for (at, turn) in turns.iter().enumerate() {
            if turn.raw_arguments.is_some() && turn.tool_calls.len() != 1 {
                return Err(invalid(&format!(
                    "turn {} has raw_arguments and not exactly one call; put them into the call",
                    at + 1
                )));
            }
        }
        Ok(Self(turns))
    }

    /// Reads a script from a file.
    ///
    /// # Errors
    /// As [`Script::from_text`], and when the file cannot be read.
    pub fn from_file(file: &Path) -> Result<Self, ModelError> {
        let text =
            read_regular_text(file, MAX_SCRIPT_BYTES).map_err(|error| ModelError::Setup {
                message: format!("read the script {}: {error}", file.display()),
                hint: None,
            })?;
        Self::from_text(&text).map_err(|error| match error {
            ModelError::Setup { message, hint } => ModelError::Setup {
                message: format!("{message} ({})", file.display()),
                hint,
            },
            other => other,
        })
    }

    pub(super) fn turns(&self) -> &[Turn] {
        &self.0
    }
}

fn invalid(message: &str) -> ModelError {
    ModelError::Setup {
        message: format!("the script is not valid: {message}"),
        hint: None,
    }
}

impl Turn {
    pub(super) fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms.unwrap_or(0))
    }

    pub(super) fn stop(&self) -> StopReason {
        match self.stop {
            Some(ScriptedStop::Length) => StopReason::Length,
            Some(ScriptedStop::Refused) => StopReason::Refused,
            None if self.tool_calls.is_empty() => StopReason::End,
            None => StopReason::ToolCalls,
        }
    }

    /// How long the reply is.
    pub(super) fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_deref().map_or(0, str::len);
        let raw = self.raw_arguments.as_deref();
        let calls = self.tool_calls.iter();
        text(&self.text)
            + text(&self.reasoning)
            + calls
                .map(|call| call.name.len() + call.arguments(raw).len())
                .sum::<usize>()
    }
}

impl ScriptedCall {
    /// The text of the arguments. A text in place of an object is the text as it is.
    pub(super) fn arguments(&self, of_turn: Option<&str>) -> String {
        match (of_turn.or(self.raw_arguments.as_deref()), &self.arguments) {
            (Some(raw), _) => raw.to_owned(),
            (None, Some(Value::String(raw))) => raw.clone(),
            (None, Some(value)) => canonical(value),
            (None, None) => "{}".to_owned(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FailureFields {
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    retry_after_ms: Option<u64>,
    #[serde(default)]
    kind: Option<FailureKind>,
}

impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordsOrFields)
    }
}

struct WordsOrFields;

impl<'de> Visitor<'de> for WordsOrFields {
    type Value = Failure;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a message (a text; put a number or true in quotes), or an object with message, status, \
             retry_after_ms, kind",
        )
    }

    fn visit_str<E>(self, words: &str) -> Result<Failure, E> {
        Ok(Failure {
            message: words.to_owned(),
            status: None,
            retry_after_ms: None,
            kind: None,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Failure, A::Error> {
        let fields = FailureFields::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Failure {
            message: fields
                .message
                .unwrap_or_else(|| "the script says so".to_owned()),
            status: fields.status,
            retry_after_ms: fields.retry_after_ms,
            kind: fields.kind,
        })
    }
}
