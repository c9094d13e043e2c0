//! What the contacts say of themselves.

use outfitter_core::{Effect, Effects};
use serde_json::{Value, json};

use super::ask::MOST;
use crate::describe::Subcommand;

/// All subcommands of the contacts.
pub(crate) fn subcommands() -> Vec<Subcommand> {
    let contacts = |name, summary, effects, args, result, ui| Subcommand {
        command: "contacts",
        name,
        summary,
        effects,
        args,
        result,
        ui,
    };
    vec![
        contacts(
            "search",
            "Finds those of your contacts whose name, id or group has a keyword in it.",
            Effects::READ,
            closed(
                &["keyword"],
                &json!({
                    "keyword": text(100, "What to look for."),
                    "limit": { "type": "integer", "minimum": 1, "maximum": MOST, "default": 20, "description": "How many at most." },
                }),
            ),
            closed(
                &["users"],
                &json!({ "users": { "type": "array", "items": user() } }),
            ),
            people_table(),
        ),
        contacts(
            "person",
            "Shows what is known of one of your contacts, by the whole name.",
            Effects::READ,
            closed(
                &["name"],
                &json!({ "name": text(200, "What they are called.") }),
            ),
            closed(
                &["person_id", "profile"],
                &json!({ "person_id": { "type": "string" }, "profile": { "type": "object" } }),
            ),
            one_value("Person", "/profile/about"),
        ),
        contacts(
            "frequency",
            "Shows how often you should speak in a conversation.",
            Effects::READ,
            closed(
                &["chat"],
                &json!({ "chat": text(256, "Which conversation.") }),
            ),
            closed(&["value"], &json!({ "value": { "type": "number" } })),
            one_value("Frequency", "/value"),
        ),
        contacts(
            "add",
            "Adds a contact of yours, or replaces the one with this id on this platform.",
            Effects::of(&[Effect::Read, Effect::Write]),
            closed(
                &["id", "name", "platform"],
                &json!({
                    "id": text(200, "Their id on the platform."),
                    "name": text(200, "What they are called."),
                    "platform": text(64, "Where they are."),
                    "conversation": text(256, "The conversation with them."),
                    "groups": { "type": "array", "maxItems": 100, "items": { "type": "string", "minLength": 1, "maxLength": 200 }, "description": "The groups they are in." },
                    "about": text(20_000, "What is known of them."),
                    "frequency": { "type": "number", "minimum": 0, "description": "How often to speak with them; 1 is as usual." },
                }),
            ),
            closed(
                &["action", "contact"],
                &json!({
                    "action": { "enum": ["added", "replaced"] },
                    "contact": closed(
                        &["id", "name", "platform"],
                        &json!({
                            "id": { "type": "string" },
                            "name": { "type": "string" },
                            "platform": { "type": "string" },
                        }),
                    ),
                }),
            ),
            one_contact(),
        ),
    ]
}

fn closed(required: &[&str], properties: &Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn text(most: usize, description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most, "description": description })
}

fn user() -> Value {
    closed(
        &["user_id", "name", "platform"],
        &json!({
            "user_id": { "type": "string" },
            "name": { "type": "string" },
            "platform": { "type": "string" },
            "stream_id": { "type": "string" },
        }),
    )
}

pub(super) fn people_table() -> Value {
    json!({
        "template": "table",
        "title": "Contacts",
        "from": "/users",
        "columns": [
            { "label": "Name", "path": "/name" },
            { "label": "Where", "path": "/platform" },
            { "label": "Id", "path": "/user_id" },
        ],
        "empty": "Nobody",
    })
}

pub(super) fn one_contact() -> Value {
    json!({
        "template": "key_values",
        "title": "Contact {/action}",
        "from": "/contact",
        "entries": [
            { "label": "Name", "path": "/name" },
            { "label": "Where", "path": "/platform" },
            { "label": "Id", "path": "/id" },
        ],
    })
}

pub(super) fn one_value(title: &str, path: &str) -> Value {
    json!({
        "template": "key_values",
        "title": title,
        "entries": [{ "label": title, "path": path }],
    })
}
