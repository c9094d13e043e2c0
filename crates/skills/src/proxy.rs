//! The skills of one session.

use std::sync::Arc;

use outfitter_core::NameSet;

use crate::catalog::{SkillCatalog, Snapshot};
use crate::skill::Skill;
use outfitter_text::close_names;

/// What one session may use of the catalogue: what the operator makes available ∩ what is granted ∩
/// what is asked for. It can only be narrowed, and it tells of no other skill.
#[derive(Debug, Clone)]
pub struct SkillProxy {
    snapshot: Arc<Snapshot>,
    names: NameSet,
}

impl SkillProxy {
    /// The skills of the catalogue, now, that the operator allows and that are in
    /// `available_skills`.
    ///
    /// ```no_run
    /// use outfitter_core::NameSet;
    /// use outfitter_skills::{SkillCatalog, SkillProxy};
    ///
    /// let catalog = SkillCatalog::new();
    /// catalog.add_skill_dir("/path/to/skills_root");
    /// let proxy = SkillProxy::new(&catalog, &NameSet::of(["my_skill"]));
    /// ```
    #[must_use]
    pub fn new(catalog: &SkillCatalog, available_skills: &NameSet) -> Self {
        catalog.proxy(available_skills)
    }

    pub(crate) fn sealed(snapshot: Arc<Snapshot>, names: NameSet) -> Self {
        Self { snapshot, names }
    }

    /// Those of these skills that are also in `names`.
    #[must_use]
    pub fn narrow(&self, names: &NameSet) -> Self {
        Self::sealed(self.snapshot.clone(), self.names.meet(names))
    }

    /// The skills, by name.
    pub fn skills(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.snapshot
            .skills()
            .filter(|skill| self.names.has(skill.name().as_str()))
    }

    /// The skills that a model is told of and may load by itself.
    pub fn listed(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.skills().filter(|skill| skill.manifest.model_may_load)
    }

    /// The skill of this name, if this session may use it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Skill>> {
        self.snapshot.get(name).filter(|_| self.names.has(name))
    }

    /// The listed skills whose names are closest to `name`.
    #[must_use]
    pub fn close_names(&self, name: &str) -> Vec<String> {
        let listed = self.listed().map(|skill| skill.name().as_str());
        close_names(name, listed)
            .into_iter()
            .map(str::to_owned)
            .collect()
    }
}
