//! What the tool of an operation is called: `call_API_OPERATION`.
//!
//! A name is at most 64 of `[A-Za-z0-9_-]` and never holds `__`, which is kept for remote sources.
//! It depends on the operation alone, so that it stays when others come and go. What would lose
//! something by being cut has a hash of the original at its end; where two operations have one name
//! all the same, the second is refused.

use outfitter_core::{Hash, ToolName};
use outfitter_net::reqwest::Method;

/// What every name begins with.
pub(super) const PREFIX: &str = "call_";

/// The longest name that every provider takes.
const MAX_NAME: usize = 64;

/// The longest name of an API, so that about half of a name is the operation's.
const MAX_API: usize = 30;

/// Begins the mark of a name that was cut.
const MARK: &str = "-x";

/// Hexadecimal digits of the hash in a mark.
const MARK_DIGITS: usize = 12;

/// Whether an API can be called this: 1 to 30 of `[A-Za-z0-9_-]`, no `_` at either end, no `__`.
#[must_use]
pub fn valid_api_name(name: &str) -> bool {
    (1..=MAX_API).contains(&name.len())
        && name.bytes().all(is_name_byte)
        && !name.starts_with('_')
        && !name.ends_with('_')
        && !name.contains("__")
}

/// The name of the tool, or none where nothing of the operation's name can stand in one.
pub(super) fn tool(api: &str, operation: &str) -> Option<ToolName> {
    let words = plain(operation);
    if words.is_empty() {
        return None;
    }
    let room = MAX_NAME.checked_sub(PREFIX.len() + api.len() + 1)?;
    let words = if words.len() <= room {
        words
    } else {
        let kept = room.checked_sub(MARK.len() + MARK_DIGITS)?;
        let hash = Hash::of(operation).to_string();
        let hash = hash.trim_start_matches("sha256:").get(..MARK_DIGITS)?;
        format!("{}{MARK}{hash}", words.get(..kept)?.trim_end_matches('_'))
    };
    ToolName::new(format!("{PREFIX}{api}_{words}")).ok()
}

/// The name of the tool of an API with one operation.
pub(super) fn only_tool(api: &str) -> Option<ToolName> {
    ToolName::new(format!("{PREFIX}{api}")).ok()
}

/// What an operation is called that has no `operationId`: `get_pets_petId`.
pub(super) fn without_id(method: &Method, path: &str) -> String {
    format!("{} {path}", method.as_str().to_ascii_lowercase())
}

/// Runs of anything else become one `_`; none at either end.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match u8::try_from(character) {
            Ok(byte) if is_name_byte(byte) && byte != b'_' => plain.push(character),
            _ if plain.ends_with('_') || plain.is_empty() => {}
            _ => plain.push('_'),
        }
    }
    plain.truncate(plain.trim_end_matches('_').len());
    plain
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}
