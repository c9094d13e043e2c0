//! A frontmatter as lines: its top-level keys, and what follows each.

/// A top-level key with its lines.
pub(super) struct Chunk<'t> {
    /// The key; none for lines before the first one.
    pub(super) key: Option<&'t str>,
    /// What stands on the key's own line after the colon, trimmed.
    pub(super) value: &'t str,
    /// The line as it is, without its end.
    pub(super) line: &'t str,
    /// The lines that follow and belong to it.
    pub(super) following: Vec<&'t str>,
    /// The place of its line, from 0.
    pub(super) at: usize,
}

/// The chunks of a text, in order.
pub(super) fn chunks(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks: Vec<Chunk<'_>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some((key, value)) = key_and_value(line) {
            chunks.push(Chunk {
                key: Some(key),
                value,
                line,
                following: Vec::new(),
                at,
            });
        } else if let Some(last) = chunks.last_mut() {
            last.following.push(line);
        } else {
            chunks.push(Chunk {
                key: None,
                value: "",
                line,
                following: Vec::new(),
                at,
            });
        }
    }
    chunks
}

/// `key: value` at the very beginning of a line.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && apart).then(|| (key, value.trim()))
}
