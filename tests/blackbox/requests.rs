//! What a strict provider demands of a request.

use std::collections::HashSet;

use serde_json::Value;

use crate::wire::Wire;

/// Fails the test when the provider would refuse the request for its conversation.
#[track_caller]
pub(crate) fn assert_valid(wire: Wire, body: &Value) {
    let checked = match wire {
        Wire::OpenAi => openai(body),
        Wire::Anthropic => anthropic(body),
    };
    if let Err(why) = checked {
        panic!("a strict provider refuses this: {why}: {body:#}");
    }
}

/// The results of a request's calls, in its order: the id and the text.
pub(crate) fn results(wire: Wire, body: &Value) -> Vec<(String, String)> {
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut results = Vec::new();
    for message in array(&body["messages"]) {
        match wire {
            Wire::OpenAi if message["role"] == "tool" => {
                results.push((said(&message["tool_call_id"]), text_of(&message["content"])));
            }
            Wire::Anthropic => {
                let blocks = array(&message["content"]).iter();
                let of_tools = blocks.filter(|block| block["type"] == "tool_result");
                results.extend(
                    of_tools.map(|block| (said(&block["tool_use_id"]), text_of(&block["content"]))),
                );
            }
            Wire::OpenAi => {}
        }
    }
    results
}

/// The ids of a request's calls, in its order.
pub(crate) fn calls(wire: Wire, body: &Value) -> Vec<String> {
    let mut ids = Vec::new();
    for message in array(&body["messages"]) {
        let calls = match wire {
            Wire::OpenAi => array(&message["tool_calls"]),
            Wire::Anthropic => array(&message["content"]),
        };
        let calls = calls
            .iter()
            .filter(|call| wire == Wire::OpenAi || call["type"] == "tool_use");
        ids.extend(calls.map(|call| call["id"].as_str().unwrap().to_owned()));
    }
    ids
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => array(parts)
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
    }
}

fn openai(body: &Value) -> Result<(), String> {
    let messages = array(&body["messages"]);
    let mut seen = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().ok_or("a message without a role")?;
        if role == "tool" {
            let id = message["tool_call_id"].as_str().ok_or("no tool_call_id")?;
            if open.is_empty() || open.remove(0) != id {
                return Err(format!("message {at} is not the next result"));
            }
            if message["content"].is_null() {
                return Err(format!("the result {id} has no content"));
            }
            continue;
        }
        if let Some(id) = open.first() {
            return Err(format!("the call {id} has no result"));
        }
        match role {
            "system" if at != 0 => return Err("a system message in the middle".to_owned()),
            "system" => {}
            "user" => {
                if text_of(&message["content"]).is_empty() {
                    return Err(format!("message {at} of the user is empty"));
                }
            }
            "assistant" => {
                let calls = array(&message["tool_calls"]);
                if calls.is_empty() && text_of(&message["content"]).is_empty() {
                    return Err(format!("message {at} of the assistant is empty"));
                }
                for call in calls {
                    name(&call["function"]["name"])?;
                    if !call["function"]["arguments"].is_string() {
                        return Err("arguments are not text".to_owned());
                    }
                    let id = call["id"].as_str().filter(|id| !id.is_empty());
                    let id = id.ok_or("a call without an id")?.to_owned();
                    if !seen.insert(id.clone()) {
                        return Err(format!("the id {id} is used twice"));
                    }
                    open.push(id);
                }
            }
            other => return Err(format!("the role {other:?}")),
        }
    }
    match (open.first(), messages.last()) {
        (Some(id), _) => Err(format!("the call {id} has no result")),
        (None, Some(last)) if last["role"] == "assistant" => {
            Err("there is nothing to answer".to_owned())
        }
        (None, None) => Err("there are no messages".to_owned()),
        (None, Some(_)) => Ok(()),
    }
}

fn anthropic(body: &Value) -> Result<(), String> {
    let messages = array(&body["messages"]);
    let mut seen = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            return Err(format!("message {at} is not of the {expected}"));
        }
        let blocks = array(&message["content"]);
        if blocks.is_empty() {
            return Err(format!("message {at} is empty"));
        }
        for block in blocks {
            if at % 2 == 0 && !open.is_empty() && block["type"] != "tool_result" {
                return Err(format!("message {at} does not begin with all results"));
            }
            match block["type"].as_str().unwrap_or_default() {
                "text" => {
                    if text_of(&Value::from(vec![block.clone()])).trim().is_empty() {
                        return Err(format!("message {at} has an empty text"));
                    }
                }
                "tool_result" => {
                    let id = block["tool_use_id"].as_str().ok_or("no tool_use_id")?;
                    if open.is_empty() || open.remove(0) != id {
                        return Err(format!("{id} in message {at} is not the next result"));
                    }
                }
                "tool_use" => {
                    name(&block["name"])?;
                    if !block["input"].is_object() {
                        return Err("an input is no object".to_owned());
                    }
                    let id = block["id"].as_str().unwrap_or_default().to_owned();
                    name(&block["id"])?;
                    if !seen.insert(id.clone()) {
                        return Err(format!("the id {id} is used twice"));
                    }
                    open.push(id);
                }
                "thinking" if block["signature"].is_string() => {}
                other => return Err(format!("the block {other:?}")),
            }
        }
        if at % 2 == 0 && !open.is_empty() {
            return Err(format!("{open:?} has no result"));
        }
    }
    if messages.len().is_multiple_of(2) {
        return Err("there is nothing to answer".to_owned());
    }
    Ok(())
}

/// What providers accept as a name of a tool.
fn name(name: &Value) -> Result<(), String> {
    let text = name.as_str().ok_or("no name")?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
        Ok(())
    } else {
        Err(format!("the name {text:?}"))
    }
}
