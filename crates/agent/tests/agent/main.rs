//! The loop, over real logs and the real pipeline, with models that are functions of the request.
#![expect(clippy::unwrap_used, reason = "tests say what must hold")]

mod cancel;
mod crash;
mod harness;
mod modes;
mod parallel;
mod progress;
mod repeats;
mod suggestion;
mod told;
mod turns;
mod waiting;
