//! How a stream looks to its reader.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

/// Whether there is colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Yes.
    On,
    /// No: not one escape code is written.
    Off,
}

/// What a colour means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Nothing in particular.
    Plain,
    /// A name.
    Name,
    /// Something that goes on.
    Active,
    /// It went well.
    Good,
    /// It went wrong, or was refused.
    Bad,
    /// A person should look.
    Caution,
    /// Beside the point: reasoning, output of commands, counts.
    Quiet,
    /// What a command says on stderr.
    Stderr,
}

impl Ink {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Name => Style::new().bold(),
            Self::Active => colour(AnsiColor::Cyan),
            Self::Good => colour(AnsiColor::Green),
            Self::Bad => colour(AnsiColor::Red),
            Self::Caution => colour(AnsiColor::Yellow),
            Self::Quiet => Style::new().dimmed(),
            Self::Stderr => colour(AnsiColor::Yellow).dimmed(),
        }
    }
}

impl Colour {
    /// The text in an ink. The text itself must be safe to print.
    #[must_use]
    pub fn paint(self, ink: Ink, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 8);
        self.paint_into(&mut out, ink, text);
        out
    }

    /// Appends the text in an ink.
    pub fn paint_into(self, out: &mut String, ink: Ink, text: &str) {
        let style = ink.style();
        if self == Self::Off || style.is_plain() || text.is_empty() {
            out.push_str(text);
        } else {
            // Writing to a String does not fail.
            let _ = write!(out, "{style}{text}{style:#}");
        }
    }
}

/// One of the two streams, as a reader sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Face {
    /// Whether it is a terminal.
    pub terminal: bool,
    /// Whether it has colour.
    pub colour: Colour,
    /// How many columns a line has; none where lines have no end.
    pub width: Option<usize>,
}

impl Face {
    /// Plain text without an end of lines: a pipe or a file.
    pub const PLAIN: Self = Self {
        terminal: false,
        colour: Colour::Off,
        width: None,
    };
}
