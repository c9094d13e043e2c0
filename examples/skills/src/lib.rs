//! Three packs of instructions, and what a session makes of packs.
//!
//! A pack is a directory with a `SKILL.md`, so it needs no program: `packs/` could stand in any
//! project as `skills/`. This crate carries them for programs that want them without files beside
//! them, and shows the library without an agent around it.
//!
//! * `tool-first`: the smallest one.
//! * `report`: built on `citations`, with a file of its own and tools that it speaks of.
//! * `citations`: what others are built on.

mod packs;
mod show;

pub use packs::{FILES, write_packs};
pub use show::show;
