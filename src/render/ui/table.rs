//! Rows under columns.

use outfitter_codec::ui::{Cell, Column};

use super::cells;
use super::page::{Page, Span};
use crate::render::Ink;
use crate::render::text::{clip, columns, one_line};

/// What stands between two columns.
const GAP: usize = 2;

/// A column that would be narrower says nothing; each row is drawn as pairs then.
const LEAST: usize = 8;

/// Draws a table. Columns share the room: the widest of those with words give way first. Numbers
/// and times are whole or not in a column at all.
pub(super) fn table(page: &mut Page, heads: &[Column], rows: &[Vec<Cell>]) {
    let heads: Vec<String> = heads.iter().map(|head| one_line(&head.label)).collect();
    let words: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(cells::words).collect())
        .collect();
    let mut widths: Vec<usize> = heads.iter().map(|head| columns(head)).collect();
    for row in &words {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = columns(cell).max(*width);
        }
    }
    let all = |at: usize, is: fn(&Cell) -> bool| {
        let mut cells = rows.iter().filter_map(|row| row.get(at)).peekable();
        cells.peek().is_some() && cells.all(is)
    };
    if let Some(room) = page.room() {
        let gaps = GAP * widths.len().saturating_sub(1);
        let over = (widths.iter().sum::<usize>() + gaps).saturating_sub(room);
        let mut flexible: Vec<&mut usize> = widths
            .iter_mut()
            .enumerate()
            .filter_map(|(at, width)| (!all(at, cells::is_exact)).then_some(width))
            .collect();
        if !fitted(&mut flexible, over) {
            return pairs(page, &heads, rows);
        }
    }
    let right: Vec<bool> = (0..heads.len())
        .map(|at| all(at, cells::at_the_right))
        .collect();
    page.line(line(Ink::Quiet, &heads, &widths, &right));
    for row in &words {
        page.line(line(Ink::Plain, row, &widths, &right));
    }
}

fn line(ink: Ink, cells: &[String], widths: &[usize], right: &[bool]) -> Vec<Span> {
    let mut text = String::new();
    for (at, ((cell, width), right)) in cells.iter().zip(widths).zip(right).enumerate() {
        if at > 0 {
            text.push_str(&" ".repeat(GAP));
        }
        let cell = clip(cell, *width);
        let blanks = " ".repeat(width.saturating_sub(columns(&cell)));
        match right {
            true => text.extend([&*blanks, &*cell]),
            false => text.extend([&*cell, &*blanks]),
        }
    }
    vec![(ink, text)]
}

/// Makes the widest columns narrower by this much in all; whether they can.
fn fitted(widths: &mut [&mut usize], mut over: usize) -> bool {
    while over > 0 {
        match widths.iter_mut().max() {
            Some(widest) if **widest > LEAST => **widest -= 1,
            Some(_) | None => return false,
        }
        over -= 1;
    }
    true
}

/// Each row as pairs, a line apart, where there is no room for columns.
fn pairs(page: &mut Page, heads: &[String], rows: &[Vec<Cell>]) {
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            page.line(Vec::new());
        }
        let row = heads.iter().zip(row);
        entries(page, row.map(|(head, cell)| (head.clone(), cell)));
    }
}

/// Names and their values, the values beneath each other.
pub(super) fn entries<'a>(page: &mut Page, entries: impl Iterator<Item = (String, &'a Cell)>) {
    /// A longer name has its value after it all the same.
    const MOST: usize = 24;
    let entries: Vec<(String, &Cell)> = entries.collect();
    let width = entries.iter().map(|(name, _)| columns(name)).max();
    let width = width.unwrap_or_default().min(MOST);
    for (name, cell) in entries {
        let blanks = " ".repeat(width.saturating_sub(columns(&name)) + GAP);
        page.words(Ink::Plain, &format!("{name}{blanks}"), &cells::words(cell));
    }
}
