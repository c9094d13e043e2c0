//! What people read.

use std::fmt::Write as _;

use serde_json::Value;

use crate::describe::subcommands;

/// How the program is used.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "A calendar and contacts. Each sees what is theirs.\n\nusage: planner COMMAND SUBCOMMAND [--name=value …]\n",
    );
    for one in subcommands() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n  {} {}: {}", one.command, one.name, one.summary);
        let Some(properties) = one.args["properties"].as_object() else {
            continue;
        };
        for (name, property) in properties {
            let words = property["description"].as_str().unwrap_or_default();
            let _ = writeln!(text, "      --{name:<12} {words}");
        }
    }
    text.push_str(
        "\n  describe --json: what programs may call, as JSON\n\n\
         All of it is kept in PLANNER_DIR. With --json, input may come with --stdin as {\"args\":{…}}.\n",
    );
    text
}

/// A result as lines: an event or a contact each.
pub(crate) fn lines(result: &Value) -> String {
    contacts(result).unwrap_or_else(|| events(result))
}

/// What the contacts answered, if it is that.
fn contacts(result: &Value) -> Option<String> {
    let word = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let line = |one: &Value, id: &str| {
        let [name, platform, id] = ["name", "platform", id].map(|key| word(one, key));
        format!("{id}  {platform}  {name}\n")
    };
    if let Some(users) = result["users"].as_array() {
        if users.is_empty() {
            return Some("nobody\n".to_owned());
        }
        return Some(users.iter().map(|one| line(one, "user_id")).collect());
    }
    if let Some(contact) = result.get("contact") {
        let action = word(result, "action");
        return Some(format!("{action}:\n{}", line(contact, "id")));
    }
    if let Some(profile) = result.get("profile") {
        let known = ["name", "platform", "about"].map(|key| word(profile, key));
        return Some(format!(
            "{}  {}\n",
            word(result, "person_id"),
            known.join("  ")
        ));
    }
    result.get("value").map(|value| format!("{value}\n"))
}

fn events(result: &Value) -> String {
    let events: Vec<&Value> = match (&result["events"], &result["event"]) {
        (Value::Array(events), _) => events.iter().collect(),
        (_, event @ Value::Object(_)) => vec![event],
        _ => Vec::new(),
    };
    let mut text = String::new();
    if let Some(action) = result["action"].as_str() {
        let _ = writeln!(text, "{action}:");
    }
    for event in &events {
        let word = |name: &str| event[name].as_str().unwrap_or_default();
        let _ = write!(
            text,
            "{}  {}  {}  {}",
            word("id"),
            word("start"),
            word("end"),
            word("title")
        );
        if !word("location").is_empty() {
            let _ = write!(text, " ({})", word("location"));
        }
        text.push('\n');
    }
    if events.is_empty() {
        text.push_str("no events\n");
    }
    if let Some(more) = result["more"].as_u64() {
        let _ = writeln!(text, "and {more} more");
    }
    text
}
