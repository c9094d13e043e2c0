//! What a skill says of itself.
//!
//! * [`Manifest`]: the declarations. They describe; they grant nothing.
//! * [`Reader`]: takes them from the fields of a frontmatter, leniently, with a finding for each
//!   deviation.
//! * [`rules`]: what the Agent Skills specification asks of names and lengths.
//! * [`list`]: the three ways in which people write lists.

mod list;
mod reader;
mod rules;

use serde::Serialize;

use crate::SkillName;

pub(crate) use reader::Reader;

/// A skill that another is built on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// Its name.
    pub name: SkillName,
    /// The version it should have, as it is written. It is told, not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
}

/// What a skill says of itself. Nothing in it grants anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// What it is called.
    pub name: SkillName,
    /// What it does and when to use it.
    pub description: String,
    /// Its version, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Under which licence it comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What it needs around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// The skills it is built on.
    pub dependencies: Vec<Dependency>,
    /// Words it is found by.
    pub tags: Vec<String>,
    /// The tools its instructions speak of.
    pub tools: Vec<String>,
    /// The tools that its author would hold it to (`allowed-tools`).
    pub allowed_tools: Vec<String>,
    /// Whether a model may load it by itself; otherwise only a person can (`disable-model-invocation`).
    pub model_may_load: bool,
}
