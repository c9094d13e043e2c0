//! A page as text, from its tokens.
//!
//! No tree is built: trees of hostile pages are as deep as the page is long, and what walks them
//! runs out of stack. This keeps a few counters and the output, whatever is open.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use outfitter_net::reqwest::Url;

use super::table::{MAX_DEPTH, Table};
use super::tags::{CHROME, UNREAD, attribute, contents, is_block};

/// How a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// With headings, lists, links and emphasis.
    Markdown,
    /// The words.
    Text,
}

/// A page to read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Its title; empty where it has none.
    pub(super) title: String,
    /// What it says.
    pub(super) text: String,
    /// Whether it has scripts, which nobody runs.
    pub(super) scripts: bool,
}

/// The part a page calls its main one is taken for the page from this many characters on.
const ENOUGH_CHARS: usize = 200;

/// The longest address of a link that is shown.
const MAX_LINK_CHARS: usize = 2000;

/// The longest title.
const MAX_TITLE_CHARS: usize = 500;

/// How far nested lists are indented.
const MAX_INDENT: usize = 8;

/// The readable part of a page.
pub(super) fn read(html: &str, base: &Url, style: Style) -> Page {
    let page = pass(html, base, style, Chrome::Left);
    if page.text.chars().count() >= ENOUGH_CHARS {
        return page;
    }
    // What looked like menus may be all there is.
    let whole = pass(html, base, style, Chrome::Kept);
    if page.text.is_empty() || whole.text.len() > 4 * page.text.len() {
        return whole;
    }
    page
}

/// Menus and the like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chrome {
    Left,
    Kept,
}

fn pass(html: &str, base: &Url, style: Style, chrome: Chrome) -> Page {
    let writer = Writer::new(base, style, chrome);
    let tokenizer = Tokenizer::new(Sink(RefCell::new(writer)), TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(html));
    // It may stop, for somebody to run a script; nobody does.
    while !queue.is_empty() {
        let _stopped = tokenizer.feed(&queue);
    }
    tokenizer.end();
    tokenizer.sink.0.into_inner().finish()
}

struct Sink(RefCell<Writer>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut writer = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => writer.text(&text),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                writer.start(&tag);
                return contents(&tag);
            }
            Token::TagToken(tag) => writer.end(&tag.name),
            Token::DoctypeToken(_)
            | Token::CommentToken(_)
            | Token::NullCharacterToken
            | Token::EOFToken
            | Token::ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }
}

struct Writer {
    base: Url,
    style: Style,
    chrome: Chrome,
    out: String,
    title: String,
    in_title: bool,
    /// What is being left out, and how many of its name are open.
    skipped: Option<(String, usize)>,
    preformatted: usize,
    lists: Vec<Option<u64>>,
    link: Option<(usize, String)>,
    tables: Vec<Table>,
    /// Tables that are nested too deep to be looked at.
    deeper: usize,
    scripts: bool,
    /// Where the main part begins and ends.
    main: (Option<usize>, Option<usize>),
    space: bool,
}

impl Writer {
    fn new(base: &Url, style: Style, chrome: Chrome) -> Self {
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

    fn text(&mut self, text: &str) {
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

    fn at_line_start(&self) -> bool {
        self.out.is_empty() || self.out.ends_with(['\n', ' '])
    }

    fn mark(&mut self, mark: &str) {
        if self.style == Style::Markdown {
            if std::mem::take(&mut self.space) && !self.at_line_start() {
                self.out.push(' ');
            }
            self.out.push_str(mark);
        }
    }

    /// Ends the line, and leaves `blank` empty ones.
    fn line(&mut self, blank: usize) {
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
    fn shift(&mut self, end: usize) {
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

    fn start(&mut self, tag: &Tag) {
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

    fn end(&mut self, name: &str) {
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

    fn closing_mark(&mut self, mark: &str) {
        if self.style == Style::Markdown {
            self.out.push_str(mark);
        }
    }

    fn open_list(&mut self, count: Option<u64>) {
        if self.lists.len() < MAX_INDENT {
            self.lists.push(count);
        }
    }

    fn item(&mut self) {
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

    fn open_table(&mut self) {
        self.close_link();
        self.line(1);
        if self.tables.len() < MAX_DEPTH {
            self.tables.push(Table::at(self.out.len()));
        } else {
            self.deeper += 1;
        }
    }

    fn cell(&mut self, tag: &Tag) {
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

    fn close_table(&mut self) {
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

    fn open_link(&mut self, tag: &Tag) {
        let Some(to) = self.address(tag, "href") else {
            return;
        };
        if std::mem::take(&mut self.space) && !self.at_line_start() {
            self.out.push(' ');
        }
        self.link = Some((self.out.len(), to));
    }

    fn close_link(&mut self) {
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

    fn image(&mut self, tag: &Tag) {
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

    fn finish(mut self) -> Page {
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
