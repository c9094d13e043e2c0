//! The order of AG-UI events, as a checker: what reference clients refuse a run for, and what they
//! would let pass and get wrong.
//!
//! It is for tests and for debugging, and reads events as they are on the wire.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A broken rule, and at which event, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("AG-UI event {at}: {rule}")]
pub struct AguiFault {
    /// At which event.
    pub at: usize,
    /// Which rule.
    pub rule: String,
}

/// Checks the events of the runs of one thread, one by one. A new run may follow the end of one.
#[derive(Debug, Default)]
pub struct AguiOrder {
    at: usize,
    run: Option<(String, String)>,
    running: bool,
    open: BTreeMap<Kind, BTreeSet<String>>,
    /// Ids that were used in the thread and must not begin again.
    used: BTreeSet<(Kind, String)>,
    /// The arguments of open calls so far.
    arguments: BTreeMap<String, String>,
    /// Calls of the thread: whether each has its result.
    calls: BTreeMap<String, bool>,
    activities: BTreeMap<String, Value>,
    /// What the last event of the run was, for the end of a run that waits.
    snapshots: (bool, bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Text,
    Call,
    Span,
    Thought,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Text => "text message",
            Self::Call => "tool call",
            Self::Span => "reasoning span",
            Self::Thought => "reasoning message",
        }
    }
}

/// Checks the whole stream of one run.
///
/// # Errors
/// The first rule that is broken; also a run without an end.
pub fn check_agui_events(events: &[Value]) -> Result<(), AguiFault> {
    let mut order = AguiOrder::default();
    events.iter().try_for_each(|event| order.event(event))?;
    order.end()
}

