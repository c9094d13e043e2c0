//! Bodies of `multipart/form-data` (RFC 7578).
//!
//! Names are written as browsers write them (the HTML standard, "multipart/form-data encoding
//! algorithm"): UTF-8 as it is, `"`, CR and LF as `%22`, `%0D` and `%0A`. The writer of `reqwest` is
//! not used: its bodies are streams, which cannot be sent again after a redirect, and it writes
//! other names than those by RFC 5987, which RFC 7578 forbids.

use memchr::memmem;
use outfitter_core::{Bytes, Hashing};

/// How long a boundary is; at most 70 (RFC 2046, 5.1.1).
const BOUNDARY_CHARS: usize = 40;

/// One part.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) name: String,
    /// What the file is called, where it is one.
    pub(super) file: Option<String>,
    /// Its media type, where it is not plain text.
    pub(super) kind: Option<String>,
    pub(super) bytes: Bytes,
}

/// The body, and its media type. What stands between the parts is in none of them.
pub(super) fn write(parts: &[Part]) -> (String, Vec<u8>) {
    let boundary = boundary(parts);
    let mut body = Vec::with_capacity(parts.iter().map(|part| part.bytes.len() + 256).sum());
    for part in parts {
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
            quoted(&part.name)
        );
        if let Some(file) = &part.file {
            head.push_str(&format!("; filename=\"{}\"", quoted(file)));
        }
        if let Some(kind) = &part.kind {
            head.push_str(&format!("\r\nContent-Type: {kind}"));
        }
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(&part.bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

fn boundary(parts: &[Part]) -> String {
    let mut seed = Vec::new();
    loop {
        let mut hashing = Hashing::new();
        hashing.update(&seed);
        for part in parts {
            hashing.update(&part.bytes);
        }
        let hash = hashing.finish().to_string();
        let digits = hash.rsplit(':').next().unwrap_or_default();
        let boundary: String = digits.chars().take(BOUNDARY_CHARS).collect();
        let is_in = |part: &Part| memmem::find(&part.bytes, boundary.as_bytes()).is_some();
        if !parts.iter().any(is_in) {
            return boundary;
        }
        seed.push(0);
    }
}

/// A name in quotes, as browsers write it.
fn quoted(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}
