//! Arguments for showing while they are written, without the secrets that are known.

use std::borrow::Cow;

use outfitter_core::TextsShown;

use crate::Redactor;

/// Shows the arguments of a call as they come, without what will be missing of them when they are
/// shown whole, the known secrets among it.
pub type ArgumentsCarry = outfitter_core::ArgumentsCarry<Redactor>;

impl TextsShown for Redactor {
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.text(text)
    }

    fn begun(&self, text: &str) -> usize {
        self.begun(text)
    }

    fn may_go_on(&self, text: &str) -> bool {
        self.may_go_on(text)
    }
}

impl Redactor {
    /// Shows the arguments of a call while they are written.
    #[must_use]
    pub fn arguments_carry(&self) -> ArgumentsCarry {
        ArgumentsCarry::new(self.clone())
    }
}

#[cfg(test)]
#[path = "redact_stream_tests.rs"]
mod tests;
