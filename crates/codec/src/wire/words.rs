//! Closed sets of words. Each conversion is exhaustive: a new word in core does not compile until
//! the protocol has it too.

use outfitter_core as core;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($word:ident),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum $name { $($word),+ }

        impl From<core::$name> for $name {
            fn from(word: core::$name) -> Self {
                match word { $(core::$name::$word => Self::$word),+ }
            }
        }
    )+};
}

words! {
    /// What a delta adds to.
    DeltaKind { Text, Reasoning, ToolArguments }
    /// Where something was printed; `info` is the tool's own words.
    Stream { Stdout, Stderr, Info }
    /// Who speaks.
    MessageRole { System, User, Assistant, Tool }
    /// How a run ended.
    RunOutcome { Success, Failed, Cancelled, Waiting, Limit }
    /// Where a count of tokens comes from: the provider, or our own count.
    UsageSource { Reported, Estimated }
    /// What a warning is about.
    WarningCode {
        UnknownName, RepairedCallId, Truncated, Retried, ViewChanged, Recovered, SandboxLevel,
        Refused,
        Fallback,
        NotKept,
        NotReady,
    }
    /// How a call ended.
    Status { Success, Partial, Running, Error, Denied, Cancelled, Timeout, Interrupted }
    /// How much a principal may do.
    Role { Guest, User, Admin }
    /// When the schema of a tool goes into a model request: `always`; `listed`, unless it is
    /// trimmed; `deferred`, once it is asked for; `hidden`, never, but it answers when called.
    Exposure { Always, Listed, Deferred, Hidden }
}

/// A word of the closed table of codes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code(pub(crate) core::Code);

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A word of the closed table of codes.",
            "type": "string",
            "enum": core::Code::ALL.map(core::Code::as_str),
        })
    }
}

/// A set of effects, as a list of words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effects(pub(crate) core::Effects);

impl Serialize for Effects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(core::Effect::as_str))
    }
}

impl JsonSchema for Effects {
    fn schema_name() -> Cow<'static, str> {
        "Effects".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What a call can do at the most.",
            "type": "array",
            "uniqueItems": true,
            "items": { "type": "string", "enum": core::Effect::ALL.map(core::Effect::as_str) },
        })
    }
}
