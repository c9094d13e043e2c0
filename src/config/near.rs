//! The word that a misspelt one was meant to be, where one is near enough to be worth saying.

pub(super) use outfitter_text::nearest_name as nearest;

/// The same as the end of a sentence: `, did you mean …?`, or nothing.
pub(super) fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map_or_else(String::new, |name| format!(", did you mean {name}?"))
}
