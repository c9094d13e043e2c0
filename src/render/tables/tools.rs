//! Tools.

use outfitter_codec::AuditStatus;
use outfitter_core::{Effect, Effects, Listing};
use serde_json::Value;

use super::columns::table;
use crate::render::text::{one_line, visible};
use crate::render::{Face, Ink};

/// The tools, one a line: name, role, effects, what it does.
#[must_use]
pub fn tools(listings: &[Listing], face: Face) -> String {
    if listings.is_empty() {
        return "there are no tools you may use\n".to_owned();
    }
    let rows = listings.iter().map(|tool| {
        [
            tool.name.to_string(),
            tool.min_role.to_string(),
            effects(tool.effects),
            one_line(first_sentence(&tool.description)),
        ]
    });
    table(["tool", "role", "effects", "what it does"], rows, face)
}

/// One tool: what it does, takes and gives.
#[must_use]
pub fn tool(tool: &Listing, face: Face) -> String {
    let heading = |text: &str| face.colour.paint(Ink::Quiet, text);
    let mut out = face.colour.paint(Ink::Name, tool.name.as_str());
    out.push_str(&format!(
        "\n{}\n\n{}  {}\n{}  {}\n{}  {}\n",
        visible(&tool.description),
        heading("source "),
        one_line(tool.source.as_str()),
        heading("role   "),
        tool.min_role,
        heading("effects"),
        effects(tool.effects),
    ));
    out.push_str(&format!("\n{}\n", heading("takes")));
    out.push_str(&parameters(&tool.input_schema));
    if let Some(schema) = &tool.output_schema {
        out.push_str(&format!("\n{}\n", heading("gives")));
        out.push_str(&parameters(schema));
    }
    out
}

/// Which tools are before the model of a session; nothing where it was asked nothing yet.
#[must_use]
pub fn audit(status: &AuditStatus<'_>, face: Face) -> String {
    if status.suggested_tools.is_empty() {
        return String::new();
    }
    let heading = |text: &str| face.colour.paint(Ink::Quiet, text);
    let names: Vec<String> = status
        .suggested_tools
        .iter()
        .map(|one| one_line(one))
        .collect();
    format!(
        "\n{}  {}\n{}   {}\n",
        heading("suggested tools"),
        names.join(", "),
        heading("tools expanded"),
        if status.tools_expanded { "yes" } else { "no" },
    )
}

fn effects(effects: Effects) -> String {
    let words: Vec<&str> = effects.iter().map(Effect::as_str).collect();
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(" ")
    }
}

fn first_sentence(text: &str) -> &str {
    match text.find(". ") {
        Some(end) => &text[..=end],
        None => text,
    }
}

/// The properties of a schema, one a line; those that must be there have a star.
fn parameters(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name)))
    };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "  (nothing in particular)\n".to_owned();
    };
    if properties.is_empty() {
        return "  (nothing)\n".to_owned();
    }
    let mut out = String::new();
    for (name, property) in properties {
        let star = if is_required(name) { "*" } else { "" };
        let about = property
            .get("description")
            .and_then(Value::as_str)
            .map(|text| format!("  {}", one_line(text)))
            .unwrap_or_default();
        let default = property
            .get("default")
            .filter(|default| !default.is_null())
            .map(|default| format!(" [default: {}]", one_line(&default.to_string())))
            .unwrap_or_default();
        let name = one_line(name);
        out.push_str(&format!(
            "  {name}{star}: {}{about}{default}\n",
            type_of(property)
        ));
    }
    out
}

/// The type of a property, for people.
fn type_of(property: &Value) -> String {
    if let Some(words) = property.get("enum").and_then(Value::as_array) {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return one_line(&words.join(" | "));
    }
    match property.get("type") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(Value::as_str)
            .filter(|word| *word != "null")
            .collect::<Vec<_>>()
            .join(" | "),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use outfitter_core::{Exposure, Role, SourceId, ToolName};
    use serde_json::json;

    use super::*;
    use crate::render::Colour;
    use crate::render::text::columns;

    const NARROW: Face = Face {
        terminal: true,
        colour: Colour::Off,
        width: Some(64),
    };

    fn listing(name: &str, role: Role, effects: &[Effect]) -> Listing {
        Listing {
            name: ToolName::new(name).unwrap(),
            source: SourceId::new("builtin").unwrap(),
            description: "Searches files for a pattern. Use it before reading them whole.".into(),
            input_schema: Arc::new(json!({
                "type": "object",
                "properties": {
                    "pattern": { "type": "string", "description": "What to\nsearch for" },
                    "mode": { "enum": ["content", "files"], "default": "content" },
                    "limit": { "type": ["integer", "null"], "default": 200 },
                },
                "required": ["pattern"],
            })),
            output_schema: Some(Arc::new(json!({
                "type": "object",
                "properties": { "count": { "type": "integer" } },
            }))),
            exposure: Exposure::Listed,
            min_role: role,
            effects: Effects::of(effects),
            presented: true,
        }
    }

    #[test]
    fn tools_are_a_table_that_fits() {
        let listings = [
            listing("grep", Role::User, &[Effect::Read]),
            listing(
                "execute_shell_command",
                Role::Admin,
                &[Effect::Read, Effect::Exec],
            ),
        ];
        let table = tools(&listings, NARROW);
        assert!(table.lines().all(|line| columns(line) <= 64), "{table}");
        insta::assert_snapshot!(table);
    }

    #[test]
    fn a_tool_says_what_it_takes_and_gives() {
        insta::assert_snapshot!(tool(&listing("grep", Role::User, &[Effect::Read]), NARROW));
    }

    #[test]
    fn no_tools_are_said_in_words_not_in_an_empty_table() {
        assert_eq!(tools(&[], NARROW), "there are no tools you may use\n");
    }
}
