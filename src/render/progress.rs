//! What a running call prints, line by line.

use outfitter_core::{CallId, Stream, UnixMs};
use outfitter_text::ansi::AnsiFold;

use super::call::{fit, left_out};
use super::text::visible;
use super::{Detail, Face, Ink, units};

/// How many lines of one call are shown while it runs.
const LIVE_LINES: u64 = 400;

/// A call that has not ended.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) id: CallId,
    /// Its tool's name, with a number where another call of that tool is open.
    pub(super) label: String,
    pub(super) begun: UnixMs,
    streams: [Lines; 3],
    shown: u64,
    hidden: u64,
}

/// Text of one stream, cut into lines as they end.
#[derive(Debug, Default)]
struct Lines {
    fold: AnsiFold,
    begun: String,
}

impl Lines {
    /// Takes a piece and gives the lines that ended in it.
    fn push(&mut self, text: &str) -> Vec<String> {
        self.fold.push(text, &mut self.begun);
        let Some(end) = self.begun.rfind('\n') else {
            return Vec::new();
        };
        let rest = self.begun.split_off(end + 1);
        let ended = std::mem::replace(&mut self.begun, rest);
        ended.lines().map(str::to_owned).collect()
    }

    /// The line that never ended.
    fn finish(&mut self) -> Option<String> {
        self.fold.finish(&mut self.begun);
        let last = std::mem::take(&mut self.begun);
        (!last.is_empty()).then_some(last)
    }
}

impl OpenCall {
    pub(super) fn new(id: CallId, label: String, begun: UnixMs) -> Self {
        Self {
            id,
            label,
            begun,
            streams: Default::default(),
            shown: 0,
            hidden: 0,
        }
    }

    /// The lines to show for a piece of output.
    pub(super) fn push(
        &mut self,
        look: &Look<'_>,
        stream: Stream,
        text: &str,
        dropped: u64,
    ) -> String {
        let mut out = String::new();
        if dropped > 0 {
            let words = format!("… {} lost", units::bytes(dropped));
            look.line(&mut out, Ink::Caution, &words);
        }
        for line in self.streams[stream as usize].push(text) {
            self.show(look, &mut out, stream, &line);
        }
        out
    }

    /// The lines that never ended, once nothing more comes.
    pub(super) fn finish(&mut self, look: &Look<'_>) -> String {
        let mut out = String::new();
        for stream in [Stream::Stdout, Stream::Stderr, Stream::Info] {
            if let Some(line) = self.streams[stream as usize].finish() {
                self.show(look, &mut out, stream, &line);
            }
        }
        out.push_str(&left_out(
            look.face.colour,
            std::mem::take(&mut self.hidden),
        ));
        out
    }

    fn show(&mut self, look: &Look<'_>, out: &mut String, stream: Stream, line: &str) {
        if look.detail == Detail::Calm && self.shown >= LIVE_LINES {
            self.hidden += 1;
            return;
        }
        self.shown += 1;
        let ink = match stream {
            Stream::Stdout | Stream::Info => Ink::Quiet,
            Stream::Stderr => Ink::Stderr,
        };
        look.line(out, ink, line);
    }
}

/// How lines of output look.
#[derive(Debug)]
pub(super) struct Look<'a> {
    pub(super) face: Face,
    pub(super) detail: Detail,
    /// Whose lines these are, where a reader could not tell.
    pub(super) label: Option<&'a str>,
}

impl Look<'_> {
    fn line(&self, out: &mut String, ink: Ink, line: &str) {
        let line = visible(line).replace('\t', "    ");
        let label = self
            .label
            .map(|label| format!("{label} "))
            .unwrap_or_default();
        let colour = self.face.colour;
        colour.paint_into(out, Ink::Quiet, "  │ ");
        colour.paint_into(out, Ink::Active, &label);
        let taken = 4 + super::text::columns(&label);
        colour.paint_into(out, ink, &fit(self.face, &line, taken));
        out.push('\n');
    }
}
