//! The `model` crate.
