//! A request as the body of a chat completion. Fields are declared in the order of their names,
//! so that equal requests are equal bytes.

use std::borrow::Cow;

use outfitter_core::{
    Message, MessageRole, ModelError, ModelInfo, ModelRequest, Part, PartSource, ToolCall,
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::conversation::{EMPTY, NOT_LOADED, answered, ordered, picture_in_words, words};
use crate::json::{Sorted, unwritable};
use crate::shaping::{SchemaDialect, ShapedTool, wire_name};

/// The key of the opaque reasoning in a provider's part.
pub(super) const REASONING_DETAILS: &str = "reasoning_details";
/// The key of what came beside a message.
pub(super) const EXTRA: &str = "extra_content";
/// The key of what came beside the call before it.
pub(super) const CALL_EXTRA: &str = "call_extra_content";

/// Where servers of this wire differ in what they take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Whether usage must be asked for and may be.
    pub(crate) asks_usage: bool,
    /// Whether it wants the reasoning of a message with calls back as `reasoning_content`.
    pub(crate) replays_reasoning: bool,
    /// What it takes of JSON Schema.
    pub(crate) schema: SchemaDialect,
}

/// What goes with a conversation.
#[derive(Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    /// The list of tools, written.
    pub(super) tools: Option<&'a RawValue>,
    /// The schema that the reply is held to, written.
    pub(super) reply: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Body<'a> {
    messages: Vec<WireMessage<'a>>,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    json_schema: JsonSchema<'a>,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'static str,
    schema: &'a RawValue,
    strict: bool,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<Sorted<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<Sorted<'a>>,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Null,
    Text(Cow<'a, str>),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum ContentPart<'a> {
    Image {
        image_url: ImageUrl<'a>,
        #[serde(rename = "type")]
        kind: &'static str,
    },
    Text {
        text: Cow<'a, str>,
        #[serde(rename = "type")]
        kind: &'static str,
    },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: Cow<'a, str>,
}

#[derive(Serialize)]
struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<Sorted<'a>>,
    function: CalledFunction<'a>,
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    arguments: &'a str,
    name: Cow<'a, str>,
}

#[derive(Serialize)]
struct Tool<'a> {
    function: Function<'a>,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct Function<'a> {
    description: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Sorted<'a>>,
}

/// The bytes of a request.
pub(super) fn body(
    info: &ModelInfo,
    dialect: Dialect,
    request: &ModelRequest,
    beside: Beside<'_>,
) -> Result<Vec<u8>, ModelError> {
    let writer = Writer { info, dialect };
    let body = Body {
        messages: writer.messages(request),
        model: &info.name,
        response_format: beside.reply.map(|schema| ResponseFormat {
            json_schema: JsonSchema {
                name: "reply",
                schema,
                strict: true,
            },
            kind: "json_schema",
        }),
        stream: true,
        stream_options: dialect.asks_usage.then_some(StreamOptions {
            include_usage: true,
        }),
        tools: beside.tools,
    };
    serde_json::to_vec(&body).map_err(|error| unwritable(&error))
}

/// The list of tools as it stands in a request.
pub(crate) fn tools(tools: &[ShapedTool]) -> serde_json::Result<Box<RawValue>> {
    let tool = |tool| Tool {
        function: function(tool),
        kind: "function",
    };
    to_raw_value(&tools.iter().map(tool).collect::<Vec<_>>())
}

fn function(tool: &ShapedTool) -> Function<'_> {
    Function {
        description: &tool.description,
        name: &tool.name,
        parameters: tool.parameters.as_ref().map(Sorted),
    }
}

struct Writer<'i> {
    info: &'i ModelInfo,
    dialect: Dialect,
}

