//! Two tools of one's own, and how a program gets them.
//!
//! * [`weather`]: `get_weather`, a function with plain parameters. It registers itself: whatever
//!   program links this crate has it.
//! * [`forecast`]: `get_forecast`, a function with one typed set of arguments, which asks the host
//!   for a [`Station`]. It is handed to the [`Builder`](outfitter::Builder).
//! * [`outfit`]: what both need, for [`outfitter::main`] or for a Builder of yours.
//!
//! The weather is made up, so that the example needs no service and no key.

pub mod forecast;
mod outfit;
pub mod station;
pub mod weather;

pub use outfit::outfit;
pub use station::Station;
