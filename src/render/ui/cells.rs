//! One value in words.

use jiff::Timestamp;
use outfitter_codec::ui::{Cell, CellKind};

use crate::render::text::one_line;
use crate::render::units;

/// The value on one line. Instants are in UTC and say so.
pub(super) fn words(cell: &Cell) -> String {
    let told = match cell.kind {
        CellKind::Datetime => instant(&cell.text),
        CellKind::Bytes => cell.text.parse().ok().map(units::bytes),
        CellKind::Text
        | CellKind::Number
        | CellKind::Boolean
        | CellKind::Date
        | CellKind::Link
        | CellKind::Json
        | CellKind::Empty => None,
    };
    let text = told.unwrap_or_else(|| one_line(&cell.text));
    match &cell.url {
        Some(url) if *url != cell.text => format!("{text} <{}>", one_line(url)),
        Some(_) | None => text,
    }
}

/// Whether values of this kind stand at the right of their column.
pub(super) fn at_the_right(cell: &Cell) -> bool {
    matches!(cell.kind, CellKind::Number | CellKind::Bytes)
}

/// Whether a part of such a value says nothing.
pub(super) fn is_exact(cell: &Cell) -> bool {
    match cell.kind {
        CellKind::Number
        | CellKind::Boolean
        | CellKind::Datetime
        | CellKind::Date
        | CellKind::Bytes => true,
        CellKind::Text | CellKind::Link | CellKind::Json | CellKind::Empty => false,
    }
}

/// An instant as the tool wrote it: RFC 3339, or Unix milliseconds.
fn instant(text: &str) -> Option<String> {
    let at: Timestamp = match text.parse::<i64>() {
        Ok(ms) => Timestamp::from_millisecond(ms).ok()?,
        Err(_) => text.parse().ok()?,
    };
    let shape = match at.as_second().rem_euclid(60) {
        0 => "%Y-%m-%d %H:%M UTC",
        _ => "%Y-%m-%d %H:%M:%S UTC",
    };
    Some(at.strftime(shape).to_string())
}
