//! Arguments for showing while they are written, in pieces that end anywhere.

use std::borrow::Cow;
use std::mem;

use super::{REDACTED, is_secret_key, redact_addresses};

/// How much of a text without a blank is held back, in bytes. An address that is longer is not
/// shown.
const MAX_HELD: usize = 64 * 1024;

/// How deep arguments are nested at most, as they are read.
const MAX_DEPTH: usize = 128;

/// The longest name of a member that is looked at, in bytes.
const MAX_NAME: usize = 64;

/// What is to come where a word ends that is not a text.
const NULL: &str = "null";

/// How the texts in arguments are shown.
pub trait TextsShown {
    /// A text without what is secret in it.
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str>;

    /// How much of the end of a text may be the beginning of a known secret, in bytes.
    fn begun(&self, _text: &str) -> usize {
        0
    }

    /// Whether a known secret may go on behind the blank that a text ends with.
    fn may_go_on(&self, _text: &str) -> bool {
        false
    }
}

/// Knows no secrets but those of addresses.
struct Addresses;

impl TextsShown for Addresses {
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        redact_addresses(text)
    }
}

/// A malformed text for showing: as much of it as reads as JSON is read as that.
pub(super) fn redact_malformed(raw: &str) -> Cow<'_, str> {
    ArgumentsCarry::new(Addresses).whole(raw)
}

/// Shows the arguments of a call as they come, without what will be missing of them when they are
/// shown whole: what stands under the names of secrets, the secrets of addresses and the known
/// ones. What may be the beginning of one is held back until it is known where it ends.
///
/// All else is given to the letter.
pub struct ArgumentsCarry<T> {
    texts: T,
    /// What is open, from the outermost.
    open: Vec<Open>,
    /// How much is open where a value is left out that is not shown.
    hidden_in: Option<usize>,
    place: Place,
    /// Whether the next text is the name of a member.
    names: bool,
    /// The beginning of the last name.
    name: String,
    /// Whether the next value stands under the name of a secret.
    secret: bool,
    /// The part of an escape that has come.
    escape: String,
    held: Held,
    /// Whether the rest of a word is left out.
    leaves_out: bool,
    shown: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Object,
    Array,
}

/// Where in the arguments the next character stands.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    #[default]
    Between,
    Text(Text),
    /// In a number, or in a word that is not a text.
    Word,
    /// Deeper than arguments can be.
    Lost,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Name,
    Shown,
    Secret,
}

/// What is held back.
#[derive(Default)]
struct Held {
    meant: String,
    written: String,
    /// Whether something of the same text has been shown.
    goes_on: bool,
}

impl<T: TextsShown> ArgumentsCarry<T> {
    /// The longest text without a blank that is held back, in bytes.
    pub const MAX_HELD: usize = MAX_HELD;
    /// How deep arguments are nested at most. What is deeper is not shown.
    pub const MAX_DEPTH: usize = MAX_DEPTH;

    /// At the beginning of the arguments of a call.
    #[must_use]
    pub fn new(texts: T) -> Self {
        Self {
            texts,
            open: Vec::new(),
            hidden_in: None,
            place: Place::default(),
            names: false,
            name: String::new(),
            secret: false,
            escape: String::new(),
            held: Held::default(),
            leaves_out: false,
            shown: String::new(),
        }
    }