impl AguiOrder {
    /// Takes the next event.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn event(&mut self, event: &Value) -> Result<(), AguiFault> {
        self.at += 1;
        self.step(event)
            .map_err(|rule| AguiFault { at: self.at, rule })
    }

    /// Says that there are no more.
    ///
    /// # Errors
    /// A run that has no end.
    pub fn end(&self) -> Result<(), AguiFault> {
        if self.running || self.run.is_none() {
            let rule = "the run has no terminal event".to_owned();
            return Err(AguiFault { at: self.at, rule });
        }
        Ok(())
    }

    fn step(&mut self, event: &Value) -> Result<(), String> {
        no_null_optional(event)?;
        if !event.get("timestamp").is_some_and(Value::is_u64) {
            return Err("timestamp must be an integer".to_owned());
        }
        let kind = text(event, "type")?;
        if kind != "RUN_STARTED" && !self.running {
            return Err(format!("{kind} outside a run"));
        }
        match kind {
            "RUN_STARTED" => self.start(event),
            "RUN_FINISHED" => self.finish(event),
            "RUN_ERROR" => {
                text(event, "message")?;
                text(event, "code")?;
                self.all_closed()?;
                self.running = false;
                Ok(())
            }
            "TEXT_MESSAGE_START" => self.begin(Kind::Text, text(event, "messageId")?),
            "TEXT_MESSAGE_CONTENT" => self.goes_on(Kind::Text, event, "messageId"),
            "TEXT_MESSAGE_END" => self.close(Kind::Text, text(event, "messageId")?),
            "REASONING_START" => self.begin(Kind::Span, text(event, "messageId")?),
            "REASONING_END" => self.close(Kind::Span, text(event, "messageId")?),
            "REASONING_MESSAGE_START" => self.begin(Kind::Thought, text(event, "messageId")?),
            "REASONING_MESSAGE_CONTENT" => self.goes_on(Kind::Thought, event, "messageId"),
            "REASONING_MESSAGE_END" => self.close(Kind::Thought, text(event, "messageId")?),
            "TOOL_CALL_START" => {
                let call = text(event, "toolCallId")?;
                text(event, "toolCallName")?;
                if let Some(parent) = event.get("parentMessageId") {
                    let parent = parent.as_str().unwrap_or_default().to_owned();
                    if !self.used.contains(&(Kind::Text, parent.clone())) {
                        return Err(format!("the parent {parent} was not sent"));
                    }
                }
                self.begin(Kind::Call, call)?;
                self.arguments.insert(call.to_owned(), String::new());
                self.calls.insert(call.to_owned(), false);
                Ok(())
            }
            "TOOL_CALL_ARGS" => {
                self.goes_on(Kind::Call, event, "toolCallId")?;
                let call = text(event, "toolCallId")?;
                let arguments = self.arguments.entry(call.to_owned()).or_default();
                arguments.push_str(text(event, "delta")?);
                Ok(())
            }
            "TOOL_CALL_END" => {
                let call = text(event, "toolCallId")?;
                self.close(Kind::Call, call)?;
                let arguments = self.arguments.remove(call).unwrap_or_default();
                match serde_json::from_str::<Value>(&arguments) {
                    Ok(Value::Object(_)) => Ok(()),
                    _ => Err(format!("the arguments of {call} are no JSON object")),
                }
            }
            "TOOL_CALL_RESULT" => self.result(event),
            "STATE_SNAPSHOT" => {
                self.snapshots.0 = true;
                match event.get("snapshot") {
                    Some(_) => Ok(()),
                    None => Err("a state snapshot has no snapshot".to_owned()),
                }
            }
            "MESSAGES_SNAPSHOT" => {
                self.snapshots.1 = true;
                self.messages(event)
            }
            "ACTIVITY_SNAPSHOT" => {
                let content = event.get("content").filter(|content| content.is_object());
                let content = content.ok_or("the content of an activity is an object")?;
                text(event, "activityType")?;
                let id = text(event, "messageId")?;
                self.activities.insert(id.to_owned(), content.clone());
                Ok(())
            }
            "ACTIVITY_DELTA" => {
                let id = text(event, "messageId")?;
                let patch = event.get("patch").and_then(Value::as_array);
                let patch = patch.ok_or("the patch of an activity is a list")?;
                let content = self.activities.get_mut(id);
                let content = content.ok_or_else(|| format!("there is no activity {id}"))?;
                patch.iter().try_for_each(|op| apply(content, op))
            }
            "CUSTOM" => {
                let name = text(event, "name")?;
                if !name.starts_with("outfitter.") || event.get("value").is_none() {
                    return Err(format!("the custom event {name} has no namespace or value"));
                }
                Ok(())
            }
            other => Err(format!("{other} is not an event that is sent")),
        }
    }

    /// What an activity holds now, for tests of what clients see.
    #[must_use]
    pub fn activity(&self, id: &str) -> Option<&Value> {
        self.activities.get(id)
    }

    fn start(&mut self, event: &Value) -> Result<(), String> {
        if self.running {
            return Err("a run begins inside a run".to_owned());
        }
        let ids = (text(event, "threadId")?, text(event, "runId")?);
        self.run = Some((ids.0.to_owned(), ids.1.to_owned()));
        self.running = true;
        self.snapshots = (false, false);
        Ok(())
    }

    fn finish(&mut self, event: &Value) -> Result<(), String> {
        let ids = (
            text(event, "threadId")?.to_owned(),
            text(event, "runId")?.to_owned(),
        );
        if self.run.as_ref() != Some(&ids) {
            return Err("the run ends under another id".to_owned());
        }
        self.all_closed()?;
        let outcome = event.get("outcome").ok_or("there is no outcome")?;
        match text(outcome, "type")? {
            "success" | "cancelled" => {}
            "interrupt" => {
                if self.snapshots != (true, true) {
                    return Err("a run that waits tells its state and messages".to_owned());
                }
                let interrupts = outcome.get("interrupts").and_then(Value::as_array);
                let interrupts = interrupts.filter(|list| !list.is_empty());
                for interrupt in interrupts.ok_or("there are no interrupts")? {
                    text(interrupt, "id")?;
                    text(interrupt, "reason")?;
                }
            }
            other => return Err(format!("there is no outcome {other}")),
        }
        self.running = false;
        Ok(())
    }

    fn all_closed(&self) -> Result<(), String> {
        let open = self.open.iter().find_map(|(kind, ids)| {
            let id = ids.first()?;
            Some(format!("the {} {id} is open at the end", kind.word()))
        });
        if let Some(rule) = open {
            return Err(rule);
        }
        let printing = self
            .activities
            .iter()
            .find(|(_, content)| content.get("closed") == Some(&Value::Bool(false)));
        match printing {
            Some((id, _)) => Err(format!("the activity {id} is open at the end")),
            None => Ok(()),
        }
    }

    fn begin(&mut self, kind: Kind, id: &str) -> Result<(), String> {
        if !self.used.insert((kind, id.to_owned())) {
            return Err(format!("the {} {id} began before", kind.word()));
        }
        self.open.entry(kind).or_default().insert(id.to_owned());
        Ok(())
    }

    fn goes_on(&self, kind: Kind, event: &Value, key: &str) -> Result<(), String> {
        let id = text(event, key)?;
        if text(event, "delta")?.is_empty() {
            return Err(format!("a piece of the {} {id} is empty", kind.word()));
        }
        match self.open.get(&kind) {
            Some(open) if open.contains(id) => Ok(()),
            _ => Err(format!("the {} {id} is not open", kind.word())),
        }
    }

    fn close(&mut self, kind: Kind, id: &str) -> Result<(), String> {
        let open = self.open.get_mut(&kind);
        match open.is_some_and(|open| open.remove(id)) {
            true => Ok(()),
            false => Err(format!("the {} {id} is not open", kind.word())),
        }
    }

    fn result(&mut self, event: &Value) -> Result<(), String> {
        let (id, call) = (text(event, "messageId")?, text(event, "toolCallId")?);
        text(event, "content")?;
        if self
            .open
            .get(&Kind::Call)
            .is_some_and(|open| open.contains(call))
        {
            return Err(format!("the result of {call} comes before its end"));
        }
        match self.calls.insert(call.to_owned(), true) {
            Some(false) => {}
            Some(true) => return Err(format!("the call {call} has two results")),
            None => return Err(format!("the call {call} was not told")),
        }
        match self.used.insert((Kind::Text, id.to_owned())) {
            true => Ok(()),
            false => Err(format!("the message {id} was there before")),
        }
    }

    /// A snapshot tells what a client knows from then on.
    fn messages(&mut self, event: &Value) -> Result<(), String> {
        let messages = event.get("messages").and_then(Value::as_array);
        let mut ids = BTreeSet::new();
        for message in messages.ok_or("a snapshot has no messages")? {
            let id = text(message, "id")?;
            if !ids.insert(id) {
                return Err(format!("the message {id} is twice in the snapshot"));
            }
            self.used.insert((Kind::Text, id.to_owned()));
            match text(message, "role")? {
                "tool" => {
                    let call = text(message, "toolCallId")?;
                    self.calls.insert(call.to_owned(), true);
                }
                "assistant" => {
                    let calls = message.get("toolCalls").and_then(Value::as_array);
                    for call in calls.into_iter().flatten() {
                        let id = text(call, "id")?;
                        self.calls.entry(id.to_owned()).or_insert(false);
                        self.used.insert((Kind::Call, id.to_owned()));
                    }
                }
                "user" => {}
                other => return Err(format!("{other} is no role of a snapshot")),
            }
        }
        Ok(())
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    value
        .get(key)
        .and_then(Value::as_str)
        .ok_or_else(|| format!("{key} must be a text"))
}

