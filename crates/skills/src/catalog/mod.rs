//! All packs of the process.
//!
//! * [`SkillCatalog`]: the roots, and what the operator allows of them.
//! * [`Snapshot`]: the skills at one moment, with diagnostics.
//! * `walk`, `scan`: from a root to its skills.

mod handle;
mod scan;
mod snapshot;
mod walk;

pub use handle::{SkillCatalog, UnknownSkill};
pub use snapshot::Snapshot;
pub(crate) use snapshot::arrows;
