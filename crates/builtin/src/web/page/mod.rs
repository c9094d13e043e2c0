//! A page as text, from its tokens.
//!
//! No tree is built: trees of hostile pages are as deep as the page is long, and what walks them
//! runs out of stack. This keeps a few counters and the output, whatever is open.

mod elements;
mod parts;
mod writer;

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use outfitter_net::reqwest::Url;

use super::tags::contents;
use writer::Writer;

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