/// Only what is any JSON may be null, and AG-UI has that in three places of what we send.
fn no_null_optional(event: &Value) -> Result<(), String> {
    let null = event.as_object().and_then(|fields| {
        let mut fields = fields.iter();
        fields.find(|(key, value)| value.is_null() && *key != "snapshot")
    });
    match null {
        Some((key, _)) => Err(format!("{key} is null")),
        None => Ok(()),
    }
}

/// The three operations that are sent, on the paths that are sent.
fn apply(content: &mut Value, op: &Value) -> Result<(), String> {
    let path = text(op, "path")?;
    let fault = || format!("{op} cannot be applied");
    match (text(op, "op")?, path) {
        ("add", "/pieces/-") => {
            let pieces = content.get_mut("pieces").and_then(Value::as_array_mut);
            let value = op.get("value").ok_or_else(fault)?;
            pieces.ok_or_else(fault)?.push(value.clone());
        }
        ("remove", "/pieces/0") => {
            let pieces = content.get_mut("pieces").and_then(Value::as_array_mut);
            let pieces = pieces.filter(|pieces| !pieces.is_empty());
            pieces.ok_or_else(fault)?.remove(0);
        }
        ("replace", "/closed" | "/omitted_bytes") => {
            let value = op.get("value").ok_or_else(fault)?;
            *content.pointer_mut(path).ok_or_else(fault)? = value.clone();
        }
        _ => return Err(fault()),
    }
    Ok(())
}
