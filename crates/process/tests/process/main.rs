//! The supervised behaviour, from outside: through the library, and through a binary that is run as
//! ourselves and, where we are root, as nobody.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed expectation ends a test"
)]

mod attacks;
mod control_groups;
mod escapes;
mod input;
mod killed;
mod kit;
mod lifetime;
mod limits;
mod nursery;
mod output;
mod remains;
mod setup;
