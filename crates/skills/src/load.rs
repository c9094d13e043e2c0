//! Loading: the instructions of a skill with those it is built on.

use std::sync::Arc;

use outfitter_core::SessionAuthority;
use serde::Serialize;

use crate::SkillName;
use crate::catalog::arrows;
use crate::dependencies::{Order, order};
use crate::pack::PackFiles;
use crate::proxy::SkillProxy;
use crate::room::Room;
use crate::skill::{Skill, Unloadable};

/// What became of a skill that another is built on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DependencyState {
    /// Its instructions are here.
    Loaded,
    /// There was no room for its instructions; it can be loaded by itself.
    LeftOut,
    /// It is not there, not for this session, or cannot be read.
    Unavailable,
}

/// A skill that another is built on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoadedDependency {
    /// Its name.
    pub name: SkillName,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What became of it.
    pub state: DependencyState,
    /// Its instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// A skill with everything a model needs to follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loaded {
    /// Its name.
    pub name: SkillName,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it says to do.
    pub instructions: String,
    /// The files of its pack, but for the SKILL.md.
    pub files: Vec<String>,
    /// How many files are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub files_omitted: usize,
    /// What it is built on, the deepest first.
    pub dependencies: Vec<LoadedDependency>,
    /// The tools that it or its dependencies speak of and that this session has not.
    pub missing_tools: Vec<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Why a skill is not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no skill of that name for this session.
    #[error("load the skill {name:?}: there is none of that name")]
    Unknown {
        /// The name.
        name: String,
        /// Skills that were perhaps meant.
        close: Vec<String>,
    },
    /// It is built on itself.
    #[error("load the skill: skills depend on each other: {0}")]
    Cycle(String),
    /// Its files are not there.
    #[error(transparent)]
    Unloadable(#[from] Unloadable),
}

impl SkillProxy {
    /// Loads a skill and what it is built on, as far as `max_tokens` reach; the skill itself always
    /// fits. What is missing is told and stops nothing. Reads the disk, so it blocks.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn load(
        &self,
        name: &str,
        authority: &dyn SessionAuthority,
        max_tokens: usize,
    ) -> Result<Loaded, LoadError> {
        let skill = self.get(name).ok_or_else(|| LoadError::Unknown {
            name: name.to_owned(),
            close: self.close_names(name),
        })?;
        let (dependencies, missing) = self.ordered(skill)?;
        let document = skill.document()?;
        let mut room = Room::of(max_tokens);
        room.take(&document.instructions);
        let files = skill.pack.files().unwrap_or_default();
        let missing_tools = missing_tools(dependencies.iter().chain([skill]), authority);
        let mut loaded: Vec<LoadedDependency> = dependencies
            .iter()
            .map(|dependency| load_dependency(dependency, &mut room))
            .collect();
        loaded.extend(missing.into_iter().map(|name| LoadedDependency {
            name,
            version: None,
            state: DependencyState::Unavailable,
            instructions: None,
        }));
        Ok(Loaded {
            name: document.manifest.name,
            version: document.manifest.version,
            instructions: document.instructions,
            files_omitted: files.omitted,
            files: without_own(files, &skill.file),
            dependencies: loaded,
            missing_tools,
        })
    }

    /// What a skill is built on within this session, and what of it is not there.
    pub(crate) fn ordered(
        &self,
        skill: &Arc<Skill>,
    ) -> Result<(Vec<Arc<Skill>>, Vec<SkillName>), LoadError> {
        match order(skill, |name| self.get(name)) {
            Order::Of {
                dependencies,
                missing,
            } => Ok((dependencies, missing)),
            Order::Cycle(path) => Err(LoadError::Cycle(arrows(&path))),
        }
    }
}

fn load_dependency(skill: &Arc<Skill>, room: &mut Room) -> LoadedDependency {
    let (state, instructions) = match skill.document() {
        Ok(document) if room.take(&document.instructions) => {
            (DependencyState::Loaded, Some(document.instructions))
        }
        Ok(_) => (DependencyState::LeftOut, None),
        Err(_) => (DependencyState::Unavailable, None),
    };
    LoadedDependency {
        name: skill.name().clone(),
        version: skill.manifest.version.clone(),
        state,
        instructions,
    }
}

/// The tools that the skills speak of and that the session has not, sorted.
pub(crate) fn missing_tools<'s>(
    skills: impl Iterator<Item = &'s Arc<Skill>>,
    authority: &dyn SessionAuthority,
) -> Vec<String> {
    let mut missing: Vec<String> = skills
        .flat_map(|skill| &skill.manifest.tools)
        .filter(|tool| !authority.may_call(tool))
        .cloned()
        .collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

fn without_own(files: PackFiles, own: &str) -> Vec<String> {
    files.paths.into_iter().filter(|path| path != own).collect()
}
