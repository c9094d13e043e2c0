//! Lines of words in inks, no wider than there is room.

use crate::render::text::{columns, visible};
use crate::render::{Face, Ink};

/// Room for something, however narrow the terminal is.
const LEAST_COLUMNS: usize = 16;

/// Some words in one ink.
pub(super) type Span = (Ink, String);

/// The lines that are drawn, beneath a call.
pub(super) struct Page {
    face: Face,
    lines: Vec<Vec<Span>>,
}

impl Page {
    pub(super) fn new(face: Face) -> Self {
        Self {
            face,
            lines: Vec::new(),
        }
    }

    /// How many columns a line has; none where lines have no end.
    pub(super) fn room(&self) -> Option<usize> {
        let margin = columns(MARGIN);
        let width = self.face.width?;
        Some(width.saturating_sub(margin).max(LEAST_COLUMNS))
    }

    pub(super) fn line(&mut self, spans: Vec<Span>) {
        self.lines.push(spans);
    }

    pub(super) fn heading(&mut self, title: Option<&str>) {
        if let Some(title) = title.filter(|title| !title.is_empty()) {
            self.words(Ink::Name, "", title);
        }
    }

    /// Words, in as many lines as they need. `mark` stands before the first; the others begin
    /// beneath the words.
    pub(super) fn words(&mut self, ink: Ink, mark: &str, text: &str) {
        let indent = " ".repeat(columns(mark));
        let room = self.room().map(|room| room.saturating_sub(indent.len()));
        let mut before = mark.to_owned();
        for line in text.split('\n') {
            for piece in wrapped(&clean(line), room) {
                let before = std::mem::replace(&mut before, indent.clone());
                self.line(vec![(Ink::Quiet, before), (ink, piece)]);
            }
        }
    }

    /// A line whose blanks matter, cut where it is too long.
    pub(super) fn exact(&mut self, ink: Ink, text: &str) {
        let text = clean(text);
        let text = match self.room() {
            Some(room) => crate::render::text::clip(&text, room).into_owned(),
            None => text,
        };
        self.line(vec![(ink, text)]);
    }

    /// Says how much there is beside what is drawn.
    pub(super) fn omitted(&mut self, count: u64, one: &str, many: &str) {
        if count > 0 {
            let words = format!("… {}", crate::render::units::count(count, one, many));
            self.line(vec![(Ink::Quiet, words)]);
        }
    }

    /// At most this many of the lines, and how many there are.
    pub(super) fn text(&self, most: usize) -> (String, usize) {
        let colour = self.face.colour;
        let mut out = String::new();
        for line in self.lines.iter().take(most) {
            let mut line: &[Span] = line;
            while let [rest @ .., (_, last)] = line
                && last.trim_end().is_empty()
            {
                line = rest;
            }
            colour.paint_into(&mut out, Ink::Quiet, MARGIN.trim_end());
            for (place, (ink, words)) in line.iter().enumerate() {
                if place == 0 {
                    out.push(' ');
                }
                let words = match place + 1 == line.len() {
                    true => words.trim_end(),
                    false => words,
                };
                colour.paint_into(&mut out, *ink, words);
            }
            out.push('\n');
        }
        (out, self.lines.len())
    }
}

/// What stands before every line.
const MARGIN: &str = "  │ ";

/// A line that is safe to print and whose columns can be counted.
fn clean(line: &str) -> String {
    visible(line).replace('\t', "    ")
}

/// The line in pieces of at most `room` columns, broken between words where that is possible.
fn wrapped(line: &str, room: Option<usize>) -> Vec<String> {
    let room = match room {
        Some(room) if columns(line) > room => room.max(1),
        Some(_) | None => return vec![line.to_owned()],
    };
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for word in line.split_inclusive(' ') {
        if !piece.is_empty() && columns(&piece) + columns(word.trim_end()) > room {
            pieces.push(std::mem::take(&mut piece));
        }
        for character in word.chars() {
            let wide = columns(character.encode_utf8(&mut [0; 4]));
            if character != ' ' && !piece.is_empty() && columns(&piece) + wide > room {
                pieces.push(std::mem::take(&mut piece));
            }
            piece.push(character);
        }
    }
    pieces.push(piece);
    pieces
}
