//! The `agent` crate.
