//! Outfitter outfits agents: what an agent may call, what a call may touch, what comes back, and
//! who is told.
//!
//! A program of its own is a few lines: [`main`] with what it adds to the [`Builder`]. A host that
//! wants no command line builds an [`Outfitter`] and makes runs with its agent.
//!
//! * [`cli`]: the command line.
//! * [`config`]: `outfitter.toml` and what goes before it.
//! * [`env`](mod@env): the environment, read once.
//! * [`render`]: what people see of a run.
//! * [`testing`]: for tests of tools.

pub mod cli;
pub mod config;
mod demo;
#[cfg(doctest)]
mod doctests;
pub mod env;
mod helpers;
mod outfit;
pub mod render;
mod surface;
mod temporary;
pub mod testing;

#[doc(hidden)]
pub use outfitter_tools::__private;

pub use cli::main;
pub use outfit::{
    BackendFound, BuildError, Builder, DeleteError, IdleKey, IdleKeys, KeyFault, Leftovers, Needed,
    NotHeld, Outfitter, Pending, ReloadRefused, SETTLE_TIME, Served, ServedPrincipals, SessionLock,
    SessionOptions, UncheckedKey,
};
pub use outfitter_agent::{Agent, EventQueue, Input, NoSubscriber, RunEnd, RunError, Session};
pub use outfitter_core::*;
pub use outfitter_process::SupervisorProgram;
pub use outfitter_skills::{SkillCatalog, SkillProxy};
pub use outfitter_tools::{
    LazySource, NativeSource, PresetContext, StartTools, ToolRegistry, tool,
};
pub use surface::{
    ConversationError, Conversations, emit_tool_progress, emit_tool_progress_closed,
    run_if_supervisor,
};
