//! A whole text file in memory: decoded, and written back in the encoding that it has.

use bytes::{Bytes, BytesMut};
use outfitter_core::{Code, FileRef, FilesError, Range, ToolContext, ToolError};

use super::CHUNK_BYTES;
use super::charset::{Charset, Unencodable};
use super::error::tool_error;
use super::sniff::{Sniffer, Start, judge};

/// The largest file that is changed, before and after.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;

/// All bytes of a file.
pub(super) async fn load(cx: &ToolContext, file: FileRef<'_>) -> Result<Bytes, FilesError> {
    let mut whole = BytesMut::new();
    loop {
        let range = Range {
            from: whole.len() as u64,
            max: CHUNK_BYTES,
        };
        let chunk = cx.sandbox.files().read(file, range).await?;
        if chunk.size > MAX_FILE_BYTES {
            return Err(too_large(file.path, chunk.size));
        }
        whole.extend_from_slice(&chunk.bytes);
        if chunk.bytes.is_empty() || whole.len() as u64 >= chunk.size {
            return Ok(whole.freeze());
        }
    }
}

pub(super) fn too_large(path: &str, size: u64) -> FilesError {
    FilesError::TooLarge {
        path: path.to_owned(),
        size,
        limit: MAX_FILE_BYTES,
    }
}

/// A file as text that gives exactly its bytes again.
pub(super) struct WholeText<'a> {
    path: &'a str,
    mark: Vec<u8>,
    charset: Charset,
    pub(super) text: String,
}

impl<'a> WholeText<'a> {
    pub(super) fn of(bytes: &[u8], path: &'a str) -> Result<Self, ToolError> {
        let (charset, bom) = charset_of(bytes, path)?;
        let (mark, body) = bytes.split_at(bom);
        let Some((text, charset)) = charset.decode_exactly(body) else {
            return Err(ToolError::failed(format!(
                "{path} looks like {} but does not hold to it, so changing it would change more than what was asked for",
                charset.name()
            )));
        };
        Ok(Self {
            path,
            mark: mark.to_vec(),
            charset,
            text,
        })
    }

    /// The bytes of the file with this text instead. `at` is the argument that the text is of.
    pub(super) fn with(&self, text: &str, at: &str) -> Result<Bytes, ToolError> {
        let path = self.path;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(tool_error(too_large(path, text.len() as u64)));
        }
        let mut bytes = self.mark.clone();
        bytes.extend(self.charset.encode(text).map_err(|Unencodable(c)| {
            let message = format!("{path} is {}, which has no {c:?}", self.charset.name());
            ToolError::invalid(at, message).with_hint(
                "write it another way, or rewrite the whole file as UTF-8 with file_write",
            )
        })?);
        Ok(bytes.into())
    }
}

fn charset_of(bytes: &[u8], path: &str) -> Result<(Charset, usize), ToolError> {
    let (known, bom) = match judge(bytes) {
        Start::Binary { mime } => {
            return Err(ToolError::new(
                Code::InvalidArguments,
                format!("{path} is not text: {mime}"),
            ));
        }
        Start::Known { charset, bom } => (Some(charset), bom),
        Start::Open => (None, 0),
    };
    match known {
        Some(charset @ (Charset::Utf16Le | Charset::Utf16Be)) => Ok((charset, bom)),
        Some(_) | None => {
            let mut sniffer = Sniffer::new();
            sniffer.push(&bytes[bom..]);
            Ok((sniffer.finish().charset, bom))
        }
    }
}