impl Writer<'_> {
    fn messages<'a>(&self, request: &'a ModelRequest) -> Vec<WireMessage<'a>> {
        let mut out = Vec::with_capacity(request.messages.len() + 1);
        let ordered = ordered(&request.messages);
        let opening = ordered
            .iter()
            .take_while(|one| one.role == MessageRole::System);
        let opening = opening.count();
        if let Some(words) = system(&request.system, &ordered[..opening]) {
            out.push(plain("system", Content::Text(words)));
        }
        // Results are text on this wire; their pictures follow the last of them.
        let mut pictures: Vec<ContentPart<'a>> = Vec::new();
        for message in ordered.into_iter().skip(opening) {
            if message.role != MessageRole::Tool {
                out.extend(shown(&mut pictures));
            }
            match message.role {
                MessageRole::System => out.push(plain("user", marked(message))),
                MessageRole::User => out.push(plain("user", self.content(message))),
                MessageRole::Assistant => out.push(self.assistant(message)),
                MessageRole::Tool => out.push(self.result(message, &mut pictures)),
            }
        }
        out.extend(shown(&mut pictures));
        out
    }

    fn content<'a>(&self, message: &'a Message) -> Content<'a> {
        let picture = |part: &Part| matches!(part, Part::Image { .. });
        if !self.info.vision || !message.parts.iter().any(picture) {
            return Content::Text(text(message));
        }
        let parts = message.parts.iter().filter_map(|part| match part {
            Part::Text { text } | Part::Refusal { text } => Some(text_part(text.into())),
            Part::Image { mime, source } => Some(image_part(mime, source)),
            Part::Reasoning { .. }
            | Part::ToolCall(_)
            | Part::File { .. }
            | Part::Provider { .. } => None,
        });
        Content::Parts(parts.collect())
    }

    fn assistant<'a>(&self, message: &'a Message) -> WireMessage<'a> {
        let mut calls: Vec<Call<'a>> = Vec::new();
        let mut out = plain("assistant", Content::Null);
        let mut reasoning = String::new();
        for part in &message.parts {
            match part {
                Part::ToolCall(made) => calls.push(self.call(made)),
                Part::Reasoning { text, .. } => reasoning.push_str(text),
                Part::Provider { provider, data } if *provider == self.info.provider => {
                    if let Some(details) = data.get(REASONING_DETAILS) {
                        out.reasoning_details = Some(Sorted(details));
                    } else if let Some(extra) = data.get(EXTRA) {
                        out.extra_content = Some(Sorted(extra));
                    } else if let (Some(extra), Some(call)) =
                        (data.get(CALL_EXTRA), calls.last_mut())
                    {
                        call.extra_content = Some(Sorted(extra));
                    }
                }
                Part::Text { .. }
                | Part::Refusal { .. }
                | Part::Image { .. }
                | Part::File { .. }
                | Part::Provider { .. } => {}
            }
        }
        let said = text(message);
        // No text beside calls is null, as the wire's own documents have it. Without calls there
        // must be some: servers of this wire refuse a reply that is nothing.
        if !said.is_empty() {
            out.content = Content::Text(said);
        } else if calls.is_empty() {
            out.content = Content::Text(EMPTY.into());
        }
        if self.dialect.replays_reasoning && !calls.is_empty() && !reasoning.is_empty() {
            out.reasoning_content = Some(reasoning);
        }
        out.tool_calls = calls;
        out
    }

    /// The arguments as they were written, malformed ones too. Only what says nothing at all is
    /// written out, because servers parse it.
    fn call<'a>(&self, made: &'a ToolCall) -> Call<'a> {
        let nothing = matches!(made.arguments.trim(), "" | "null");
        Call {
            extra_content: None,
            function: CalledFunction {
                arguments: if nothing { "{}" } else { &made.arguments },
                name: wire_name(self.dialect.schema, &made.name),
            },
            id: made.id.as_str(),
            kind: "function",
        }
    }

    fn result<'a>(
        &self,
        message: &'a Message,
        pictures: &mut Vec<ContentPart<'a>>,
    ) -> WireMessage<'a> {
        let Some(call) = answered(message) else {
            // Without its call it is no result; what it says is not lost.
            return plain("user", Content::Text(text(message)));
        };
        let content = if self.info.vision {
            pictures.extend(message.parts.iter().filter_map(|part| match part {
                Part::Image { mime, source } => Some(image_part(mime, source)),
                Part::Text { .. }
                | Part::Refusal { .. }
                | Part::Reasoning { .. }
                | Part::ToolCall(_)
                | Part::File { .. }
                | Part::Provider { .. } => None,
            }));
            Cow::Owned(message.content())
        } else {
            text(message)
        };
        WireMessage {
            tool_call_id: Some(call.as_str()),
            ..plain("tool", Content::Text(content))
        }
    }
}

/// The one message of the application, at the head: the system prompt and what the conversation
/// opens with. Many servers take no second one.
fn system<'a>(prompt: &'a str, opening: &[&'a Message]) -> Option<Cow<'a, str>> {
    let mut words: Vec<Cow<'a, str>> = Vec::with_capacity(opening.len() + 1);
    words.push(Cow::Borrowed(prompt));
    words.extend(opening.iter().map(|message| text(message)));
    words.retain(|words| !words.is_empty());
    match words.len() {
        0 => None,
        1 => words.pop(),
        _ => Some(Cow::Owned(words.join("\n\n"))),
    }
}

/// The application's words in the middle of a conversation, where many servers refuse its role.
fn marked(message: &Message) -> Content<'_> {
    Content::Text(Cow::Owned(format!(
        "<system>\n{}\n</system>",
        text(message)
    )))
}

fn plain<'a>(role: &'static str, content: Content<'a>) -> WireMessage<'a> {
    WireMessage {
        content,
        extra_content: None,
        reasoning_content: None,
        reasoning_details: None,
        role,
        tool_call_id: None,
        tool_calls: Vec::new(),
    }
}

fn shown<'a>(pictures: &mut Vec<ContentPart<'a>>) -> Option<WireMessage<'a>> {
    let parts = std::mem::take(pictures);
    (!parts.is_empty()).then(|| plain("user", Content::Parts(parts)))
}

/// One text is the common case and is not copied.
fn text(message: &Message) -> Cow<'_, str> {
    match message.parts.as_slice() {
        [Part::Text { text }] => Cow::Borrowed(text),
        _ => Cow::Owned(words(message)),
    }
}

fn text_part(text: Cow<'_, str>) -> ContentPart<'_> {
    ContentPart::Text { text, kind: "text" }
}

fn image_part<'a>(mime: &str, source: &'a PartSource) -> ContentPart<'a> {
    let url = match source {
        PartSource::Base64 { data } => Cow::Owned(format!("data:{mime};base64,{data}")),
        PartSource::Url { url } => Cow::Borrowed(url.as_str()),
        PartSource::Artifact { .. } => {
            return text_part(picture_in_words(mime, source, NOT_LOADED).into());
        }
    };
    ContentPart::Image {
        image_url: ImageUrl { url },
        kind: "image_url",
    }
}
