//! The last of what a server printed for people.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How much of it is kept.
const KEPT_BYTES: usize = 16 * 1024;

/// How many lines an error quotes.
const QUOTED_LINES: usize = 3;

/// The longest quotation.
const QUOTED_BYTES: usize = 400;

/// The last bytes of a server's standard error.
#[derive(Default)]
pub(crate) struct Ring(Mutex<VecDeque<u8>>);

impl Ring {
    pub(crate) fn push(&self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(KEPT_BYTES)..];
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = (kept.len() + bytes.len()).saturating_sub(KEPT_BYTES);
        kept.drain(..over);
        kept.extend(bytes);
    }

    pub(crate) fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }

    /// The last lines, as an error quotes them: of the text that is fit for showing, as a secret
    /// that is cut is not known as one.
    pub(crate) fn quote(&self, fit: impl Fn(&str) -> String) -> Option<String> {
        let text = fit(&self.text());
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let last = lines[lines.len().saturating_sub(QUOTED_LINES)..].join(" | ");
        if last.is_empty() {
            return None;
        }
        Some(last[last.ceil_char_boundary(last.len().saturating_sub(QUOTED_BYTES))..].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept_and_an_error_quotes_the_last_lines() {
        let ring = Ring::default();
        let quote = |ring: &Ring| ring.quote(str::to_owned);
        assert_eq!(quote(&ring), None);
        for n in 0..10_000 {
            ring.push(format!("line {n}\n").as_bytes());
        }
        assert_eq!(ring.text().len(), KEPT_BYTES);
        assert_eq!(quote(&ring).unwrap(), "line 9997 | line 9998 | line 9999");
        ring.push(&[b'x'; 3 * KEPT_BYTES]);
        assert_eq!(quote(&ring).unwrap(), "x".repeat(QUOTED_BYTES));
    }

    #[test]
    fn half_of_a_secret_was_left_at_the_start_of_what_an_error_quotes() {
        let ring = Ring::default();
        ring.push(format!("SECRET{}", "x".repeat(QUOTED_BYTES - 3)).as_bytes());
        let quoted = ring.quote(|text| text.replace("SECRET", "-"));
        assert_eq!(
            quoted.unwrap(),
            format!("-{}", "x".repeat(QUOTED_BYTES - 3))
        );
    }
}
