//! The `builtin` crate.
