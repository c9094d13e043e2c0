//! Addresses in a text that comes in pieces.

use super::address::redact_within;

/// How much of a text without a break is held back, in bytes. No address is longer.
const MAX_HELD: usize = 16 * 1024;

/// Shows a text that comes in pieces, without the secrets of its addresses: what may be the
/// beginning of one is held back until it is known where it ends.
///
/// ```
/// use outfitter_core::AddressCarry;
///
/// let mut carry = AddressCarry::default();
/// assert_eq!(carry.push("see https://a.example/?tok"), "see ");
/// assert_eq!(carry.push("en=S3 and"), "https://a.example/?token=[redacted] ");
/// assert_eq!(carry.finish(), "and");
/// ```
#[derive(Debug, Default)]
pub struct AddressCarry {
    held: String,
}

impl AddressCarry {
    /// What can be shown after `piece`.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let is_break = |c: char| c.is_whitespace() || c == '"';
        let end = match self.held.rfind(is_break) {
            Some(at) => at + self.held[at..].chars().next().map_or(0, char::len_utf8),
            None if self.held.len() > MAX_HELD => self.held.len(),
            None => return String::new(),
        };
        let shown = redact_within(&self.held[..end]).into_owned();
        self.held.drain(..end);
        shown
    }

    /// The rest.
    pub fn finish(&mut self) -> String {
        redact_within(&std::mem::take(&mut self.held)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_secret_in_pieces_was_shown() {
        let text = r#"{"urls": ["https://u:S3@a.example/?q=1&token=S3", "https://b.example"]}"#;
        for size in 1..text.len() {
            let mut carry = AddressCarry::default();
            let pieces = text.as_bytes().chunks(size);
            let mut shown: String = pieces
                .map(|piece| carry.push(std::str::from_utf8(piece).unwrap()))
                .collect();
            shown.push_str(&carry.finish());
            assert_eq!(
                shown,
                r#"{"urls": ["https://u:[redacted]@a.example/?q=1&token=[redacted]", "https://b.example"]}"#
            );
        }
    }

    proptest! {
        #[test]
        fn other_texts_come_whole(pieces in prop::collection::vec("[a-z \"{}:,/.é]{0,9}", 0..9)) {
            let mut carry = AddressCarry::default();
            let mut shown: String = pieces.iter().map(|piece| carry.push(piece)).collect();
            shown.push_str(&carry.finish());
            prop_assert_eq!(shown, pieces.concat());
        }
    }
}
