//! Rows in columns.

use crate::render::text::{clip, columns};
use crate::render::{Face, Ink};

/// Columns as wide as their widest cell; the last one is cut to what is left of the line.
pub(super) fn table<const N: usize>(
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
