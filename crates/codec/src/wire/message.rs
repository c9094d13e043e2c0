//! Messages on the wire.

use std::borrow::Cow;
use std::fmt;

use outfitter_core as core;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::line::Body;
use super::output::ToolOutput;
use super::words::MessageRole;
use crate::ui::{self, UiSchema};

/// A message is whole.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MessageWhole")]
pub(crate) struct MessageLine<'a> {
    /// The message.
    pub(crate) message: Message<'a>,
}

impl Body for MessageLine<'_> {
    const TYPE: &'static str = "message";
}

/// One message.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Message<'a> {
    /// Its id.
    id: &'a str,
    /// Who speaks.
    role: MessageRole,
    /// Its text; empty when it has none. For role `tool`: all that a model reads of the result.
    #[schemars(with = "String")]
    content: Content<'a>,
    /// The calls the model wants made, in order.
    #[serde(skip_serializing_if = "ToolCalls::is_empty")]
    #[schemars(with = "Vec<ToolCall<'static>>", length(min = 1))]
    tool_calls: ToolCalls<'a>,
    /// For role `tool`: the call that this answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    /// What clients show and models do not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata<'a>>,
}

impl<'a> From<&'a core::Message> for Message<'a> {
    fn from(message: &'a core::Message) -> Self {
        let output = message.output.as_deref();
        Self {
            id: message.id.as_str(),
            role: message.role.into(),
            content: Content(&message.parts),
            tool_calls: ToolCalls(&message.parts),
            tool_call_id: output.map(|output| output.tool_call_id.as_str()),
            metadata: output.map(|output| Metadata {
                tool_agent_output: output.into(),
                ui_schema: ui::compile(output),
            }),
        }
    }
}

/// What clients show and models do not read.
#[derive(Debug, Serialize, JsonSchema)]
struct Metadata<'a> {
    /// The whole result of the call.
    tool_agent_output: ToolOutput<'a>,
    /// What a renderer draws, made of the result and its `ui_hints`; left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    ui_schema: Option<UiSchema>,
}

/// A call as the model wrote it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WantedCall")]
struct ToolCall<'a> {
    /// Unique in the session.
    id: &'a str,
    /// The name as the model wrote it, which may be no tool's.
    name: &'a str,
    /// The text of the arguments as the model wrote it, which may not be JSON; where something in
    /// it is sensitive, the same arguments without that.
    arguments: Cow<'a, str>,
}

/// The text parts, one after the other.
#[derive(Debug)]
struct Content<'a>(&'a [core::Part]);

impl Content<'_> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            core::Part::Text { text } | core::Part::Refusal { text } => Some(text.as_str()),
            core::Part::Reasoning { .. }
            | core::Part::ToolCall(_)
            | core::Part::Image { .. }
            | core::Part::File { .. }
            | core::Part::Provider { .. } => None,
        })
    }
}

impl fmt::Display for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.texts().try_for_each(|text| f.write_str(text))
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The call parts.
#[derive(Debug)]
struct ToolCalls<'a>(&'a [core::Part]);

impl ToolCalls<'_> {
    fn calls(&self) -> impl Iterator<Item = ToolCall<'_>> {
        self.0.iter().filter_map(|part| match part {
            core::Part::ToolCall(call) => Some(ToolCall {
                id: call.id.as_str(),
                name: &call.name,
                arguments: core::redact_arguments(&call.arguments),
            }),
            core::Part::Text { .. }
            | core::Part::Reasoning { .. }
            | core::Part::Refusal { .. }
            | core::Part::Image { .. }
            | core::Part::File { .. }
            | core::Part::Provider { .. } => None,
        })
    }

    fn is_empty(&self) -> bool {
        let is_call = |part: &core::Part| matches!(part, core::Part::ToolCall(_));
        !self.0.iter().any(is_call)
    }
}

impl Serialize for ToolCalls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.calls())
    }
}
