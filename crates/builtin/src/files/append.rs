//! What goes to the end of a file, in the file's own encoding and line endings.
//!
//! What is there stays byte for byte, and is neither kept in memory nor written again.

use std::ops::ControlFlow;

use bytes::Bytes;
use encoding_rs::{CoderResult, Decoder, Encoder, EncoderResult, GB18030, GBK};
use outfitter_core::{FileKind, FileRef, FilesError, Hash, Hashing, ToolContext, ToolError};

use super::charset::{Charset, Unencodable};
use super::chunks::{Came, FIRST, each_chunk};
use super::endings::{Ending, LastEnding};
use super::error::tool_error;
use super::sniff::{Sniffer, Start, judge};

/// How much is decoded or encoded at once.
const STEP_BYTES: usize = 64 << 10;

/// What is to be written.
pub(super) struct Appendix {
    pub(super) bytes: Bytes,
    /// What the file had when its encoding was found out, where it must not have changed since.
    pub(super) of: Option<Hash>,
}

impl Appendix {
    fn plain(text: String) -> Self {
        Self {
            bytes: text.into(),
            of: None,
        }
    }
}

/// How the file says `text`.
///
/// # Errors
/// `invalid_arguments` where it has no words for it; what reading the file fails with.
pub(super) async fn appendix(
    cx: &ToolContext,
    file: FileRef<'_>,
    text: String,
) -> Result<Appendix, ToolError> {
    let files = cx.sandbox.files();
    match files.stat(file).await {
        Ok(stat) if stat.kind == FileKind::File => {}
        // A new file, or one of which writing says itself why it is not written.
        Ok(_) | Err(_) => return Ok(Appendix::plain(text)),
    }
    let first = match files.read(file, FIRST).await {
        Ok(first) => first,
        Err(FilesError::NotFound { .. }) => return Ok(Appendix::plain(text)),
        Err(error) => return Err(tool_error(error)),
    };
    let (charset, bom) = match judge(&first.bytes) {
        Start::Binary { mime } => {
            let message = format!("{} is not text, nothing can be added: {mime}", file.path);
            return Err(ToolError::invalid("/path", message)
                .with_hint("write it anew with mode overwrite, or use another path"));
        }
        Start::Known { charset, bom } => (charset, bom),
        Start::Open => (Charset::Utf8, 0),
    };
    if charset.decoder().is_some() {
        return Whole::read(cx, file, first, charset, bom).await?.say(&text);
    }
    let mut sniffer = Sniffer::new();
    let mut ending = LastEnding::default();
    let mut skip = bom;
    let again = first.clone();
    let came = each_chunk(cx, file, first, |chunk, _| {
        let piece = &chunk[skip.min(chunk.len())..];
        skip -= chunk.len() - piece.len();
        sniffer.push(piece);
        ending.push(piece);
        ControlFlow::Continue(())
    })
    .await?;
    must_be_through(file.path, came)?;
    match sniffer.finish().charset {
        Charset::Utf8 | Charset::BrokenUtf8 => Ok(Appendix::plain(ending.finish().write(&text))),
        // Only now it is known how to read it.
        charset => Whole::read(cx, file, again, charset, bom).await?.say(&text),
    }
}

fn must_be_through(path: &str, came: Came) -> Result<(), ToolError> {
    match came {
        Came::Through | Came::Enough => Ok(()),
        Came::Behind => Err(ToolError::failed(format!(
            "{path} grows faster than it is read, so its encoding is not known"
        ))),
    }
}

/// A file in an encoding other than UTF-8, read to its end.
struct Whole<'a> {
    path: &'a str,
    charset: Charset,
    hash: Hash,
    ending: Ending,
    /// Standing at the end of the file, in the middle of a character where it ends in one.
    decoder: Decoder,
    /// Whether some of it is nothing in this encoding.
    strays: bool,
}

