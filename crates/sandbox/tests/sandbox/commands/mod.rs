//! Commands: what they see, what they cannot reach, how they are heard, and how they end.

mod attacks;
mod bubblewrap;
mod conformance;
#[path = "../../../../process/tests/process/control_groups.rs"]
mod control_groups;
mod credentials;
mod inside;
mod jobs;
mod killed;
pub(crate) mod kit;
mod limits;
mod opening;
mod programs;
mod reach;
mod startup;
mod survivors;
mod told;
mod toolchains;
