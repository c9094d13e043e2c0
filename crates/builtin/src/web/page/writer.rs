//! What of a page is written, and where marks in it stand.

use outfitter_net::reqwest::Url;

use super::{Chrome, ENOUGH_CHARS, Page, Style};
use crate::web::table::Table;

/// The longest title.
const MAX_TITLE_CHARS: usize = 500;

pub(super) struct Writer {
    pub(super) base: Url,
    pub(super) style: Style,
    pub(super) chrome: Chrome,
    pub(super) out: String,
    pub(super) title: String,
    pub(super) in_title: bool,
    /// What is being left out, and how many of its name are open.
    pub(super) skipped: Option<(String, usize)>,
    pub(super) preformatted: usize,
    pub(super) lists: Vec<Option<u64>>,
    pub(super) link: Option<(usize, String)>,
    pub(super) tables: Vec<Table>,
    /// Tables that are nested too deep to be looked at.
    pub(super) deeper: usize,
    pub(super) scripts: bool,
    /// Where the main part begins and ends.
    pub(super) main: (Option<usize>, Option<usize>),
    pub(super) space: bool,
}

impl Writer {
    pub(super) fn new(base: &Url, style: Style, chrome: Chrome) -> Self {
        Self {
            base: base.clone(),
            style,
            chrome,
            out: String::new(),
            title: String::new(),
            in_title: false,
            skipped: None,
            preformatted: 0,
            lists: Vec::new(),
            link: None,
            tables: Vec::new(),
            deeper: 0,
            scripts: false,
            main: (None, None),
            space: false,
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.in_title {
            let room = MAX_TITLE_CHARS.saturating_sub(self.title.chars().count());
            self.title.extend(text.chars().take(room));
            return;
        }
        if self.skipped.is_some() {
            return;
        }
        if self.preformatted > 0 {
            self.out.push_str(text);
            return;
        }
        for c in text.chars() {
            if c.is_whitespace() {
                self.space = true;
                continue;
            }
            if std::mem::take(&mut self.space) && !self.at_line_start() {
                self.out.push(' ');
            }
            self.out.push(c);
        }
    }

    pub(super) fn at_line_start(&self) -> bool {
        self.out.is_empty() || self.out.ends_with(['\n', ' '])
    }

    pub(super) fn mark(&mut self, mark: &str) {
        if self.style == Style::Markdown {
            if std::mem::take(&mut self.space) && !self.at_line_start() {
                self.out.push(' ');
            }
            self.out.push_str(mark);
        }
    }

    /// Ends the line, and leaves `blank` empty ones.
    pub(super) fn line(&mut self, blank: usize) {
        self.space = false;
        let trimmed = self.out.trim_end_matches([' ', '\n']).len();
        let had = self.out[trimmed..].matches('\n').count();
        if trimmed == 0 {
            return;
        }
        self.out.truncate(trimmed);
        self.shift(trimmed);
        for _ in 0..had.max(blank + 1).min(2) {
            self.out.push('\n');
        }
    }

    /// Marks never point beyond the end.
    pub(super) fn shift(&mut self, end: usize) {
        if let Some((at, _)) = &mut self.link {
            *at = (*at).min(end);
        }
        for table in &mut self.tables {
            table.shift(end);
        }
        for at in [&mut self.main.0, &mut self.main.1].into_iter().flatten() {
            *at = (*at).min(end);
        }
    }

    pub(super) fn closing_mark(&mut self, mark: &str) {
        if self.style == Style::Markdown {
            self.out.push_str(mark);
        }
    }

    pub(super) fn finish(mut self) -> Page {
        self.close_link();
        while !self.tables.is_empty() {
            self.close_table();
        }
        let main = match self.main {
            (Some(from), to) => self.out.get(from..to.unwrap_or(self.out.len())),
            (None, _) => None,
        };
        let main = main.filter(|main| main.trim().chars().count() >= ENOUGH_CHARS);
        let title: Vec<_> = self.title.split_whitespace().collect();
        Page {
            text: main.unwrap_or(&self.out).trim().to_owned(),
            title: title.join(" "),
            scripts: self.scripts,
        }
    }
}
