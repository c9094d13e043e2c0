//! Bodies of `multipart/form-data` (RFC 7578) whose parts are texts.

use outfitter_core::Hash;

/// One part.
pub(super) struct Part {
    pub(super) name: String,
    /// Its media type, where it is not plain text.
    pub(super) kind: Option<&'static str>,
    pub(super) text: String,
}

/// The body, and its media type. What stands between the parts is in none of them.
pub(super) fn write(parts: &[Part]) -> (String, Vec<u8>) {
    let all: String = parts.iter().map(|part| part.text.as_str()).collect();
    let mut boundary = Hash::of(&*all).to_string().replace(':', "-");
    while all.contains(&boundary) {
        boundary = Hash::of(&*boundary).to_string().replace(':', "-");
    }
    let mut body = String::new();
    for part in parts {
        let name = quoted(&part.name);
        body.push_str(&format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n"
        ));
        if let Some(kind) = part.kind {
            body.push_str(&format!("Content-Type: {kind}\r\n"));
        }
        body.push_str("\r\n");
        body.push_str(&part.text);
        body.push_str("\r\n");
    }
    body.push_str(&format!("--{boundary}--\r\n"));
    let kind = format!("multipart/form-data; boundary={boundary}");
    (kind, body.into_bytes())
}

/// A name in quotes, as browsers write it.
fn quoted(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}
