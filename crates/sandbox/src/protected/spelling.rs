//! The many spellings of a path, in one form.

use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// The path as given, and as it really is where that is another one.
pub(crate) fn by_both_names(path: &Path) -> Vec<PathBuf> {
    match path.canonicalize() {
        Ok(real) if real != path => vec![path.to_owned(), real],
        Ok(_) | Err(_) => vec![path.to_owned()],
    }
}

/// One form for all spellings of a name.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc()
        .filter(|c| !is_invisible(*c))
        .flat_map(char::to_lowercase)
        .nfkc()
        .collect()
}

/// Characters that show nothing and that some file systems do not compare.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// The parts of an absolute path, with `.`, `..` and empty ones resolved by their text.
pub(super) fn clean_parts(folded: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for part in folded.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name.to_owned()),
        }
    }
    parts
}
