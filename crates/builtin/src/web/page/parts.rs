//! Lists, tables, links and images.

use html5ever::tokenizer::Tag;

use super::Style;
use super::writer::Writer;
use crate::web::table::{MAX_DEPTH, Table};
use crate::web::tags::attribute;

/// The longest address of a link that is shown.
const MAX_LINK_CHARS: usize = 2000;

/// How far nested lists are indented.
const MAX_INDENT: usize = 8;

impl Writer {
    pub(super) fn open_list(&mut self, count: Option<u64>) {
        if self.lists.len() < MAX_INDENT {
            self.lists.push(count);
        }
    }

    pub(super) fn item(&mut self) {
        self.line(0);
        let depth = self.lists.len().saturating_sub(1);
        self.out.extend(std::iter::repeat_n("  ", depth));
        match self.lists.last_mut() {
            Some(Some(count)) => {
                *count += 1;
                self.out.push_str(&format!("{count}. "));
            }
            Some(None) | None => self.out.push_str("- "),
        }
    }

    pub(super) fn open_table(&mut self) {
        self.close_link();
        self.line(1);
        if self.tables.len() < MAX_DEPTH {
            self.tables.push(Table::at(self.out.len()));
        } else {
            self.deeper += 1;
        }
    }

    pub(super) fn cell(&mut self, tag: &Tag) {
        self.close_link();
        self.space = false;
        if !self.at_line_start() {
            self.out.push(' ');
        }
        let spans = attribute(tag, "colspan").and_then(|spans| spans.trim().parse().ok());
        let at = self.out.len();
        if let Some(table) = self.tables.last_mut() {
            table.cell(at, spans.unwrap_or(1));
        }
    }

    pub(super) fn close_table(&mut self) {
        self.close_link();
        let Some(table) = self.tables.pop() else {
            return;
        };
        let start = table.start();
        let marks = [self.main.0, self.main.1];
        // What is marked in it would be somewhere else then.
        if marks.into_iter().flatten().all(|at| at <= start)
            && let Some(written) = table.written(&self.out, self.style)
        {
            self.out.truncate(start);
            self.line(1);
            self.out.push_str(&written);
        }
        self.line(1);
    }

    pub(super) fn open_link(&mut self, tag: &Tag) {
        let Some(to) = self.address(tag, "href") else {
            return;
        };
        if std::mem::take(&mut self.space) && !self.at_line_start() {
            self.out.push(' ');
        }
        self.link = Some((self.out.len(), to));
    }

    pub(super) fn close_link(&mut self) {
        let Some((at, to)) = self.link.take() else {
            return;
        };
        // Text that a link spans over lines is no link in Markdown.
        let Some(text) = self.out.get(at..) else {
            return;
        };
        if self.style == Style::Text || text.trim().is_empty() || text.contains('\n') {
            return;
        }
        self.out.insert(at, '[');
        self.out.push_str(&format!("]({to})"));
    }

    pub(super) fn image(&mut self, tag: &Tag) {
        let Some(said) = attribute(tag, "alt").filter(|said| !said.trim().is_empty()) else {
            return;
        };
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        match self.address(tag, "src") {
            Some(at) if self.style == Style::Markdown => self.text(&format!(" ![{said}]({at})")),
            _ => self.text(&format!(" {said}")),
        }
    }

    fn address(&self, tag: &Tag, name: &str) -> Option<String> {
        let url = self.base.join(attribute(tag, name)?.trim()).ok()?;
        let shown = matches!(url.scheme(), "http" | "https" | "mailto");
        let text = String::from(url);
        (shown && text.len() <= MAX_LINK_CHARS).then_some(text)
    }
}