    /// What can be shown of a text that has come whole, malformed as it may be. What stands in its
    /// addresses is looked for once more, as they may go on where JSON does not.
    #[must_use]
    pub fn whole(mut self, text: &str) -> Cow<'_, str> {
        let mut shown = self.push(text);
        shown.push_str(&self.finish());
        if let Cow::Owned(clean) = self.texts.text(&shown) {
            shown = clean;
        }
        match shown == text {
            true => text.into(),
            false => shown.into(),
        }
    }

    /// What can be shown after `piece`.
    pub fn push(&mut self, piece: &str) -> String {
        for c in piece.chars() {
            match self.place {
                Place::Between => self.between(c),
                Place::Text(text) => self.text(text, c),
                Place::Word => self.word(c),
                Place::Lost => {}
            }
        }
        mem::take(&mut self.shown)
    }

    /// The rest.
    pub fn finish(&mut self) -> String {
        match self.place {
            Place::Word => self.end_word(),
            Place::Text(_) => {
                self.escape.clear();
                // What has no end may be half of an address.
                if self.held.meant.contains("//") && !self.hides() {
                    self.held = Held::default();
                    self.shown.push_str(REDACTED);
                }
                self.let_go(End::Text);
            }
            Place::Between | Place::Lost => {}
        }
        mem::take(&mut self.shown)
    }

    fn hides(&self) -> bool {
        self.hidden_in.is_some() || self.place == Place::Text(Text::Secret)
    }

    fn between(&mut self, c: char) {
        match c {
            '"' => self.begin_text(),
            '{' | '[' => self.begin(c),
            '}' | ']' => {
                self.open.pop();
                self.names = false;
                self.structure(c);
                if self.hidden_in == Some(self.open.len()) {
                    self.hidden_in = None;
                }
            }
            ',' => {
                self.names = self.open.last() == Some(&Open::Object);
                self.secret = false;
                self.structure(c);
            }
            ':' => {
                self.secret = !self.names && is_secret_key(&self.name);
                self.structure(c);
            }
            c if c.is_whitespace() => self.structure(c),
            c => {
                self.place = Place::Word;
                self.hold(c, None);
            }
        }
    }

    fn structure(&mut self, c: char) {
        if self.hidden_in.is_none() {
            self.shown.push(c);
        }
    }

    fn begin(&mut self, c: char) {
        if mem::take(&mut self.secret) && self.hidden_in.is_none() {
            self.left_out();
            self.hidden_in = Some(self.open.len());
        }
        self.structure(c);
        if self.open.len() == MAX_DEPTH {
            self.place = Place::Lost;
            return;
        }
        self.open.push(match c {
            '{' => Open::Object,
            _ => Open::Array,
        });
        self.names = c == '{';
    }

    fn left_out(&mut self) {
        self.shown.push('"');
        self.shown.push_str(REDACTED);
        self.shown.push('"');
    }

    fn begin_text(&mut self) {
        let text = if mem::take(&mut self.names) {
            self.name.clear();
            Text::Name
        } else if mem::take(&mut self.secret) && self.hidden_in.is_none() {
            self.left_out();
            Text::Secret
        } else {
            Text::Shown
        };
        self.place = Place::Text(text);
        if !self.hides() {
            self.shown.push('"');
        }
    }

    fn text(&mut self, text: Text, c: char) {
        if !self.escape.is_empty() {
            self.escape.push(c);
            if let Some(meant) = escaped(&self.escape) {
                let written = mem::take(&mut self.escape);
                self.take(text, meant, Some(&written));
            }
            return;
        }
        match c {
            '\\' => self.escape.push(c),
            '"' => {
                self.let_go(End::Text);
                if !self.hides() {
                    self.shown.push('"');
                }
                self.place = Place::Between;
            }
            c => self.take(text, c, None),
        }
    }

    fn take(&mut self, text: Text, c: char, written: Option<&str>) {
        if text == Text::Name && self.name.len() <= MAX_NAME {
            self.name.push(c);
        }
        if self.hides() {
            return;
        }
        self.hold(c, written);
        if c.is_whitespace() && !self.texts.may_go_on(&self.held.meant) {
            self.let_go(End::Word);
        }
    }

    fn hold(&mut self, c: char, written: Option<&str>) {
        if self.leaves_out && !c.is_whitespace() {
            return;
        }
        self.leaves_out = false;
        self.held.meant.push(c);
        match written {
            Some(written) => self.held.written.push_str(written),
            None => self.held.written.push(c),
        }
        if self.held.meant.len() > MAX_HELD {
            self.overflows();
        }
    }

    /// Shows what is so long that it can be held no longer, but for an address, which is left out,
    /// and for the beginning of a known secret.
    fn overflows(&mut self) {
        if self.held.meant.contains("//") || self.held.meant.contains('?') {
            self.held = Held {
                goes_on: true,
                ..Held::default()
            };
            self.leaves_out = true;
            self.shown.push_str(REDACTED);
            return;
        }
        let keep = self.texts.begun(&self.held.meant);
        let rest = self.held.meant.split_off(self.held.meant.len() - keep);
        if !rest.is_empty() {
            self.held.written = as_written(&self.held.meant);
        }
        self.let_go(End::Word);
        self.held.written = as_written(&rest);
        self.held.meant = rest;
    }

    fn word(&mut self, c: char) {
        if !c.is_whitespace() && !matches!(c, ',' | '}' | ']' | '"') {
            return self.hold(c, None);
        }
        self.end_word();
        self.between(c);
    }

    fn end_word(&mut self) {
        self.place = Place::Between;
        let secret = mem::take(&mut self.secret);
        if self.hidden_in.is_some() {
            self.held = Held::default();
        } else if secret && self.held.meant != NULL {
            self.held = Held::default();
            self.left_out();
        } else {
            self.let_go(End::Text);
        }
        self.leaves_out = false;
    }

    /// Shows what was held back.
    fn let_go(&mut self, end: End) {
        let held = mem::take(&mut self.held);
        self.held.goes_on = end == End::Word;
        if end == End::Text {
            self.leaves_out = false;
        }
        if held.meant.is_empty() || self.hides() {
            return;
        }
        let shown = if end == End::Text && !held.goes_on {
            self.texts.text(&held.meant).into_owned()
        } else {
            // A part of a text is not an address and nothing else.
            let part = format!(" {}", held.meant);
            let shown = self.texts.text(&part);
            shown.strip_prefix(' ').unwrap_or(&shown).to_owned()
        };
        match shown == held.meant {
            true => self.shown.push_str(&held.written),
            false => self.shown.push_str(&as_written(&shown)),
        }
    }
}

/// What ends where something is let go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Word,
    Text,
}

/// What an escape of JSON means, if it is whole. What means nothing is the sign for that.
fn escaped(escape: &str) -> Option<char> {
    const SHORT: usize = 2;
    const LONG: usize = 6;
    let is_long = escape.starts_with("\\u");
    if escape.chars().count() < if is_long { LONG } else { SHORT } {
        return None;
    }
    let read = |text: &str| serde_json::from_str::<String>(&format!("\"{text}\""));
    match read(escape) {
        Ok(text) => Some(text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)),
        // The first half of two.
        Err(_) if is_long && escape.len() < 2 * LONG && is_first_half(escape) => None,
        Err(_) => Some(char::REPLACEMENT_CHARACTER),
    }
}

fn is_first_half(escape: &str) -> bool {
    let digits = escape.get(2..6);
    let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let follows = escape.get(6..).unwrap_or_default();
    unit.is_some_and(|unit| (0xD800..0xDC00).contains(&unit))
        && "\\u".starts_with(follows.get(..2).unwrap_or(follows))
}

fn as_written(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let inner = quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or_default().to_owned()
}
