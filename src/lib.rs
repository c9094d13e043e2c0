//! Outfitter outfits agents: what an agent may call, what a call may touch, what comes back, and
//! who is told.
//!
//! * [`cli`]: the command line.
//! * [`config`]: `outfitter.toml` and what goes before it.
//! * [`env`](mod@env): the environment, read once.
//! * [`render`]: what people see of a run.

pub mod cli;
pub mod config;
pub mod env;
pub mod render;
