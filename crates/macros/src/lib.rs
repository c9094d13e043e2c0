//! The `macros` crate.
