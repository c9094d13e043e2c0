//! The lines of a call: what is called, and what came of it.

use outfitter_core::ToolOutput;
use serde_json::Value;

use super::arguments::telling;
use super::outcome::{Seen, told};
use super::text::{clip, columns, one_line, visible};
use super::{Colour, Detail, Face, Ink, ui, units};

/// A call that took less is not said to have taken time.
const TELLING_MS: u64 = 100;

/// How many lines of a change are shown.
const DIFF_LINES: usize = 12;

/// How many lines are shown of anything when more is asked for.
const FULL_LINES: usize = 200;

/// The line that says what is called.
pub(super) fn call_line(face: Face, label: &str, tool: &str, arguments: &Value) -> String {
    let label = one_line(label);
    let taken = columns(&label) + 4;
    let arguments = telling(tool, arguments);
    let arguments = fit(face, &arguments, taken);
    let mut line = face.colour.paint(Ink::Active, "●");
    line.push(' ');
    face.colour.paint_into(&mut line, Ink::Name, &label);
    if !arguments.is_empty() {
        line.push_str("  ");
        line.push_str(&arguments);
    }
    line.push('\n');
    line
}

/// The lines that say what came of it.
pub(super) fn end_lines(
    face: Face,
    detail: Detail,
    label: Option<&str>,
    output: &ToolOutput,
    took_ms: Option<u64>,
) -> String {
    let Face { colour, .. } = face;
    let drawn = outfitter_codec::ui::compile(output);
    let seen = match drawn {
        Some(_) => Seen::Yes,
        None => Seen::No,
    };
    let told = told(output, seen);
    let took = took_ms
        .filter(|ms| *ms >= TELLING_MS)
        .map(|ms| format!("  {}", units::span(ms)))
        .unwrap_or_default();
    let label = label
        .map(|label| format!("{}  ", one_line(label)))
        .unwrap_or_default();
    let words = fit(face, &told.words, 4 + columns(&label) + columns(&took));

    let mut out = match &drawn {
        Some(schema) => ui::draw(face, detail, schema),
        None => diff(face, detail, output),
    };
    out.push_str("  ");
    colour.paint_into(&mut out, told.ink, told.mark);
    out.push(' ');
    colour.paint_into(&mut out, Ink::Name, &label);
    let ink = match told.ink {
        Ink::Good => Ink::Plain,
        other => other,
    };
    colour.paint_into(&mut out, ink, &words);
    colour.paint_into(&mut out, Ink::Quiet, &took);
    out.push('\n');
    if let Some(hint) = output
        .error
        .as_ref()
        .and_then(|error| error.hint.as_deref())
    {
        let hint = format!("hint: {}", one_line(hint));
        out.push_str("    ");
        colour.paint_into(&mut out, Ink::Quiet, &fit(face, &hint, 4));
        out.push('\n');
    }
    if detail == Detail::Full {
        out.push_str(&lines(face, Ink::Quiet, &output.projection().0, FULL_LINES));
    }
    out
}

/// The change a tool made, where it says so.
fn diff(face: Face, detail: Detail, output: &ToolOutput) -> String {
    let diff = output.result.as_ref().and_then(|result| result.get("diff"));
    let Some(diff) = diff.and_then(Value::as_str) else {
        return String::new();
    };
    let most = match detail {
        Detail::Calm => DIFF_LINES,
        Detail::Full => FULL_LINES,
    };
    let changes: Vec<&str> = diff
        .lines()
        .filter(|line| !line.starts_with("---") && !line.starts_with("+++"))
        .collect();
    let mut out = String::new();
    for line in changes.iter().take(most) {
        let ink = match line.as_bytes().first() {
            Some(b'+') => Ink::Good,
            Some(b'-') => Ink::Bad,
            _ => Ink::Quiet,
        };
        out.push_str(&lines(face, ink, line, 1));
    }
    out.push_str(&left_out(
        face.colour,
        changes.len().saturating_sub(most) as u64,
    ));
    out
}

/// Lines beneath a call.
pub(super) fn lines(face: Face, ink: Ink, text: &str, most: usize) -> String {
    let mut out = String::new();
    for line in text.lines().take(most) {
        let line = visible(line).replace('\t', "    ");
        face.colour.paint_into(&mut out, Ink::Quiet, "  │ ");
        face.colour.paint_into(&mut out, ink, &fit(face, &line, 4));
        out.push('\n');
    }
    out.push_str(&left_out(
        face.colour,
        text.lines().count().saturating_sub(most) as u64,
    ));
    out
}

/// Says how many lines are not shown.
pub(super) fn left_out(colour: Colour, count: u64) -> String {
    if count == 0 {
        return String::new();
    }
    let words = format!("  │ … {}\n", units::count(count, "more line", "more lines"));
    colour.paint(Ink::Quiet, words.trim_end()) + "\n"
}

/// The text cut to what is left of a line.
pub(super) fn fit(face: Face, text: &str, taken: usize) -> String {
    // Room for something, however narrow the terminal is.
    const LEAST_COLUMNS: usize = 16;
    match face.width {
        Some(width) => clip(text, width.saturating_sub(taken).max(LEAST_COLUMNS)).into_owned(),
        None => text.to_owned(),
    }
}
