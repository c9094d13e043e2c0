//! The loop, over real logs and the real pipeline, with models that are functions of the request.
#![expect(clippy::unwrap_used, reason = "tests say what must hold")]

mod actions;
mod cancel;
mod counted;
mod crash;
mod harness;
mod modes;
mod odd_calls;
mod parallel;
mod progress;
mod repeats;
mod stable;
mod standing;
mod suggestion;
mod told;
mod turns;
mod waiting;
mod workflows;
