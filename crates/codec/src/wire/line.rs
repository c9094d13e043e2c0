//! What every line and every document has.

use std::borrow::Cow;
use std::marker::PhantomData;

use outfitter_core::UnixMs;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// The version of the protocols. It changes when a reader of the old form could misread the new
/// one; fields and line types are added without a change.
pub const VERSION: u32 = 1;

/// The version, written wherever something begins that is read by itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(VERSION)
    }
}

impl JsonSchema for Version {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Version".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "const": VERSION })
    }
}

// A document with its version. No doc comment: the description in the schema is the body's.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}")]
pub(crate) struct Versioned<T> {
    /// The version of the protocol.
    v: Version,
    #[serde(flatten)]
    body: T,
}

impl<T> Versioned<T> {
    pub(crate) fn of(body: T) -> Self {
        Self { v: Version, body }
    }
}

/// Unix seconds with their fraction.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(transparent)]
pub(crate) struct Seconds(f64);

impl From<UnixMs> for Seconds {
    /// Exact to the millisecond until the year 287396: the nearest `f64` to a whole number of
    /// milliseconds below 2^53 prints with at most three decimals.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    fn from(at: UnixMs) -> Self {
        Self(at.0 as f64 / 1000.0)
    }
}

impl JsonSchema for Seconds {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

/// What a line says beyond what all lines say.
pub(crate) trait Body {
    /// The word in `type`.
    const TYPE: &'static str;
}

/// The word in `type`.
#[derive(Debug)]
pub(crate) struct Tag<B>(PhantomData<B>);

impl<B> Default for Tag<B> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<B: Body> Serialize for Tag<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(B::TYPE)
    }
}

impl<B: Body> JsonSchema for Tag<B> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        B::TYPE.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "const": B::TYPE })
    }
}

// One line. No doc comment: the description in the schema is the body's.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{B}", bound = "B: Body + JsonSchema")]
#[serde(bound = "B: Body + Serialize")]
pub(crate) struct Line<'a, B> {
    /// What happened.
    #[serde(rename = "type")]
    pub(crate) tag: Tag<B>,
    /// The place of the event in its run. The first has 1; it rises by one, without gaps while
    /// the run is live.
    #[schemars(range(min = 1))]
    pub(crate) seq: u64,
    /// When it happened, in Unix seconds.
    pub(crate) ts: Seconds,
    /// In which run.
    pub(crate) run_id: &'a str,
    /// In which session.
    pub(crate) session_id: &'a str,
    /// On behalf of which sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<&'a str>,
    /// The run that delegated to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_run_id: Option<&'a str>,
    /// The call that delegated to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_tool_call_id: Option<&'a str>,
    #[serde(flatten)]
    pub(crate) body: B,
}
