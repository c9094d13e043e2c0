//! The order of events, as a checker: `docs/protocols/events.md`, "Order".
//!
//! It is for tests and for debugging. It reads events or the lines made of them, so that the same
//! rules hold a run from inside and from outside.

mod call;
mod checker;
mod fault;
mod seen;

pub use checker::{EventOrder, Watched, check_lines};
pub use fault::{OrderFault, OrderFaultKind};
