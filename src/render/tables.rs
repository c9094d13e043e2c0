//! Lists of tools and sessions.

use outfitter_codec::{AuditStatus, JobLine};
use std::sync::Arc;

use outfitter_core::{
    Effect, Effects, Interrupt, InterruptKind, Listing, SessionSummary, StandingApproval, UnixMs,
};
use serde_json::Value;

use super::text::{clip, columns, one_line};
use super::{Face, Ink};

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
        super::text::visible(&tool.description),
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

/// The sessions, one a line.
#[must_use]
pub fn sessions(sessions: &[(SessionSummary, Vec<Arc<Interrupt>>)], face: Face) -> String {
    if sessions.is_empty() {
        return "there are no sessions\n".to_owned();
    }
    let rows = sessions.iter().map(|(session, _)| {
        [
            session.id.to_string(),
            minute(session.updated),
            minute(session.created),
            super::units::grouped(session.entries),
        ]
    });
    let mut text = table(
        ["session", "changed (UTC)", "begun (UTC)", "entries"],
        rows,
        face,
    );
    for (session, asked) in sessions {
        if !asked.is_empty() {
            text.push_str(&format!("\n{} waits\n", session.id));
            text.push_str(&asked_lines(asked, face));
        }
    }
    text
}

/// The commands of a session that go on or did so, the last started first; nothing where there are
/// none.
#[must_use]
pub fn jobs(jobs: &[JobLine], face: Face) -> String {
    if jobs.is_empty() {
        return String::new();
    }
    let rows = jobs.iter().map(|job| {
        let how = match &job.ended {
            Some(how) => format!("{}, {how}", job.status),
            None => job.status.to_owned(),
        };
        [
            job.task_id.clone(),
            minute(UnixMs(job.started)),
            how,
            one_line(&job.command),
        ]
    });
    let header = ["command of it", "started (UTC)", "state", "line"];
    format!("\n{}", table(header, rows, face))
}

/// What a session waits for, and how it is answered; nothing where it waits for nothing.
#[must_use]
pub fn waiting(asked: &[Arc<Interrupt>], face: Face) -> String {
    if asked.is_empty() {
        return String::new();
    }
    format!(
        "\n{}\n{}",
        face.colour.paint(Ink::Quiet, "it waits"),
        asked_lines(asked, face)
    )
}

fn asked_lines(asked: &[Arc<Interrupt>], face: Face) -> String {
    let mut text = String::new();
    for asked in asked {
        let what = match &asked.kind {
            InterruptKind::Question { question, .. } => one_line(question),
            InterruptKind::Approval { reason } => {
                format!("an approval, because {}", one_line(reason))
            }
            InterruptKind::Delay => "for time to pass".to_owned(),
            InterruptKind::Remote { what } => one_line(what),
        };
        let until = minute(asked.expires);
        text.push_str(&format!("  {}  {what} (until {until} UTC)\n", asked.id));
        if let Some(value) = outfitter_codec::answer_words(asked) {
            let hint = format!("hint: outfitter sessions answer {} {value}", asked.id);
            text.push_str(&format!("  {}\n", face.colour.paint(Ink::Quiet, &hint)));
        }
    }
    text
}

/// Approvals that hold beyond their session, one a line.
#[must_use]
pub fn approvals(approvals: &[StandingApproval], face: Face) -> String {
    if approvals.is_empty() {
        return "there are no approvals that hold beyond their session\n".to_owned();
    }
    let rows = approvals.iter().map(|approval| {
        [
            approval.id.to_string(),
            minute(approval.expires),
            approval.tool.to_string(),
            one_line(&approval.what.join("; ")),
            one_line(&approval.place),
        ]
    });
    table(
        ["approval", "until (UTC)", "tool", "what", "where"],
        rows,
        face,
    )
}

