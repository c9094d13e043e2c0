//! Each row of what OpenAI-compatible servers send.

mod endings;
mod replies;

use serde_json::json;

use crate::common::{Outcome, answer};
use crate::fake::{Step, stream};

const DONE: &str = "data: [DONE]\n\n";

fn event(chunk: &serde_json::Value) -> String {
    format!("data: {chunk}\n\n")
}

fn delta(delta: &serde_json::Value) -> String {
    event(
        &json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
    )
}

fn finish(reason: &str) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

fn call(index: u64, id: &str, name: &str, arguments: &str) -> serde_json::Value {
    let mut call = json!({"index": index, "function": {}});
    if !id.is_empty() {
        call["id"] = json!(id);
        call["type"] = json!("function");
    }
    if !name.is_empty() {
        call["function"]["name"] = json!(name);
    }
    call["function"]["arguments"] = json!(arguments);
    call
}

fn calls(list: &[serde_json::Value]) -> String {
    delta(&json!({"tool_calls": list}))
}

async fn openai(steps: Vec<Step>) -> Outcome {
    answer("openai", steps).await
}

/// A stream of these events and a proper end.
async fn reply(events: &[String], reason: &str) -> Outcome {
    let body = [events.concat(), finish(reason), DONE.to_owned()].concat();
    openai(stream(&body)).await.whole()
}

const TEXT: &str = "Grüße, 你好, 🙂 and a good day to all of you.";

fn text_events() -> String {
    let characters: Vec<char> = TEXT.chars().collect();
    let mut body = delta(&json!({"role": "assistant", "content": ""}));
    for piece in characters.chunks(7) {
        body += &delta(&json!({"content": piece.iter().collect::<String>()}));
    }
    body + &finish("stop") + DONE
}
