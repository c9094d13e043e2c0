//! The `codec` crate.
