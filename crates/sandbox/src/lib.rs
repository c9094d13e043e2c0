//! The `sandbox` crate.
