//! What one reading of a file learns: its hash, its encoding, its lines.

use encoding_rs::Decoder;
use outfitter_core::{Hashing, ToolError};
use serde_json::{Map, Value, json};

use super::charset::Charset;
use super::chunks::{Came, MAX_GROWTH_BYTES};
use super::scan::{Cut, LineScan, Pick, Picked};
use super::sniff::Sniffer;

/// A file over this size is not read to its end for `total_lines` and `hash`.
pub(super) const MAX_COUNTED_BYTES: u64 = 256 << 20;

/// One pass over a file: hashed, sniffed, counted and picked as it goes by.
pub(super) struct Pass {
    pick: Pick,
    hash: Hashing,
    sniffer: Sniffer,
    /// What is known from a mark at the start.
    known: Option<Charset>,
    bom: usize,
    /// UTF-16 is counted and picked as UTF-8: its line feeds are not single bytes.
    transcoder: Option<Decoder>,
    lines: LineScan,
    skip: usize,
}

impl Pass {
    pub(super) fn new(pick: Pick, known: Option<Charset>, bom: usize) -> Self {
        let wide = known.filter(|charset| matches!(charset, Charset::Utf16Le | Charset::Utf16Be));
        Self {
            pick,
            hash: Hashing::new(),
            sniffer: Sniffer::new(),
            known,
            bom,
            transcoder: wide
                .and_then(Charset::decoder)
                .map(encoding_rs::Encoding::new_decoder_without_bom_handling),
            lines: LineScan::new(pick),
            skip: bom,
        }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.hash.update(chunk);
        let text = &chunk[self.skip.min(chunk.len())..];
        self.skip -= chunk.len() - text.len();
        if self.transcoder.is_some() {
            self.transcode(text, false);
        } else {
            self.sniffer.push(text);
            self.lines.push(text);
        }
    }

    /// Whether the rest of the file can only be counted.
    pub(super) fn has_all(&self) -> bool {
        self.lines.has_all()
    }

    fn transcode(&mut self, mut wide: &[u8], last: bool) {
        const STEP: usize = 64 << 10;
        let Some(decoder) = &mut self.transcoder else {
            return;
        };
        let mut narrow = vec![0; STEP];
        loop {
            let (state, read, written, _) = decoder.decode_to_utf8(wide, &mut narrow, last);
            self.lines.push(&narrow[..written]);
            wide = &wide[read..];
            if state == encoding_rs::CoderResult::InputEmpty {
                break;
            }
        }
    }

    /// The result, of a reading that came so far.
    pub(super) fn finish(mut self, came: Came) -> Result<Value, ToolError> {
        self.transcode(b"", true);
        let complete = came == Came::Through;
        let total = self.lines.lines();
        let first = self.pick.first;
        if complete && first > total.max(1) {
            let lines = if total == 1 { "line" } else { "lines" };
            return Err(ToolError::invalid(
                "/start_line",
                format!("line {first} does not exist: the file has {total} {lines}"),
            ));
        }
        let sniffed = self.sniffer.finish();
        let sniffed = match self.known {
            Some(Charset::Utf8) | None => sniffed,
            Some(known) => known.into(),
        };
        let charset = sniffed.charset;
        let endings = self.lines.endings().name();
        let cut_off = came == Came::Behind && !self.lines.has_all();
        let picked = self.lines.finish();
        let text = if self.transcoder.is_some() {
            String::from_utf8_lossy(&picked.bytes).into_owned()
        } else {
            charset.show(&picked.bytes)
        };

        let mut result = Map::new();
        let mut put = |name: &str, value: Value| result.insert(name.to_owned(), value);
        put("content", number(&text, first, picked.cut).into());
        if complete {
            put("total_lines", total.into());
        }
        put("start_line", first.into());
        put("end_line", picked.last.into());
        put("encoding", charset.name().into());
        put("eol", endings.into());
        put("bom", (self.bom > 0).into());
        if complete {
            put("hash", json!(self.hash.finish()));
        }
        let mut notices = notices(&picked, self.pick.max_bytes, came);
        notices.extend(sniffed.written().doubt("the file"));
        if picked.cut.is_some() || cut_off {
            put("truncated", Value::Bool(true));
        }
        if !notices.is_empty() {
            put("notice", notices.join("; ").into());
        }
        Ok(Value::Object(result))
    }
}

fn notices(picked: &Picked, max_bytes: usize, came: Came) -> Vec<String> {
    let mut notices = Vec::new();
    match picked.cut {
        Some(Cut::BetweenLines) => notices.push(format!(
            "cut at {max_bytes} bytes; go on with start_line {}",
            picked.last + 1
        )),
        Some(Cut::InsideLine) => notices.push(format!(
            "line {} is longer than {max_bytes} bytes and is cut; go on with start_line {}",
            picked.last,
            picked.last + 1
        )),
        None => {}
    }
    match came {
        Came::Through => {}
        Came::Enough => notices.push(format!(
            "the file has more than {MAX_COUNTED_BYTES} bytes, so total_lines and hash are left out"
        )),
        Came::Behind => notices.push(format!(
            "the file grew by {MAX_GROWTH_BYTES} bytes while it was read, so total_lines and hash \
             are left out"
        )),
    }
    notices
}

/// The lines with their numbers in front.
fn number(text: &str, first: u64, cut: Option<Cut>) -> String {
    use std::fmt::Write as _;
    let text = match cut {
        // The cut may have left half a character.
        Some(Cut::InsideLine) => text.trim_end_matches(char::REPLACEMENT_CHARACTER),
        Some(Cut::BetweenLines) | None => text,
    };
    let mut numbered = String::with_capacity(text.len() + text.len() / 4);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if index > 0 {
            numbered.push('\n');
        }
        // Writing to a String cannot fail.
        let _ = write!(numbered, "{:>4}| {line}", first + index as u64);
    }
    numbered
}
