//! The catalogue at one moment.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use outfitter_core::Generation;

use super::scan::Scan;
use crate::SkillName;
use crate::dependencies::{Order, order};
use crate::problem::{Diagnostic, Finding, Problem};
use crate::skill::Skill;

/// Every skill of the process at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    generation: Generation,
    skills: BTreeMap<SkillName, Arc<Skill>>,
    diagnostics: Vec<Diagnostic>,
}

impl Snapshot {
    /// The skills of these roots. Of skills whose names are the same but for case, the first
    /// counts.
    pub(super) fn of(scans: &[Arc<Scan>], generation: Generation) -> Self {
        let mut snapshot = Self {
            generation,
            ..Self::default()
        };
        let mut taken: HashMap<String, Arc<Skill>> = HashMap::new();
        for scan in scans {
            snapshot
                .diagnostics
                .extend(scan.diagnostics.iter().cloned());
            for skill in &scan.skills {
                if let Some(first) = taken.get(&skill.name().key()) {
                    let (here, there) = (skill.path(), first.path());
                    let message = format!(
                        "{} is called {} like {}, which counts",
                        here.display(),
                        skill.name(),
                        there.display(),
                    );
                    let finding = Finding::new(Problem::DuplicateName, message);
                    snapshot.diagnostics.push(Diagnostic::of(
                        here,
                        Some(skill.name().clone()),
                        finding,
                    ));
                } else {
                    taken.insert(skill.name().key(), skill.clone());
                    snapshot.skills.insert(skill.name().clone(), skill.clone());
                }
            }
        }
        snapshot.check_dependencies();
        snapshot
    }

    /// Rises with every change.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The skills, by name.
    pub fn skills(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.skills.values()
    }

    /// The skill of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Skill>> {
        self.skills.get(name)
    }

    /// What was left out or looks wrong, and why.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn check_dependencies(&mut self) {
        let mut told = Vec::new();
        let mut cycles: BTreeSet<Vec<SkillName>> = BTreeSet::new();
        for skill in self
            .skills
            .values()
            .filter(|skill| !skill.manifest.dependencies.is_empty())
        {
            let tell = |code, message: String| {
                Diagnostic::of(
                    skill.path(),
                    Some(skill.name().clone()),
                    Finding::new(code, message),
                )
            };
            for dependency in &skill.manifest.dependencies {
                if !self.skills.contains_key(dependency.name.as_str()) {
                    let message = format!(
                        "{} depends on {}, which is not there",
                        skill.name(),
                        dependency.name
                    );
                    told.push(tell(Problem::DependencyMissing, message));
                }
            }
            if let Order::Cycle(path) = order(skill, |name| self.skills.get(name))
                && cycles.insert(members(&path))
            {
                let message = format!("skills depend on each other: {}", arrows(&path));
                told.push(tell(Problem::DependencyCycle, message));
            }
        }
        self.diagnostics.extend(told);
    }
}

/// The skills of a circle, whichever of them it was found from.
fn members(path: &[SkillName]) -> Vec<SkillName> {
    let mut members = path.to_vec();
    members.sort_unstable();
    members.dedup();
    members
}

/// `a -> b -> a`
pub(crate) fn arrows(path: &[SkillName]) -> String {
    path.iter()
        .map(SkillName::as_str)
        .collect::<Vec<&str>>()
        .join(" -> ")
}
