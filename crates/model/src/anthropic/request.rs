//! A request as the body of the messages API. Fields are declared in the order of their names, so
//! that equal requests are equal bytes.

use std::borrow::Cow;

use outfitter_core::{
    Message, MessageRole, ModelError, ModelInfo, ModelRequest, Part, PartSource, ToolCall,
};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::conversation::{
    EMPTY, NO_VISION, NOT_LOADED, answered, is_blank, ordered, picture_in_words, wire_id,
};
use crate::json::{Sorted, object_arguments, unwritable};
use crate::shaping::{SchemaDialect, ShapedTool, ShapedTools, wire_name};

/// The key of the citations of the text before them, in a provider's part.
pub(super) const CITATIONS: &str = "citations";

#[derive(Serialize)]
struct Body<'a> {
    max_tokens: u32,
    messages: Vec<Turn<'a>>,
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Block<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Cow<'a, RawValue>>,
}

#[derive(Serialize)]
struct Turn<'a> {
    content: Vec<Block<'a>>,
    role: &'static str,
}

/// A block, and whether the provider may remember the request up to it.
#[derive(Serialize)]
struct Block<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
    #[serde(flatten)]
    content: Content<'a>,
}

#[derive(Serialize)]
struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
}

const EPHEMERAL: CacheControl = CacheControl { kind: "ephemeral" };

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text {
        #[serde(skip_serializing_if = "Option::is_none")]
        citations: Option<Sorted<'a>>,
        text: Cow<'a, str>,
    },
    Thinking {
        signature: &'a str,
        thinking: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        input: Box<RawValue>,
        name: Cow<'a, str>,
    },
    ToolResult {
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        tool_use_id: Cow<'a, str>,
    },
    Image {
        source: ImageSource<'a>,
    },
    #[serde(untagged)]
    Provider(Sorted<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ImageSource<'a> {
    Base64 { data: &'a str, media_type: &'a str },
    Url { url: &'a str },
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<Sorted<'a>>,
    name: &'a str,
}

/// The bytes of a request.
pub(super) fn body(
    info: &ModelInfo,
    max_tokens: u32,
    request: &ModelRequest,
    shaped: &ShapedTools,
) -> Result<Vec<u8>, ModelError> {
    let writer = Writer { info };
    let mut messages = writer.turns(request);
    let mut tools = shaped.wire.as_deref().map(Cow::Borrowed);
    let mut system = (!is_blank(&request.system)).then(|| [block(said(&*request.system))]);
    // The cache is looked up from these places backwards: what never changes, and all of it.
    match &mut system {
        Some([system]) => system.cache_control = Some(EPHEMERAL),
        None if tools.is_some() => {
            let marked = written(&shaped.tools, Some(EPHEMERAL));
            tools = Some(Cow::Owned(marked.map_err(|error| unwritable(&error))?));
        }
        None => {}
    }
    if let Some(last) = messages.last_mut().and_then(|turn| turn.content.last_mut()) {
        // A thought cannot carry the mark.
        if !matches!(
            last.content,
            Content::Thinking { .. } | Content::Provider(_)
        ) {
            last.cache_control = Some(EPHEMERAL);
        }
    }
    let body = Body {
        max_tokens,
        messages,
        model: &info.name,
        stream: true,
        system,
        tools,
    };
    serde_json::to_vec(&body).map_err(|error| unwritable(&error))
}

/// The list of tools as it stands in a request.
pub(crate) fn tools(tools: &[ShapedTool]) -> serde_json::Result<Box<RawValue>> {
    written(tools, None)
}

/// The list of tools, the last one with a mark.
fn written(tools: &[ShapedTool], mark: Option<CacheControl>) -> serde_json::Result<Box<RawValue>> {
    let mut list: Vec<Tool<'_>> = tools.iter().map(tool).collect();
    if let Some(last) = list.last_mut() {
        last.cache_control = mark;
    }
    to_raw_value(&list)
}

fn tool(tool: &ShapedTool) -> Tool<'_> {
    Tool {
        cache_control: None,
        description: &tool.description,
        input_schema: tool.parameters.as_ref().map(Sorted),
        name: &tool.name,
    }
}

fn block(content: Content<'_>) -> Block<'_> {
    Block {
        cache_control: None,
        content,
    }
}

fn said<'a>(text: impl Into<Cow<'a, str>>) -> Content<'a> {
    Content::Text {
        citations: None,
        text: text.into(),
    }
}

struct Writer<'i> {
    info: &'i ModelInfo,
}

