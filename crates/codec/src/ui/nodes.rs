//! The nodes that show values: rows, pairs, items, points.

use serde_json::Value;

use super::bind::cell;
use super::budget::{Budget, CELL, LABEL_BYTES};
use super::hints::{Field, Format};
use super::lines::json_text;
use super::schema::{Cell, Column, DiagnosticCode, Entry, Point, Series};

/// Rows of a table, pairs of an object, items of a list.
pub(super) const ROWS: usize = 200;

/// Columns of a table.
pub(super) const COLUMNS: usize = 16;

/// Series of a chart, and points of all of them together.
const SERIES: usize = 8;
const POINTS: usize = 400;

/// Bytes of JSON around the cells of a row.
const ROW: usize = 8;

/// What is shown, and how many more there are.
pub(super) struct Fitted<T> {
    pub(super) shown: Vec<T>,
    pub(super) omitted: u64,
}

/// Takes what fits: at most `most`, and nothing more once the budget is used up.
fn fitting<I, T>(
    of: &[I],
    most: usize,
    budget: &mut Budget,
    mut make: impl FnMut(&I, &mut Budget) -> Option<T>,
) -> Fitted<T> {
    let mut shown = Vec::new();
    for item in of.iter().take(most) {
        match make(item, budget) {
            Some(made) if !budget.starved() => shown.push(made),
            _ => break,
        }
    }
    let omitted = (of.len() - shown.len()) as u64;
    Fitted { shown, omitted }
}

/// The label of a field: its own, or the last part of its path.
fn label(field: &Field, budget: &mut Budget) -> String {
    match &field.label {
        Some(label) => budget.label(label),
        None => {
            let last = field.path.rsplit('/').next().unwrap_or_default();
            budget.label(&last.replace("~1", "/").replace("~0", "~"))
        }
    }
}

pub(super) fn columns(fields: &[Field], path: &str, budget: &mut Budget) -> Vec<Column> {
    let columns = fitting(fields, COLUMNS, budget, |field, budget| {
        budget.pay(CELL).then(|| Column {
            label: label(field, budget),
        })
    });
    if columns.omitted > 0 {
        let message = format!("there are {} more columns than are shown", columns.omitted);
        budget.fault(DiagnosticCode::TooMany, path, &message);
    }
    columns.shown
}

pub(super) fn rows(
    of: &[Value],
    fields: &[Field],
    path: &str,
    budget: &mut Budget,
) -> Fitted<Vec<Cell>> {
    fitting(of, ROWS, budget, |row, budget| {
        budget.pay(ROW + CELL * fields.len()).then(|| {
            fields
                .iter()
                .map(|field| cell(row.pointer(&field.path), field.format, path, budget))
                .collect()
        })
    })
}

pub(super) fn entries(
    of: &Value,
    fields: &[Field],
    path: &str,
    budget: &mut Budget,
) -> Fitted<Entry> {
    fitting(fields, ROWS, budget, |field, budget| {
        budget.pay(CELL).then(|| Entry {
            label: label(field, budget),
            value: cell(of.pointer(&field.path), field.format, path, budget),
        })
    })
}

pub(super) fn items(
    of: &[Value],
    part: &str,
    format: Format,
    path: &str,
    budget: &mut Budget,
) -> Fitted<Cell> {
    fitting(of, ROWS, budget, |item, budget| {
        budget
            .pay(CELL)
            .then(|| cell(item.pointer(part), format, path, budget))
    })
}

pub(super) fn series(
    of: &[Value],
    x: &str,
    fields: &[Field],
    budget: &mut Budget,
) -> Fitted<Series> {
    let each = POINTS / fields.len().clamp(1, SERIES);
    let mut omitted = 0;
    let series = fitting(fields, SERIES, budget, |field, budget| {
        if !budget.pay(CELL) {
            return None;
        }
        let label = label(field, budget);
        let numbers: Vec<(&Value, f64)> = of
            .iter()
            .filter_map(|row| Some((row, row.pointer(&field.path)?.as_f64()?)))
            .collect();
        let points = fitting(&numbers, each, budget, |(row, y), budget| {
            budget.pay(CELL).then(|| Point {
                x: words(row.pointer(x), budget),
                y: *y,
            })
        });
        omitted += points.omitted;
        Some(Series {
            label,
            points: points.shown,
        })
    });
    Fitted {
        omitted: omitted + series.omitted,
        shown: series.shown,
    }
}

fn words(value: Option<&Value>, budget: &mut Budget) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => budget.label(text),
        Some(value) => budget.label(&json_text(value, LABEL_BYTES)),
    }
}
