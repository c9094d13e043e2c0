//! A client that keeps what it is told, as the reference client does.

use std::collections::BTreeMap;

use serde_json::{Value, json};

#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) messages: Vec<Value>,
    arguments: BTreeMap<String, String>,
}

impl Client {
    pub(crate) fn of(events: &[Value]) -> Self {
        let mut client = Self::default();
        events.iter().for_each(|event| client.take(event));
        client
    }

    fn message(&mut self, id: &str) -> &mut Value {
        self.messages
            .iter_mut()
            .find(|message| message["id"] == id)
            .unwrap()
    }

    pub(crate) fn take(&mut self, event: &Value) {
        let text = |key: &str| event[key].as_str().unwrap_or_default();
        match text("type") {
            "TEXT_MESSAGE_START" => self.messages.push(json!({
                "role": "assistant", "id": text("messageId"), "content": "",
            })),
            "TEXT_MESSAGE_CONTENT" => {
                let message = self.message(text("messageId"));
                let content = message["content"].as_str().unwrap().to_owned() + text("delta");
                message["content"] = json!(content);
            }
            "TOOL_CALL_START" => {
                let call = json!({
                    "id": text("toolCallId"), "type": "function",
                    "function": { "name": text("toolCallName"), "arguments": "" },
                });
                match event.get("parentMessageId").and_then(Value::as_str) {
                    Some(parent) => {
                        let calls = &mut self.message(parent)["toolCalls"];
                        match calls {
                            Value::Array(calls) => calls.push(call),
                            _ => *calls = json!([call]),
                        }
                    }
                    None => self.messages.push(json!({
                        "role": "assistant", "id": text("toolCallId"), "toolCalls": [call],
                    })),
                }
            }
            "TOOL_CALL_ARGS" => {
                let id = text("toolCallId").to_owned();
                let arguments = self.arguments.entry(id.clone()).or_default();
                arguments.push_str(text("delta"));
                let arguments = arguments.clone();
                for message in &mut self.messages {
                    let calls = message.get_mut("toolCalls").and_then(Value::as_array_mut);
                    for call in calls.into_iter().flatten() {
                        if call["id"] == *id {
                            call["function"]["arguments"] = json!(arguments);
                        }
                    }
                }
            }
            "TOOL_CALL_RESULT" => self.messages.push(json!({
                "role": "tool", "id": text("messageId"), "toolCallId": text("toolCallId"),
                "content": text("content"), "metadata": event["metadata"],
            })),
            "MESSAGES_SNAPSHOT" => {
                self.messages = event["messages"].as_array().unwrap().clone();
            }
            _ => {}
        }
    }

    /// What was said, but for the person's own words.
    pub(crate) fn replies(&self) -> Vec<Value> {
        let mut replies = self.messages.clone();
        replies.retain(|message| message["role"] != "user");
        replies
    }
}
