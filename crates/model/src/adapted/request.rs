//! A request as the library has it.

use std::borrow::Cow;
use std::collections::HashMap;

use genai::chat::{
    ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolResponse,
};
use outfitter_core::{Message, MessageRole, ModelInfo, ModelRequest, Part, PartSource};
use serde_json::{Value, json};

use super::Adapter;
use crate::conversation::{
    EMPTY, NO_VISION, NOT_LOADED, answered, is_blank, ordered, picture_in_words, words,
};
use crate::json::object_arguments;
use crate::shaping::{SchemaDialect, ShapedTools, wire_name};

/// The key of a signature that stands by itself, in a provider's part.
pub(super) const SIGNATURE: &str = "thought_signature";
/// The key of the signatures of the call before them.
pub(super) const CALL_SIGNATURES: &str = "call_thought_signatures";

pub(super) struct Writer<'i> {
    pub(super) info: &'i ModelInfo,
    pub(super) adapter: Adapter,
    pub(super) dialect: SchemaDialect,
}

impl Writer<'_> {
    pub(super) fn request(&self, request: &ModelRequest, shaped: &ShapedTools) -> ChatRequest {
        let ordered = ordered(&request.messages);
        let opening = ordered
            .iter()
            .take_while(|one| one.role == MessageRole::System)
            .count();
        let mut system: Vec<Cow<'_, str>> = vec![Cow::Borrowed(&*request.system)];
        system.extend(ordered[..opening].iter().map(|one| Cow::Owned(words(one))));
        system.retain(|words| !is_blank(words));
        let mut chat = ChatRequest::default();
        if !system.is_empty() {
            chat = chat.with_system(system.join("\n\n"));
        }
        let mut names: HashMap<&str, String> = HashMap::new();
        // Results are text here; their pictures follow the last of them.
        let mut pictures: Vec<ContentPart> = Vec::new();
        for message in ordered.into_iter().skip(opening) {
            if message.role != MessageRole::Tool && !pictures.is_empty() {
                let parts = std::mem::take(&mut pictures);
                chat = chat.append_message(ChatMessage::user(MessageContent::from_parts(parts)));
            }
            for call in message.tool_calls() {
                let name = wire_name(self.dialect, &call.name).into_owned();
                names.insert(call.id.as_str(), name);
            }
            chat = chat.append_message(match message.role {
                MessageRole::User => ChatMessage::user(self.shown(message)),
                MessageRole::System => {
                    ChatMessage::user(format!("<system>\n{}\n</system>", words(message)))
                }
                MessageRole::Assistant => ChatMessage::assistant(self.assistant(message)),
                MessageRole::Tool => self.result(message, &names, &mut pictures),
            });
        }
        if !pictures.is_empty() {
            chat = chat.append_message(ChatMessage::user(MessageContent::from_parts(pictures)));
        }
        if shaped.tools.is_empty() {
            return chat;
        }
        chat.with_tools(shaped.tools.iter().map(|tool| {
            let schema = tool.parameters.clone();
            Tool::new(tool.name.as_str())
                .with_description(&*tool.description)
                .with_schema(schema.unwrap_or_else(|| json!({"type": "object", "properties": {}})))
        }))
    }

    fn shown(&self, message: &Message) -> MessageContent {
        let parts = message.parts.iter().filter_map(|part| match part {
            Part::Text { text } | Part::Refusal { text } if is_blank(text) => None,
            Part::Text { text } | Part::Refusal { text } => Some(ContentPart::from_text(text)),
            Part::Image { mime, source } => Some(self.picture(mime, source)),
            Part::Reasoning { .. }
            | Part::ToolCall(_)
            | Part::File { .. }
            | Part::Provider { .. } => None,
        });
        let mut parts: Vec<ContentPart> = parts.collect();
        if parts.is_empty() {
            parts.push(ContentPart::from_text(EMPTY));
        }
        MessageContent::from_parts(parts)
    }

    fn picture(&self, mime: &str, source: &PartSource) -> ContentPart {
        let words = |why| ContentPart::from_text(picture_in_words(mime, source, why));
        match (source, self.adapter) {
            _ if !self.info.vision => words(NO_VISION),
            (PartSource::Base64 { data }, _) => {
                ContentPart::from_binary_base64(mime, data.as_str(), None)
            }
            (PartSource::Url { url }, Adapter::Gemini | Adapter::Vertex) => {
                ContentPart::from_binary_url(mime, url.as_str(), None)
            }
            // These take the bytes only.
            (PartSource::Url { .. }, Adapter::Ollama | Adapter::Bedrock)
            | (PartSource::Artifact { .. }, _) => words(NOT_LOADED),
        }
    }

    fn assistant(&self, message: &Message) -> MessageContent {
        let mut parts: Vec<ContentPart> = Vec::with_capacity(message.parts.len());
        for part in &message.parts {
            match part {
                Part::Text { text } | Part::Refusal { text } => {
                    if !is_blank(text) {
                        parts.push(ContentPart::from_text(text));
                    }
                }
                Part::Reasoning {
                    text,
                    signature: Some(signature),
                } if self.adapter == Adapter::Bedrock => {
                    parts.push(ContentPart::ThoughtSignature(signature.clone()));
                    if !text.is_empty() {
                        parts.push(ContentPart::ReasoningContent(text.clone()));
                    }
                }
                Part::ToolCall(call) => {
                    let input = object_arguments(&call.arguments);
                    parts.push(ContentPart::ToolCall(ToolCall {
                        call_id: call.id.as_str().to_owned(),
                        fn_name: wire_name(self.dialect, &call.name).into_owned(),
                        fn_arguments: serde_json::from_str(input.get())
                            .unwrap_or_else(|_| json!({})),
                        thought_signatures: None,
                    }));
                }
                Part::Provider { provider, data } if *provider == self.info.provider => {
                    own(data, &mut parts);
                }
                Part::Reasoning { .. }
                | Part::Image { .. }
                | Part::File { .. }
                | Part::Provider { .. } => {}
            }
        }
        if parts.is_empty() {
            parts.push(ContentPart::from_text(EMPTY));
        }
        MessageContent::from_parts(parts)
    }

    fn result(
        &self,
        message: &Message,
        names: &HashMap<&str, String>,
        pictures: &mut Vec<ContentPart>,
    ) -> ChatMessage {
        let Some(call) = answered(message) else {
            // Without its call it is no result; what it says is not lost.
            return ChatMessage::user(self.shown(message));
        };
        let said = if self.info.vision {
            pictures.extend(message.parts.iter().filter_map(|part| match part {
                Part::Image { mime, source } => Some(self.picture(mime, source)),
                Part::Text { .. }
                | Part::Refusal { .. }
                | Part::Reasoning { .. }
                | Part::ToolCall(_)
                | Part::File { .. }
                | Part::Provider { .. } => None,
            }));
            message.content()
        } else {
            words(message)
        };
        let response = ToolResponse::new(call.as_str(), said);
        ChatMessage::from(match names.get(call.as_str()) {
            Some(name) => response.with_fn_name(name),
            None => response,
        })
    }
}

/// What came from the provider, in its place again.
fn own(data: &Value, parts: &mut Vec<ContentPart>) {
    if let Some(signature) = data.get(SIGNATURE).and_then(Value::as_str) {
        parts.push(ContentPart::ThoughtSignature(signature.to_owned()));
    } else if let (Some(signatures), Some(ContentPart::ToolCall(call))) = (
        data.get(CALL_SIGNATURES).and_then(Value::as_array),
        parts.last_mut(),
    ) {
        let signatures = signatures.iter().filter_map(Value::as_str);
        call.thought_signatures = Some(signatures.map(str::to_owned).collect());
    }
}
