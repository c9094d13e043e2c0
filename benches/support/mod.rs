//! What the benches share: a clock of processor time, a world to make calls in, a report that says
//! whether a budget is kept.

#![expect(
    dead_code,
    reason = "each bench takes a part of this and is a crate of its own"
)]

pub(crate) mod bare;
pub(crate) mod caller;
pub(crate) mod cpu;
pub(crate) mod provider;
pub(crate) mod report;
pub(crate) mod served;
pub(crate) mod world;

/// What a bench gives when it could not measure.
pub(crate) type Fallible<T> = Result<T, Box<dyn std::error::Error>>;
