//! Terminal output folded to what a reader would see.
//!
//! Escape sequences are dropped (ECMA-48 and xterm's control sequences: CSI, OSC, DCS, SOS, PM,
//! APC, single escapes, and their C1 forms). Redraws are folded: of the frames a progress bar
//! draws over each other with carriage returns, the last one stays. Tabs and line breaks stay;
//! form feed, vertical tab and NEL break the line; NUL shows as U+2400; other controls go.

use std::borrow::Cow;

/// A line longer than this is passed on before it ends, and can be redrawn only from there, so
/// that one endless line does not fill the memory.
pub const MAX_FOLDED_LINE_BYTES: usize = 64 * 1024;

/// What NUL becomes: visible, so that the parts it separates do not run together.
const VISIBLE_NUL: char = '\u{2400}';

/// CSI parameters are only looked at to recognise a redraw; longer ones are none.
const MAX_PARAMETERS: usize = 4;

/// Folds a whole text. Borrows where there is nothing to fold.
///
/// ```
/// use outfitter_text::ansi::fold;
///
/// assert_eq!(fold("\x1b[1;31merror\x1b[0m: no\n"), "error: no\n");
/// assert_eq!(fold("1/3\r2/3\r3/3\ndone"), "3/3\ndone");
/// ```
#[must_use]
pub fn fold(text: &str) -> Cow<'_, str> {
    if run_len(text) == text.len() {
        return Cow::Borrowed(text);
    }
    let mut folder = AnsiFold::default();
    let mut out = String::with_capacity(text.len());
    folder.push(text, &mut out);
    folder.finish(&mut out);
    Cow::Owned(out)
}

/// Folds a stream of text pieces; how it is cut into pieces makes no difference.
#[derive(Debug, Default, Clone)]
pub struct AnsiFold {
    state: State,
    parameters: Parameters,
    line: String,
    /// The next character starts the line anew.
    redraw: bool,
    /// How many characters the cursor was moved back and will overwrite.
    back: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate, as in `ESC ( B`.
    EscapeIntermediate,
    /// Between CSI and its final character.
    Csi,
    /// Inside OSC, DCS, SOS, PM or APC, until BEL or ST.
    ControlString,
}

#[derive(Debug, Default, Clone, Copy)]
struct Parameters {
    bytes: [u8; MAX_PARAMETERS],
    len: usize,
}

impl Parameters {
    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.len) {
            *slot = byte;
        }
        self.len = self.len.saturating_add(1);
    }

    fn are(self, text: &[u8]) -> bool {
        self.bytes.get(..self.len) == Some(text)
    }
}

