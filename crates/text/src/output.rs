//! The output of a command, made readable as it comes.

use crate::ansi::AnsiFold;
use crate::binary::{self, Content, SNIFFED_BYTES};
use crate::head_tail::{Extent, Whole};
use crate::lines::StreamBound;
use crate::utf8::Utf8Carry;

/// One stream of a command: bytes in, the text a model reads out.
///
/// Decodes, folds terminal control and keeps head and tail; binary output becomes
/// `binary, N bytes`. The memory is bounded whatever the command prints.
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
#[derive(Debug, Clone)]
pub struct OutputText {
    sample: Vec<u8>,
    raw_bytes: u64,
    utf8: Utf8Carry,
    ansi: AnsiFold,
    scratch: String,
    kept: StreamBound,
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
}

impl OutputText {
    /// Nothing written yet; `max_chars` bounds the text, the marker included.
    #[must_use]
    pub fn new(max_chars: usize) -> Self {
        Self {
            sample: Vec::new(),
            raw_bytes: 0,
            utf8: Utf8Carry::default(),
            ansi: AnsiFold::default(),
            scratch: String::new(),
            kept: StreamBound::new(max_chars),
        }
    }

    /// The next bytes the command wrote.
    pub fn push(&mut self, bytes: &[u8]) {
        self.raw_bytes += bytes.len() as u64;
        let sampled = bytes.len().min(SNIFFED_BYTES - self.sample.len());
        self.sample.extend_from_slice(&bytes[..sampled]);

        let text = self.utf8.decode(bytes);
        self.ansi.push(&text, &mut self.scratch);
        self.keep_scratch();
    }

    /// Bytes written so far.
    #[must_use]
    pub fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Ends the stream.
    #[must_use]
    pub fn finish(mut self, whole: Whole<'_>) -> FinishedOutput {
        let begun = self.utf8.finish();
        self.ansi.push(begun, &mut self.scratch);
        self.ansi.finish(&mut self.scratch);
        self.keep_scratch();

        let content = binary::sniff(&self.sample);
        match content {
            Content::Text => {
                let bounded = self.kept.bounded(whole);
                FinishedOutput {
                    text: bounded.to_string(),
                    raw_bytes: self.raw_bytes,
                    lines: self.kept.lines(),
                    omitted: bounded.omitted(),
                    content,
                }
            }
            Content::Binary => FinishedOutput {
                text: binary::describe(self.raw_bytes),
                raw_bytes: self.raw_bytes,
                lines: 0,
                omitted: None,
                content,
            },
        }
    }

    fn keep_scratch(&mut self) {
        self.kept.push(&self.scratch);
        self.scratch.clear();
    }
}
