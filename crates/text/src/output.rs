//! The output of a command, made readable as it comes.

use crate::ansi::AnsiFold;
use crate::binary::{self, Content, SNIFFED_BYTES};
use crate::decode::{TextDecoder, Written};
use crate::head_tail::{Extent, Whole};
use crate::lines::StreamBound;

/// How much is decoded at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// What some programs write before their text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// One stream of a command: bytes in, the text a model reads out.
///
/// Decodes, folds terminal control and keeps head and tail; binary output becomes
/// `binary, N bytes, TYPE`. The memory is bounded whatever the command prints.
///
/// ```
/// use outfitter_text::head_tail::Whole;
/// use outfitter_text::output::OutputText;
///
/// let mut stdout = OutputText::new(8000);
/// stdout.push(b"10%\r100%\r\n\x1b[32mdo");
/// stdout.push(b"ne\x1b[0m\n");
/// assert_eq!(stdout.finish(Whole::NotKept).text, "100%\ndone\n");
/// ```
#[derive(Debug)]
pub struct OutputText {
    sample: Vec<u8>,
    raw_bytes: u64,
    decoder: TextDecoder,
    ansi: AnsiFold,
    decoded: String,
    scratch: String,
    kept: StreamBound,
    /// Whether any text has come.
    begun: bool,
    /// Whether a byte order mark was left out.
    marked: bool,
}

/// What became of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedOutput {
    /// What a model reads, within the limit.
    pub text: String,
    /// Bytes the command wrote.
    pub raw_bytes: u64,
    /// Lines of the folded text, an unfinished last one included; 0 for binary output.
    pub lines: u64,
    /// What is left out of the folded text, if anything is.
    pub omitted: Option<Extent>,
    /// Whether it is text at all.
    pub content: Content,
    /// In what it was written; that of binary output means nothing.
    pub written: Written,
}

/// A stream that has ended, before it is known where the whole of it is kept.
#[derive(Debug)]
pub struct EndedOutput {
    sample: Vec<u8>,
    raw_bytes: u64,
    kept: StreamBound,
    content: Content,
    written: Written,
    /// Whether a byte order mark was left out.
    marked: bool,
}

impl OutputText {
    /// Nothing written yet; `max_chars` bounds the text, the marker included.
    #[must_use]
    pub fn new(max_chars: usize) -> Self {
        Self {
            sample: Vec::new(),
            raw_bytes: 0,
            decoder: TextDecoder::default(),
            ansi: AnsiFold::default(),
            decoded: String::new(),
            scratch: String::new(),
            kept: StreamBound::new(max_chars),
            begun: false,
            marked: false,
        }
    }

    /// The next bytes the command wrote.
    pub fn push(&mut self, bytes: &[u8]) {
        self.raw_bytes += bytes.len() as u64;
        let sampled = bytes.len().min(SNIFFED_BYTES - self.sample.len());
        self.sample.extend_from_slice(&bytes[..sampled]);

        // Piece by piece, so that what is decoded at a time is small however much comes at once.
        for piece in bytes.chunks(PIECE_BYTES) {
            self.decoder.push(piece, &mut self.decoded);
            self.keep_decoded();
        }
    }

    /// Bytes written so far.
    #[must_use]
    pub fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Ends the stream, and says at once what a reader gets.
    #[must_use]
    pub fn finish(self, whole: Whole<'_>) -> FinishedOutput {
        self.end().finish(whole)
    }

    /// Ends the stream.
    #[must_use]
    pub fn end(mut self) -> EndedOutput {
        let decoder = std::mem::take(&mut self.decoder);
        let written = decoder.finish(&mut self.decoded);
        self.keep_decoded();
        self.ansi.finish(&mut self.scratch);
        self.keep_scratch();
        // Text that is wide is full of zeros, and text all the same.
        let content = match crate::decode::utf16(&self.sample) {
            Some(_) => Content::Text,
            None => binary::sniff(&self.sample),
        };
        EndedOutput {
            sample: self.sample,
            raw_bytes: self.raw_bytes,
            kept: self.kept,
            content,
            written,
            marked: self.marked,
        }
    }

    fn keep_decoded(&mut self) {
        if !self.begun && !self.decoded.is_empty() {
            self.begun = true;
            // A mark of the encoding is no character of the text.
            if self.decoded.starts_with(BYTE_ORDER_MARK) {
                self.marked = true;
                self.decoded.drain(..BYTE_ORDER_MARK.len_utf8());
            }
        }
        self.ansi.push(&self.decoded, &mut self.scratch);
        self.decoded.clear();
        self.keep_scratch();
    }

    fn keep_scratch(&mut self) {
        self.kept.push(&self.scratch);
        self.scratch.clear();
    }
}

impl EndedOutput {
    /// Whether it is text at all.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// Whether a reader gets less than all of it.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.content == Content::Binary || self.kept.bounded(Whole::NotKept).omitted().is_some()
    }

    /// Whether the bytes as they came can be had of what a reader gets.
    #[must_use]
    pub fn is_as_it_came(&self) -> bool {
        !self.is_cut() && !self.marked && self.written == Written::Utf8
    }

    /// What a reader gets, who finds the whole there.
    #[must_use]
    pub fn finish(self, whole: Whole<'_>) -> FinishedOutput {
        let (text, lines, omitted) = match self.content {
            Content::Text => {
                let bounded = self.kept.bounded(whole);
                (bounded.to_string(), self.kept.lines(), bounded.omitted())
            }
            Content::Binary => {
                let mime = binary::mime(&self.sample);
                (binary::describe(self.raw_bytes, mime), 0, None)
            }
        };
        FinishedOutput {
            text,
            raw_bytes: self.raw_bytes,
            lines,
            omitted,
            content: self.content,
            written: self.written,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_of_the_encoding_stood_before_the_output_of_a_command() {
        for pieces in [
            &[&b"\xef\xbb\xbfone\n"[..]][..],
            &[b"\xef", b"\xbb\xbf", b"one\n"],
        ] {
            let mut output = OutputText::new(100);
            for piece in pieces {
                output.push(piece);
            }
            let ended = output.end();
            assert!(!ended.is_as_it_came(), "its bytes are kept");
            let finished = ended.finish(Whole::NotKept);
            assert_eq!(finished.text, "one\n");
            assert_eq!(finished.raw_bytes, 7);
        }
        // Elsewhere it is a character like others.
        let mut output = OutputText::new(100);
        output.push("a\u{feff}b".as_bytes());
        assert_eq!(output.finish(Whole::NotKept).text, "a\u{feff}b");
    }
}