impl<'a> Whole<'a> {
    async fn read(
        cx: &ToolContext,
        file: FileRef<'a>,
        first: outfitter_core::FileChunk,
        charset: Charset,
        bom: usize,
    ) -> Result<Self, ToolError> {
        let path = file.path;
        let Some(encoding) = charset.decoder() else {
            return Err(ToolError::internal("utf-8 is not decoded"));
        };
        let mut hashing = Hashing::new();
        let mut reader = Reader {
            decoder: encoding.new_decoder_without_bom_handling(),
            // The detector knows only the older name of what GBK grew into.
            narrow: (encoding == GBK).then(|| GBK.new_encoder()),
            wider: false,
            strays: false,
            ending: LastEnding::default(),
        };
        let mut skip = bom;
        let came = each_chunk(cx, file, first, |chunk, _| {
            hashing.update(chunk);
            let piece = &chunk[skip.min(chunk.len())..];
            skip -= chunk.len() - piece.len();
            reader.push(piece);
            ControlFlow::Continue(())
        })
        .await?;
        must_be_through(path, came)?;
        Ok(Self {
            path,
            charset: if reader.wider {
                Charset::Legacy(GB18030)
            } else {
                charset
            },
            hash: hashing.finish(),
            ending: reader.ending.finish(),
            decoder: reader.decoder,
            strays: reader.strays,
        })
    }

    /// The bytes for this text.
    fn say(mut self, text: &str) -> Result<Appendix, ToolError> {
        let (path, name) = (self.path, self.charset.name());
        let text = self.ending.write(text);
        let refuse = |at: &str, message: String| {
            Err(ToolError::invalid(at, message).with_hint(
                "write it another way, or rewrite the whole file as UTF-8 with mode overwrite",
            ))
        };
        if self.strays && !text.is_ascii() {
            let message = format!("{path} looks like {name} but does not hold to it");
            return refuse("/path", message);
        }
        let bytes = match self.charset.encode(&text) {
            Ok(bytes) => bytes,
            Err(Unencodable(c)) => {
                return refuse("/content", format!("{path} is {name}, which has no {c:?}"));
            }
        };
        // Behind half a character the bytes would be others' halves.
        if !text.is_empty() && read_on(&mut self.decoder, &bytes) != text {
            let message = format!("{path} is {name} and ends inside a character");
            return refuse("/path", message);
        }
        Ok(Appendix {
            bytes: bytes.into(),
            of: Some(self.hash),
        })
    }
}

/// Decodes a file as it passes by, for what is to be known of all of it.
struct Reader {
    decoder: Decoder,
    narrow: Option<Encoder>,
    wider: bool,
    strays: bool,
    ending: LastEnding,
}

impl Reader {
    fn push(&mut self, mut bytes: &[u8]) {
        let mut text = vec![0; STEP_BYTES];
        loop {
            let (state, read, written, strays) =
                self.decoder.decode_to_utf8(bytes, &mut text, false);
            bytes = &bytes[read..];
            self.strays |= strays;
            let piece = &text[..written];
            self.ending.push(piece);
            if let Some(narrow) = &mut self.narrow
                && !self.wider
            {
                self.wider = !has_all(narrow, piece);
            }
            if state == CoderResult::InputEmpty {
                return;
            }
        }
    }
}

/// Whether an encoding has every character of a text but those that stand for what is none.
fn has_all(encoder: &mut Encoder, text: &[u8]) -> bool {
    let mut sink = vec![0; STEP_BYTES];
    String::from_utf8_lossy(text)
        .split(char::REPLACEMENT_CHARACTER)
        .all(|mut rest| {
            loop {
                let (result, read, _) =
                    encoder.encode_from_utf8_without_replacement(rest, &mut sink, false);
                rest = &rest[read..];
                match result {
                    EncoderResult::InputEmpty => return true,
                    EncoderResult::OutputFull => {}
                    EncoderResult::Unmappable(_) => return false,
                }
            }
        })
}

/// What a reader of the file sees behind what was there.
fn read_on(decoder: &mut Decoder, mut bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut piece = vec![0; STEP_BYTES];
    loop {
        let (state, read, written, _) = decoder.decode_to_utf8(bytes, &mut piece, true);
        bytes = &bytes[read..];
        text.push_str(&String::from_utf8_lossy(&piece[..written]));
        if state == CoderResult::InputEmpty {
            return text;
        }
    }
}