impl Writer<'_> {
    /// Turns alternate on this wire: messages of one side that follow each other are one, and
    /// results stand on the side of the user.
    fn turns<'a>(&self, request: &'a ModelRequest) -> Vec<Turn<'a>> {
        let mut turns: Vec<Turn<'a>> = Vec::with_capacity(request.messages.len());
        for message in ordered(&request.messages) {
            let (role, blocks) = match message.role {
                MessageRole::User => ("user", self.user(message)),
                MessageRole::System => ("user", system(message)),
                MessageRole::Assistant => ("assistant", self.assistant(message)),
                MessageRole::Tool => ("user", vec![self.result(message)]),
            };
            if blocks.is_empty() {
                continue;
            }
            match turns.last_mut().filter(|turn| turn.role == role) {
                Some(turn) => turn.content.extend(blocks),
                None => turns.push(Turn {
                    content: blocks,
                    role,
                }),
            }
        }
        turns
    }

    fn user<'a>(&self, message: &'a Message) -> Vec<Block<'a>> {
        let blocks = self.shown(message);
        if blocks.is_empty() {
            // The wire has no empty turn, and without this one the sides would not alternate.
            return vec![block(said(EMPTY))];
        }
        blocks
    }

    /// Text and pictures.
    fn shown<'a>(&self, message: &'a Message) -> Vec<Block<'a>> {
        let content = message.parts.iter().filter_map(|part| match part {
            Part::Text { text } | Part::Refusal { text } if is_blank(text) => None,
            Part::Text { text } | Part::Refusal { text } => Some(said(text)),
            Part::Image { mime, source } => Some(self.picture(mime, source)),
            Part::Reasoning { .. }
            | Part::ToolCall(_)
            | Part::File { .. }
            | Part::Provider { .. } => None,
        });
        content.map(block).collect()
    }

    fn picture<'a>(&self, mime: &'a str, source: &'a PartSource) -> Content<'a> {
        let source = match source {
            _ if !self.info.vision => return said(picture_in_words(mime, source, NO_VISION)),
            PartSource::Artifact { .. } => return said(picture_in_words(mime, source, NOT_LOADED)),
            PartSource::Base64 { data } => ImageSource::Base64 {
                data,
                media_type: mime,
            },
            PartSource::Url { url } => ImageSource::Url { url },
        };
        Content::Image { source }
    }

    fn assistant<'a>(&self, message: &'a Message) -> Vec<Block<'a>> {
        let mut blocks: Vec<Block<'a>> = Vec::with_capacity(message.parts.len());
        for part in &message.parts {
            match part {
                Part::Text { text } | Part::Refusal { text } => {
                    if !is_blank(text) {
                        blocks.push(block(said(text)));
                    }
                }
                // The wire takes no thought back that it has not signed.
                Part::Reasoning {
                    text,
                    signature: Some(signature),
                } => blocks.push(block(Content::Thinking {
                    signature,
                    thinking: text,
                })),
                Part::ToolCall(call) => blocks.push(block(tool_use(call))),
                Part::Provider { provider, data } if *provider == self.info.provider => {
                    self.own(data, &mut blocks);
                }
                Part::Reasoning { .. }
                | Part::Image { .. }
                | Part::File { .. }
                | Part::Provider { .. } => {}
            }
        }
        blocks
    }

    fn own<'a>(&self, data: &'a Value, blocks: &mut Vec<Block<'a>>) {
        if data.get("type").is_some() {
            blocks.push(block(Content::Provider(Sorted(data))));
        } else if let (Some(cited), Some(last)) = (data.get(CITATIONS), blocks.last_mut())
            && let Content::Text { citations, .. } = &mut last.content
        {
            *citations = Some(Sorted(cited));
        }
    }

    fn result<'a>(&self, message: &'a Message) -> Block<'a> {
        let Some(call) = answered(message) else {
            // Without its call it is no result; what it says is not lost.
            let text = message.content();
            return block(said(if is_blank(&text) {
                Cow::Borrowed(EMPTY)
            } else {
                Cow::Owned(text)
            }));
        };
        let failed = message
            .output
            .as_ref()
            .is_some_and(|output| output.error.is_some());
        block(Content::ToolResult {
            content: self.shown(message),
            is_error: failed,
            tool_use_id: wire_id(call.as_str()),
        })
    }
}

/// The application's words in the middle of a conversation, for which the wire has no role.
fn system(message: &Message) -> Vec<Block<'_>> {
    let text = message.content();
    if is_blank(&text) {
        return Vec::new();
    }
    vec![block(said(format!("<system>\n{text}\n</system>")))]
}

/// The input is an object on this wire.
fn tool_use(call: &ToolCall) -> Content<'_> {
    Content::ToolUse {
        id: wire_id(call.id.as_str()),
        input: object_arguments(&call.arguments),
        name: wire_name(SchemaDialect::Anthropic, &call.name),
    }
}
