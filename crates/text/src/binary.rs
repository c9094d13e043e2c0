//! Is this output text, and if not, how is it named?

/// How many bytes from the start decide.
pub const SNIFFED_BYTES: usize = 8192;

/// A text has fewer unusual control characters than one in this many bytes.
const BYTES_PER_CONTROL: usize = 10;

/// What a piece of output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Worth showing to a reader, in whatever encoding.
    Text,
    /// Not text: name it with [`describe`].
    Binary,
}

/// Judges output by its first [`SNIFFED_BYTES`].
///
/// Text in another encoding (Latin-1, GBK) is text. A NUL makes it binary, unless the rest is
/// valid UTF-8 and the NULs stand alone as separators, as `find -print0` writes them.
#[must_use]
pub fn sniff(bytes: &[u8]) -> Content {
    let sample = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    let nuls = memchr::memchr_iter(0, sample).count();
    if nuls > 0 && !separates_text(sample, nuls) {
        return Content::Binary;
    }
    let controls = sample.iter().filter(|&&byte| is_unusual(byte)).count();
    if controls * BYTES_PER_CONTROL > sample.len() {
        return Content::Binary;
    }
    Content::Text
}

/// What nothing better is known of.
pub const UNKNOWN_MIME: &str = "application/octet-stream";

/// The media type of binary content by its first bytes.
#[must_use]
pub fn mime(start: &[u8]) -> &'static str {
    infer::get(start).map_or(UNKNOWN_MIME, |kind| kind.mime_type())
}

/// The words a reader gets in place of binary output: `binary, 65536 bytes, image/png`.
#[must_use]
pub fn describe(total_bytes: u64, mime: &str) -> String {
    let unit = if total_bytes == 1 { "byte" } else { "bytes" };
    format!("binary, {total_bytes} {unit}, {mime}")
}

fn separates_text(sample: &[u8], nuls: usize) -> bool {
    let valid = match std::str::from_utf8(sample) {
        Ok(_) => true,
        // A character cut by the end of the sample is not invalid.
        Err(error) => error.error_len().is_none(),
    };
    // Every second byte NUL is UTF-16, not a list.
    let sparse = nuls * 2 < sample.len() - 1;
    valid && sparse && memchr::memmem::find(sample, b"\0\0").is_none()
}

/// Control characters that no terminal output needs. NUL is judged on its own.
fn is_unusual(byte: u8) -> bool {
    matches!(byte, 0x01..=0x06 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)
}
