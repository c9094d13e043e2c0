//! Lists and what stands in them, for people: tools, sessions and what they leave, skills.

mod columns;
mod sessions;
mod skills;
mod tools;

pub use sessions::{approvals, artifacts, jobs, sessions, waiting};
pub use skills::{skill, skills};
pub use tools::{audit, tool, tools};
