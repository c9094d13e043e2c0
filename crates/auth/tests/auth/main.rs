//! What a token must be to be believed, and where keys may come from.

#![expect(clippy::unwrap_used, reason = "a failed expectation ends a test")]

mod issuing;
mod keys;
mod refusals;
mod support;
