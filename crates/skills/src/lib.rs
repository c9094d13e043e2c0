//! Skills: packs of instructions that an agent loads when it needs them.
//!
//! A skill is a directory with a `SKILL.md`: YAML frontmatter with a name and a description, then
//! instructions. A pack is only read. Nothing in it is run, and nothing it declares gives a tool or
//! a right.
//!
//! * [`SkillCatalog`]: all packs of the process, found below its roots, with a [`Diagnostic`] for
//!   everything that was left out or looks wrong.
//! * [`SkillProxy`]: what one session may use of them. It can only be narrowed.
//! * [`Catalogue`]: what a model is told of them: names and descriptions, within a budget.
//! * [`SkillSource`] and [`LoadSkill`]: the tool that gives a model the instructions.
//! * [`Preloaded`]: the instructions that are in the context from the first request.
//! * [`Discovered`]: the skills that a prompt is about.
//! * [`check`]: one `SKILL.md` held against the Agent Skills specification.
//!
//! # Where skills are
//! A directory with a `SKILL.md` is a skill; what lies inside it belongs to it and is not searched
//! further. Roots are searched [`MAX_DEPTH`](limits::MAX_DEPTH) levels deep, without hidden
//! directories and `node_modules`. A link to a directory is followed where it lies directly in the
//! root and leads out of it. Of two skills whose names are the same but for case, the one of the
//! root that was added first counts; within a root the one nearer to it, then the first by path.
//!
//! # What is lenient
//! A file is used whenever it has a description and can be read at all: other keys, other names,
//! lists written with commas, a byte order mark, CRLF. Frontmatter that is not YAML is rescued, by
//! quotes and then line by line, without losing a key. Every deviation is a [`Finding`] with its
//! place, so that the strict verdict is known too.

mod catalog;
mod catalogue;
mod dependencies;
mod discover;
mod document;
mod frontmatter;
mod heading;
pub mod limits;
mod load;
mod manifest;
mod name;
mod pack;
mod preload;
mod problem;
mod proxy;
mod room;
mod skill;
mod source;
mod spec;
mod tool;

pub use catalog::{SkillCatalog, Snapshot, UnknownSkill};
pub use catalogue::Catalogue;
pub use discover::{Discovered, Discovery};
pub use document::{Beside, Checked, Document, check};
pub use load::{DependencyState, LoadError, Loaded, LoadedDependency};
pub use manifest::{Dependency, Manifest};
pub use name::SkillName;
pub use pack::{Pack, PackError, PackFiles};
pub use preload::{LeftOut, Preloaded};
pub use problem::{Diagnostic, Finding, Place, Problem, Severity};
pub use proxy::SkillProxy;
pub use skill::{Skill, Unloadable};
pub use source::SkillSource;
pub use spec::LOAD_SKILL;
pub use tool::LoadSkill;
