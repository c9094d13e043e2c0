//! Where a template meets the result: pointers, words with pointers in them, values as cells.

use serde_json::Value;
use url::Url;

use super::budget::{Budget, CELL_BYTES, Lines};
use super::hints::Format;
use super::lines::json_text;
use super::schema::{Cell, CellKind, DiagnosticCode};

/// Bytes of one URL.
const URL_BYTES: usize = 2_048;

/// Bytes of words after their pointers are filled in, before they are cut to what is shown.
const FILLED_BYTES: usize = 64 * 1024;

/// Where a pointer leads; a diagnostic where it leads nowhere.
pub(super) fn find<'a>(
    value: &'a Value,
    pointer: &str,
    path: &str,
    budget: &mut Budget,
) -> Option<&'a Value> {
    let found = value.pointer(pointer);
    if found.is_none() {
        let message = format!("{pointer:?} leads nowhere in the result");
        budget.fault(DiagnosticCode::Missing, path, &message);
    }
    found
}

/// Fills the `{/pointer}` of some words from the result. A pointer that leads nowhere leaves
/// nothing.
pub(super) fn filled(words: &str, result: &Value, path: &str, budget: &mut Budget) -> String {
    let mut out = String::new();
    let mut rest = words;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            out.push('{');
            rest = after;
        } else if let (true, Some((pointer, after))) = (rest.starts_with('/'), rest.split_once('}'))
        {
            rest = after;
            let room = FILLED_BYTES.saturating_sub(out.len());
            match find(result, pointer, path, budget) {
                Some(Value::String(text)) => out.push_str(head(text, room)),
                Some(Value::Null) | None => {}
                Some(value) => out.push_str(&json_text(value, room)),
            }
        } else {
            out.push('{');
        }
    }
    out.push_str(rest);
    out
}

fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// One value as a cell. The caller pays for what stands around it.
pub(super) fn cell(value: Option<&Value>, format: Format, path: &str, budget: &mut Budget) -> Cell {
    let (words, kind) = match value {
        None | Some(Value::Null) => (String::new(), CellKind::Empty),
        Some(Value::Bool(yes)) => (yes.to_string(), CellKind::Boolean),
        Some(Value::Number(number)) => (
            number.to_string(),
            match format {
                Format::Bytes => CellKind::Bytes,
                Format::Datetime => CellKind::Datetime,
                Format::Text => CellKind::Text,
                Format::Auto | Format::Date | Format::Link => CellKind::Number,
            },
        ),
        Some(Value::String(text)) => (
            head(text, FILLED_BYTES).to_owned(),
            match format {
                Format::Datetime => CellKind::Datetime,
                Format::Date => CellKind::Date,
                Format::Link => CellKind::Link,
                Format::Auto | Format::Text | Format::Bytes => CellKind::Text,
            },
        ),
        Some(value @ (Value::Array(_) | Value::Object(_))) => {
            (json_text(value, CELL_BYTES), CellKind::Json)
        }
    };
    let url = match kind {
        CellKind::Link => safe_url(&words, path, budget),
        _ => None,
    };
    let kind = match (kind, &url) {
        (CellKind::Link, None) => CellKind::Text,
        (kind, _) => kind,
    };
    let text = budget.short(&words, CELL_BYTES, Lines::Many);
    Cell { text, kind, url }
}

/// A URL that a reader may safely follow: it leads to where it says, by `http` or `https`, and
/// carries no credentials.
pub(super) fn safe_url(text: &str, path: &str, budget: &mut Budget) -> Option<String> {
    let url = Url::parse(text.trim()).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.as_str().len() <= URL_BYTES
    });
    let Some(url) = url else {
        let message = "a URL must be http or https, without credentials";
        budget.fault(DiagnosticCode::UnsafeUrl, path, message);
        return None;
    };
    // A parsed URL is ASCII without quotes, so its cost is its length.
    budget.pay(url.as_str().len()).then(|| url.into())
}
