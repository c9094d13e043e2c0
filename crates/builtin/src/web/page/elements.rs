//! What each element of a page begins and ends.

use html5ever::tokenizer::Tag;

use super::Chrome;
use super::writer::Writer;
use crate::web::tags::{CHROME, UNREAD, is_block};

impl Writer {
    pub(super) fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        if let Some((skipped, open)) = &mut self.skipped {
            if skipped == name && !tag.self_closing {
                *open += 1;
            }
            return;
        }
        self.scripts |= name == "script";
        let chrome = self.chrome == Chrome::Left && CHROME.contains(&name);
        if (UNREAD.contains(&name) || chrome) && !tag.self_closing {
            self.skipped = Some((name.to_owned(), 1));
            return;
        }
        match name {
            "title" => self.in_title = self.title.is_empty(),
            "br" => {
                self.space = false;
                self.out.push('\n');
            }
            "hr" => {
                self.line(1);
                self.mark("---");
                self.line(1);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.line(1);
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.mark(&format!("{} ", "#".repeat(level)));
            }
            "ul" | "menu" => {
                self.line(usize::from(self.lists.is_empty()));
                self.open_list(None);
            }
            "ol" => {
                self.line(usize::from(self.lists.is_empty()));
                self.open_list(Some(0));
            }
            "li" => self.item(),
            "pre" => {
                self.line(1);
                self.mark("```\n");
                self.preformatted += 1;
            }
            "code" | "kbd" | "samp" if self.preformatted == 0 => self.mark("`"),
            "b" | "strong" => self.mark("**"),
            "i" | "em" => self.mark("*"),
            "blockquote" => {
                self.line(1);
                self.mark("> ");
            }
            "table" => self.open_table(),
            "tr" => {
                self.close_link();
                self.line(0);
                let at = self.out.len();
                if let Some(table) = self.tables.last_mut() {
                    table.row(at);
                }
            }
            "td" | "th" => self.cell(tag),
            "dt" | "dd" | "option" => self.line(0),
            "a" => {
                self.close_link();
                self.open_link(tag);
            }
            "img" => self.image(tag),
            "main" | "article" if self.main.0.is_none() => {
                self.line(1);
                self.main.0 = Some(self.out.len());
            }
            _ if is_block(name) => self.line(1),
            _ => {}
        }
    }

    pub(super) fn end(&mut self, name: &str) {
        if self.in_title {
            self.in_title = name != "title";
            return;
        }
        if let Some((skipped, open)) = &mut self.skipped {
            if skipped == name {
                *open -= 1;
                if *open == 0 {
                    self.skipped = None;
                }
            }
            return;
        }
        match name {
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                self.line(usize::from(self.lists.is_empty()));
            }
            "pre" if self.preformatted > 0 => {
                self.preformatted -= 1;
                self.line(0);
                self.mark("```");
                self.line(1);
            }
            "code" | "kbd" | "samp" if self.preformatted == 0 => self.closing_mark("`"),
            "b" | "strong" => self.closing_mark("**"),
            "i" | "em" => self.closing_mark("*"),
            "a" => self.close_link(),
            "table" if self.deeper > 0 => self.deeper -= 1,
            "table" => self.close_table(),
            "main" | "article" if self.main.0.is_some() && self.main.1.is_none() => {
                self.main.1 = Some(self.out.len());
                self.line(1);
            }
            _ if is_block(name) => self.line(1),
            _ => {}
        }
    }
}