/// What calls kept, one a line: id, session, media type, bytes, name.
#[must_use]
pub fn artifacts(rows: Vec<[String; 5]>, face: Face) -> String {
    if rows.is_empty() {
        return "there are no artifacts\n".to_owned();
    }
    let rows = rows.into_iter().map(|row| row.map(|cell| one_line(&cell)));
    table(["artifact", "session", "type", "bytes", "name"], rows, face)
}

/// The skills, one a line: name, when it is loaded, what it is about.
#[must_use]
pub fn skills(rows: Vec<[String; 3]>, face: Face) -> String {
    if rows.is_empty() {
        return "there are no skills\n".to_owned();
    }
    let rows = rows.into_iter().map(|row| row.map(|cell| one_line(&cell)));
    table(["skill", "loaded", "what it is about"], rows, face)
}

/// One skill: its name and description, what is known of it, its instructions.
#[must_use]
pub fn skill(
    [name, description]: [&str; 2],
    facts: &[(&str, Vec<String>)],
    instructions: &str,
    face: Face,
) -> String {
    let mut out = face.colour.paint(Ink::Name, &one_line(name));
    out.push_str(&format!("\n{}\n\n", super::text::visible(description)));
    for (what, values) in facts.iter().filter(|(_, values)| !values.is_empty()) {
        let what = face.colour.paint(Ink::Quiet, &format!("{what:<9}"));
        out.push_str(&format!("{what}  {}\n", one_line(&values.join(", "))));
    }
    out.push_str(&format!(
        "\n{}\n",
        super::text::visible(instructions).trim_end()
    ));
    out
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

/// Columns as wide as their widest cell; the last one is cut to what is left of the line.
fn table<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    face: Face,
) -> String {
    let rows: Vec<[String; N]> = rows.into_iter().collect();
    let widths: [usize; N] = std::array::from_fn(|at| {
        let cells = rows.iter().map(|row| columns(&row[at]));
        cells.max().unwrap_or(0).max(columns(head[at]))
    });
    let line = |cells: [&str; N], ink: Ink| {
        let mut out = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let ink = if at == 0 && ink == Ink::Plain {
                Ink::Name
            } else {
                ink
            };
            if at + 1 == N {
                let left = face.width.map_or(usize::MAX, |width| {
                    width.saturating_sub(columns_before(&widths))
                });
                face.colour
                    .paint_into(&mut out, ink, &clip(cell, left.max(16)));
            } else {
                face.colour.paint_into(&mut out, ink, cell);
                out.push_str(&" ".repeat(widths[at] - columns(cell) + 2));
            }
        }
        out.push('\n');
        out
    };
    let mut out = line(head, Ink::Quiet);
    for row in &rows {
        out.push_str(&line(
            std::array::from_fn(|at| row[at].as_str()),
            Ink::Plain,
        ));
    }
    out
}

/// How many columns stand before the last one.
fn columns_before(widths: &[usize]) -> usize {
    let before = widths.split_last().map_or(&[][..], |(_, before)| before);
    before.iter().map(|width| width + 2).sum()
}

/// An instant to the minute, in UTC.
fn minute(at: UnixMs) -> String {
    let at = i64::try_from(at.0)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    at.map_or_else(
        || "?".to_owned(),
        |at| at.strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use outfitter_core::{Exposure, Role, SessionId, SourceId, ToolName};
    use serde_json::json;

    use super::*;
    use crate::render::Colour;

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
    fn sessions_are_a_table() {
        let session = |id: &str, entries| {
            (
                SessionSummary {
                    id: SessionId::new(id).unwrap(),
                    created: UnixMs(1_700_000_000_000),
                    updated: UnixMs(1_700_000_100_000),
                    entries,
                },
                Vec::new(),
            )
        };
        let table = sessions(&[session("cli", 12), session("fix-42", 12_345)], NARROW);
        insta::assert_snapshot!(table);
    }

    #[test]
    fn nothing_is_said_in_words_not_in_an_empty_table() {
        assert_eq!(tools(&[], NARROW), "there are no tools you may use\n");
        assert_eq!(sessions(&[], NARROW), "there are no sessions\n");
    }
}
