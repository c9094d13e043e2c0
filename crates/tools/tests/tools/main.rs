//! The tools crate from outside.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

mod arguments;
mod artifacts;
mod asking;
mod authority;
mod changes;
mod codes;
mod expansion;
mod hostile;
mod interrupted;
mod lazy;
mod macros;
mod onward;
mod presentation;
mod presets;
mod registry;
mod remembered;
mod results;
mod seams;
mod stages;
mod stopping;
mod support;
mod unconfined;
mod unmet_rules;
mod waiting;
