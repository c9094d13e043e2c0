//! The Rust of the pages, compiled and run by `cargo test --doc`.

#[doc = include_str!("../README.md")]
mod readme {}

#[doc = include_str!("../docs/library.md")]
mod library {}

#[doc = include_str!("../docs/coming-from.md")]
mod coming_from {}
