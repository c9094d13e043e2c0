//! A text as one word of a line.

use std::borrow::Cow;

/// The text so written that a shell reads it as one plain word.
#[must_use]
pub fn quoted(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    let assigns = text.contains('=');
    if !text.is_empty() && !assigns && text.bytes().all(plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', "'\\''")))
    }
}