impl AnsiFold {
    /// Takes the next piece and appends to `out` what can no longer be redrawn.
    pub fn push(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Ground {
                rest = self.take_run(rest, out);
            }
            let mut characters = rest.chars();
            if let Some(character) = characters.next() {
                self.step(character, out);
                rest = characters.as_str();
            }
        }
    }

    /// Ends the text: appends the last line. A sequence that was begun is dropped.
    pub fn finish(&mut self, out: &mut String) {
        out.push_str(&self.line);
        *self = Self::default();
    }

    /// Appends characters that need no thought.
    fn take_run<'a>(&mut self, text: &'a str, out: &mut String) -> &'a str {
        let (run, rest) = text.split_at(run_len(text));
        if run.is_empty() {
            return rest;
        }
        match memchr::memrchr(b'\n', run.as_bytes()) {
            None => self.write(run, out),
            Some(last) => {
                let first = memchr::memchr(b'\n', run.as_bytes()).unwrap_or(last);
                self.write(&run[..first], out);
                out.push_str(&self.line);
                self.start_line();
                out.push_str(&run[first..=last]);
                self.write(&run[last + 1..], out);
            }
        }
        rest
    }

    fn step(&mut self, character: char, out: &mut String) {
        match self.state {
            State::Ground => self.ground(character, out),
            State::Escape => self.escape(character, out),
            State::EscapeIntermediate => match character {
                ' '..='/' => {}
                '0'..='~' => self.state = State::Ground,
                _ => self.abandon(character, out),
            },
            State::Csi => match character {
                '0'..='?' | ' '..='/' => self.parameters.push(character as u8),
                '@'..='~' => self.end_csi(character),
                _ => self.abandon(character, out),
            },
            State::ControlString => match character {
                '\x07' | '\u{9c}' | '\x18' | '\x1a' => self.state = State::Ground,
                '\x1b' => self.state = State::Escape,
                // A string that never ends costs its own line, not all that follows.
                '\n' => self.abandon(character, out),
                _ => {}
            },
        }
    }

    fn ground(&mut self, character: char, out: &mut String) {
        match character {
            '\x1b' => self.state = State::Escape,
            '\u{9b}' => self.start_csi(),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
                self.state = State::ControlString;
            }
            '\n' | '\x0b' | '\x0c' | '\u{85}' => self.end_line(out),
            '\r' => self.redraw = true,
            '\x08' => self.back = self.back.saturating_add(1),
            '\0' => self.write(VISIBLE_NUL.encode_utf8(&mut [0; 4]), out),
            _ if is_control(character) => {}
            _ => self.write(character.encode_utf8(&mut [0; 4]), out),
        }
    }

    fn escape(&mut self, character: char, out: &mut String) {
        match character {
            '[' => self.start_csi(),
            ']' | 'P' | 'X' | '^' | '_' => self.state = State::ControlString,
            ' '..='/' => self.state = State::EscapeIntermediate,
            '0'..='~' => self.state = State::Ground,
            _ => self.abandon(character, out),
        }
    }

    /// The sequence was none: the character stands for itself.
    fn abandon(&mut self, character: char, out: &mut String) {
        self.state = State::Ground;
        self.ground(character, out);
    }

    fn start_csi(&mut self) {
        self.state = State::Csi;
        self.parameters = Parameters::default();
    }

    fn end_csi(&mut self, last: char) {
        self.state = State::Ground;
        match last {
            // Erase the whole line, cursor to the first column: what tools write that redraw
            // without a carriage return.
            'K' if self.parameters.are(b"2") => self.start_line(),
            'G' if self.parameters.are(b"") || self.parameters.are(b"1") => self.redraw = true,
            _ => {}
        }
    }

    fn write(&mut self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.redraw) {
            self.line.clear();
            self.back = 0;
        }
        for _ in 0..std::mem::take(&mut self.back).min(self.line.len()) {
            self.line.pop();
        }
        let mut rest = text;
        while self.line.len() + rest.len() > MAX_FOLDED_LINE_BYTES {
            let fits = rest.floor_char_boundary(MAX_FOLDED_LINE_BYTES - self.line.len());
            out.push_str(&self.line);
            out.push_str(&rest[..fits]);
            self.line.clear();
            rest = &rest[fits..];
        }
        self.line.push_str(rest);
    }

    fn end_line(&mut self, out: &mut String) {
        out.push_str(&self.line);
        out.push('\n');
        self.start_line();
    }

    fn start_line(&mut self) {
        self.line.clear();
        self.redraw = false;
        self.back = 0;
    }
}

/// How many bytes from the start are neither control characters nor the lead byte of C1 ones,
/// line breaks and tabs apart.
fn run_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|&byte| needs_thought(byte)) {
        at += found;
        // U+0080..U+009F are C2 80..C2 9F; C2 A0 and up are ordinary characters.
        if bytes[at] == 0xc2 && bytes.get(at + 1).is_some_and(|&next| next >= 0xa0) {
            at += 2;
            continue;
        }
        return at;
    }
    bytes.len()
}

fn needs_thought(byte: u8) -> bool {
    match byte {
        b'\n' | b'\t' => false,
        0..=0x1f | 0x7f | 0xc2 => true,
        _ => false,
    }
}

fn is_control(character: char) -> bool {
    character.is_control() && character != '\t'
}
