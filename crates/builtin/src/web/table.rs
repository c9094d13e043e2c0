//! Tables of a page, written anew once they are over.

use super::page::Style;

/// How deep tables are looked at. What is nested deeper is text of the innermost.
pub(super) const MAX_DEPTH: usize = 8;

/// How many columns one cell spans at most.
const MAX_SPAN: usize = 10;

/// How many columns the first row is filled up to.
const MAX_FILLED: usize = 64;

/// The longest cell of what is taken for a table. Pages are laid out with tables too, and those
/// cells are whole articles.
const MAX_CELL_CHARS: usize = 1000;

/// A table that is open: where in the output its rows and cells begin.
#[derive(Debug)]
pub(super) struct Table {
    start: usize,
    rows: Vec<Vec<usize>>,
    /// Columns that the last cell still spans.
    spans: usize,
}

impl Table {
    pub(super) fn at(start: usize) -> Self {
        Self {
            start,
            rows: Vec::new(),
            spans: 0,
        }
    }

    /// Where it begins.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    pub(super) fn row(&mut self, at: usize) {
        self.fill(at);
        self.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self, at: usize, spans: usize) {
        self.fill(at);
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        if let Some(row) = self.rows.last_mut() {
            row.push(at);
        }
        self.spans = spans.clamp(1, MAX_SPAN) - 1;
    }

    fn fill(&mut self, at: usize) {
        let spans = std::mem::take(&mut self.spans);
        if let Some(row) = self.rows.last_mut() {
            row.extend(std::iter::repeat_n(at, spans));
        }
    }

    /// The output was cut there.
    pub(super) fn shift(&mut self, end: usize) {
        self.start = self.start.min(end);
        for at in self
            .rows
            .iter_mut()
            .rev()
            .flat_map(|row| row.iter_mut().rev())
        {
            if *at <= end {
                break;
            }
            *at = end;
        }
    }

    /// What it says, in place of what stands in `out` from its start on. None where it has no
    /// cells.
    pub(super) fn written(mut self, out: &str, style: Style) -> Option<String> {
        self.fill(out.len());
        self.rows.retain(|row| !row.is_empty());
        let first = *self.rows.first()?.first()?;
        let before = out.get(self.start..first)?.trim();
        let starts: Vec<usize> = self.rows.iter().flatten().copied().collect();
        let ends = starts.iter().skip(1).copied().chain([out.len()]);
        let mut cells = starts.iter().zip(ends).map(|(from, to)| out.get(*from..to));
        let rows: Option<Vec<Vec<&str>>> = self
            .rows
            .iter()
            .map(|row| {
                let cells = cells.by_ref().take(row.len());
                cells.map(|cell| cell.map(str::trim)).collect()
            })
            .collect();
        let rows = rows?;
        let body = if style == Style::Markdown && is_table(&rows) {
            table(&rows)
        } else {
            layout(&rows)
        };
        Some(match before.is_empty() {
            true => body,
            false => format!("{before}\n\n{body}"),
        })
    }
}

fn is_table(rows: &[Vec<&str>]) -> bool {
    let mut cells = rows.iter().flatten();
    let holds_other = |cell: &str| {
        cell.contains("\n\n")
            || cell.contains("```")
            || (cell.starts_with("| ") && cell.contains('\n'))
    };
    rows.iter().any(|row| row.len() > 1)
        && cells.all(|cell| !holds_other(cell) && cell.chars().nth(MAX_CELL_CHARS).is_none())
}

fn table(rows: &[Vec<&str>]) -> String {
    let widest = rows.iter().map(Vec::len).max().unwrap_or_default();
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        let least = if at == 0 { widest.min(MAX_FILLED) } else { 0 };
        out.push('|');
        for cell in row {
            let words = cell.split_whitespace().collect::<Vec<_>>().join(" ");
            out.push(' ');
            out.push_str(&words.replace('|', "\\|"));
            out.push_str(if words.is_empty() { "|" } else { " |" });
        }
        out.extend(std::iter::repeat_n(" |", least.saturating_sub(row.len())));
        out.push('\n');
        if at == 0 {
            out.push('|');
            out.extend(std::iter::repeat_n(" --- |", least.max(row.len())));
            out.push('\n');
        }
    }
    out
}

/// What only stands where a table has put it.
fn layout(rows: &[Vec<&str>]) -> String {
    let mut out = String::new();
    for row in rows {
        let mut before: Option<&str> = None;
        for cell in row.iter().filter(|cell| !cell.is_empty()) {
            if let Some(before) = before {
                let long = cell.contains('\n') || before.contains('\n');
                out.push_str(if long { "\n\n" } else { " | " });
            }
            out.push_str(cell);
            before = Some(*cell);
        }
        if before.is_some() {
            out.push('\n');
        }
    }
    out
}
