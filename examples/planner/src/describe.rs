//! What this program says of itself, and the types of its flags: both are one table.

use outfitter_core::{Effect, Effects};
use serde_json::{Value, json};

/// One subcommand.
pub(crate) struct Subcommand {
    pub(crate) command: &'static str,
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) effects: Effects,
    pub(crate) args: Value,
    pub(crate) result: Value,
    pub(crate) ui: Value,
}

impl Subcommand {
    /// The word in the scope of a credential.
    pub(crate) fn scope(&self) -> String {
        format!("{}:{}", self.command, self.name)
    }
}

/// All of them.
pub(crate) fn subcommands() -> Vec<Subcommand> {
    let mut all = calendar();
    all.extend(crate::contacts::subcommands());
    all
}

fn calendar() -> Vec<Subcommand> {
    vec![
        Subcommand {
            command: "calendar",
            name: "read",
            summary: "Shows your events, the earliest first.",
            effects: Effects::READ,
            args: read_args(),
            result: json!({
                "type": "object",
                "properties": {
                    "events": { "type": "array", "items": event() },
                    "count": { "type": "integer", "minimum": 0 },
                    "more": { "type": "integer", "minimum": 1 },
                },
                "required": ["events", "count"],
                "additionalProperties": false,
            }),
            ui: events_table(),
        },
        Subcommand {
            command: "calendar",
            name: "write",
            summary: "Makes an event of yours (title and start), or changes or deletes one (id).",
            effects: Effects::of(&[Effect::Read, Effect::Write]),
            args: write_args(),
            result: json!({
                "type": "object",
                "properties": {
                    "action": { "enum": ["created", "updated", "deleted"] },
                    "event": event(),
                },
                "required": ["action", "event"],
                "additionalProperties": false,
            }),
            ui: one_event(),
        },
    ]
}

/// The answer to `describe`.
pub(crate) fn document() -> Value {
    let commands: Vec<Value> = subcommands()
        .into_iter()
        .map(|one| {
            json!({
                "command": one.command,
                "subcommand": one.name,
                "skill": one.command,
                "summary": one.summary,
                "effects": one.effects,
                "args": one.args,
                "result": one.result,
                "ui": one.ui,
            })
        })
        .collect();
    json!({ "v": 1, "name": "planner", "commands": commands })
}

fn when(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 64, "description": description })
}

fn read_args() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "Only this event." },
            "from": when("Only events that end after this: 2026-12-01 or 2026-12-01T09:00:00Z."),
            "to": when("Only events that begin before this."),
            "query": { "type": "string", "maxLength": 200, "description": "Only events with these words in the title, the place or the notes." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 200, "default": 50, "description": "How many at most." },
        },
        "additionalProperties": false,
    })
}

fn write_args() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "The event to change; left out for a new one." },
            "title": { "type": "string", "minLength": 1, "maxLength": 200, "description": "What it is called." },
            "start": when("When it begins: 2026-12-01T09:00:00Z."),
            "end": when("When it ends; an hour after it begins if left out."),
            "location": { "type": "string", "maxLength": 200, "description": "Where it is." },
            "notes": { "type": "string", "maxLength": 20000, "description": "What else is to be said of it." },
            "attendees": { "type": "array", "maxItems": 100, "items": { "type": "string", "minLength": 1, "maxLength": 200 }, "description": "Who else comes." },
            "if-revision": { "type": "integer", "minimum": 1, "description": "Only if it was not changed since this revision." },
            "delete": { "type": "boolean", "description": "Deletes the event." },
        },
        "anyOf": [{ "required": ["id"] }, { "required": ["title", "start"] }],
        "additionalProperties": false,
    })
}

fn event() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "title": { "type": "string" },
            "start": { "type": "string" },
            "end": { "type": "string" },
            "location": { "type": "string" },
            "notes": { "type": "string" },
            "attendees": { "type": "array", "items": { "type": "string" } },
            "revision": { "type": "integer", "minimum": 1 },
        },
        "required": ["id", "title", "start", "end", "revision"],
        "additionalProperties": false,
    })
}

fn fields() -> Value {
    json!([
        { "label": "Begins", "path": "/start", "format": "datetime" },
        { "label": "Ends", "path": "/end", "format": "datetime" },
        { "label": "What", "path": "/title" },
        { "label": "Where", "path": "/location" },
    ])
}

pub(crate) fn events_table() -> Value {
    json!({
        "template": "table",
        "title": "Calendar",
        "from": "/events",
        "columns": fields(),
        "empty": "No events",
    })
}

pub(crate) fn one_event() -> Value {
    json!({
        "template": "key_values",
        "title": "Event {/action}",
        "from": "/event",
        "entries": fields(),
    })
}
