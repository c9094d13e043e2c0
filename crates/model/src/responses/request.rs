//! A request as the body of the responses API. Fields are declared in the order of their names, so
//! that equal requests are equal bytes.

use std::borrow::Cow;

use outfitter_core::{Message, MessageRole, ModelError, ModelInfo, ModelRequest, Part, PartSource};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::conversation::{
    EMPTY, NO_VISION, NOT_LOADED, answered, is_blank, ordered, picture_in_words, wire_id,
};
use crate::json::{Sorted, unwritable};
use crate::shaping::{SchemaDialect, ShapedTool, ShapedTools, wire_name};

/// The sealed thoughts, which are only sent where they are asked for.
const SEALED_THOUGHTS: &[&str] = &["reasoning.encrypted_content"];

/// Models that have no thoughts and refuse to be asked for them.
const THOUGHTLESS: [&str; 3] = ["gpt-3", "gpt-4", "chatgpt-4"];

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    model: &'a str,
    store: bool,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        content: Vec<Content<'a>>,
        role: &'static str,
    },
    FunctionCall {
        arguments: &'a str,
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: Output<'a>,
    },
    #[serde(untagged)]
    Provider(Sorted<'a>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Content<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    InputText { text: Cow<'a, str> },
    InputImage { image_url: Cow<'a, str> },
    OutputText { annotations: [u8; 0], text: &'a str },
    Refusal { refusal: &'a str },
}

#[derive(Serialize)]
struct Tool<'a> {
    description: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Sorted<'a>>,
    /// What is taken of schemas is more than the strict mode takes, which is the default here.
    strict: bool,
    #[serde(rename = "type")]
    kind: &'static str,
}

/// The bytes of a request.
pub(super) fn body(
    info: &ModelInfo,
    request: &ModelRequest,
    shaped: &ShapedTools,
) -> Result<Vec<u8>, ModelError> {
    let writer = Writer { info };
    let thoughtless = THOUGHTLESS
        .iter()
        .any(|prefix| info.name.starts_with(prefix));
    let body = Body {
        include: if thoughtless { &[] } else { SEALED_THOUGHTS },
        input: writer.items(request),
        instructions: (!is_blank(&request.system)).then_some(&*request.system),
        model: &info.name,
        store: false,
        stream: true,
        tools: shaped.wire.as_deref(),
    };
    serde_json::to_vec(&body).map_err(|error| unwritable(&error))
}

/// The list of tools as it stands in a request.
pub(crate) fn tools(tools: &[ShapedTool]) -> serde_json::Result<Box<RawValue>> {
    let tools = tools.iter().map(|tool| Tool {
        description: &tool.description,
        name: &tool.name,
        parameters: tool.parameters.as_ref().map(Sorted),
        strict: false,
        kind: "function",
    });
    to_raw_value(&tools.collect::<Vec<_>>())
}

struct Writer<'i> {
    info: &'i ModelInfo,
}

impl Writer<'_> {
    fn items<'a>(&self, request: &'a ModelRequest) -> Vec<Item<'a>> {
        let mut items = Vec::with_capacity(request.messages.len());
        for message in ordered(&request.messages) {
            match message.role {
                MessageRole::User => items.push(self.said("user", message)),
                MessageRole::System => items.push(self.said("developer", message)),
                MessageRole::Assistant => self.assistant(message, &mut items),
                MessageRole::Tool => items.push(self.result(message)),
            }
        }
        items
    }

    fn said<'a>(&self, role: &'static str, message: &'a Message) -> Item<'a> {
        let mut content = self.shown(message);
        if content.is_empty() {
            content.push(Content::InputText { text: EMPTY.into() });
        }
        Item::Message { content, role }
    }

    /// Text and pictures.
    fn shown<'a>(&self, message: &'a Message) -> Vec<Content<'a>> {
        let content = message.parts.iter().filter_map(|part| match part {
            Part::Text { text } | Part::Refusal { text } if text.is_empty() => None,
            Part::Text { text } | Part::Refusal { text } => {
                Some(Content::InputText { text: text.into() })
            }
            Part::Image { mime, source } => Some(self.picture(mime, source)),
            Part::Reasoning { .. }
            | Part::ToolCall(_)
            | Part::File { .. }
            | Part::Provider { .. } => None,
        });
        content.collect()
    }

    fn picture<'a>(&self, mime: &str, source: &'a PartSource) -> Content<'a> {
        let words = |why| Content::InputText {
            text: picture_in_words(mime, source, why).into(),
        };
        let image_url = match source {
            _ if !self.info.vision => return words(NO_VISION),
            PartSource::Artifact { .. } => return words(NOT_LOADED),
            PartSource::Base64 { data } => format!("data:{mime};base64,{data}").into(),
            PartSource::Url { url } => Cow::Borrowed(url.as_str()),
        };
        Content::InputImage { image_url }
    }

    /// Items in the order in which they came. A sealed thought goes back only before what it led
    /// to: alone it is refused.
    fn assistant<'a>(&self, message: &'a Message, items: &mut Vec<Item<'a>>) {
        let mut thoughts: Vec<Item<'a>> = Vec::new();
        let before = items.len();
        for part in &message.parts {
            let item = match part {
                Part::Text { text } if is_blank(text) => continue,
                Part::Text { text } => message_item(Content::OutputText {
                    annotations: [],
                    text,
                }),
                Part::Refusal { text } => message_item(Content::Refusal { refusal: text }),
                Part::ToolCall(call) => Item::FunctionCall {
                    arguments: match call.arguments.trim() {
                        "" | "null" => "{}",
                        _ => &call.arguments,
                    },
                    call_id: wire_id(call.id.as_str()),
                    name: wire_name(SchemaDialect::OpenAiResponses, &call.name),
                },
                Part::Provider { provider, data } if *provider == self.info.provider => {
                    thoughts.push(Item::Provider(Sorted(data)));
                    continue;
                }
                Part::Reasoning { .. }
                | Part::Image { .. }
                | Part::File { .. }
                | Part::Provider { .. } => continue,
            };
            items.append(&mut thoughts);
            items.push(item);
        }
        if items.len() == before {
            items.push(message_item(Content::OutputText {
                annotations: [],
                text: EMPTY,
            }));
        }
    }

    fn result<'a>(&self, message: &'a Message) -> Item<'a> {
        let Some(call) = answered(message) else {
            // Without its call it is no result; what it says is not lost.
            return self.said("user", message);
        };
        let pictures = message
            .parts
            .iter()
            .any(|part| matches!(part, Part::Image { .. }));
        let output = if pictures {
            Output::Parts(self.shown(message))
        } else {
            Output::Text(match message.parts.as_slice() {
                [Part::Text { text }] => Cow::Borrowed(text.as_str()),
                _ => Cow::Owned(message.content()),
            })
        };
        Item::FunctionCallOutput {
            call_id: wire_id(call.as_str()),
            output,
        }
    }
}

fn message_item(content: Content<'_>) -> Item<'_> {
    Item::Message {
        content: vec![content],
        role: "assistant",
    }
}

/// Whether an item of a reply has to come back: a thought that is sealed in it.
pub(super) fn comes_back(item: &Value) -> bool {
    item.get("encrypted_content").is_some_and(Value::is_string)
}
