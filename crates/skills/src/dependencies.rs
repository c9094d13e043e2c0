//! The order in which skills are loaded: what a skill is built on comes before it.

use std::collections::HashSet;
use std::sync::Arc;

use crate::SkillName;
use crate::skill::Skill;

/// What a skill is built on.
pub(crate) enum Order {
    /// What is there, deepest first, without the skill itself; and what is not.
    Of {
        dependencies: Vec<Arc<Skill>>,
        missing: Vec<SkillName>,
    },
    /// A circle: the first name is also the last.
    Cycle(Vec<SkillName>),
}

/// Orders everything that `start` is built on, directly or not. `look_up` gives the skills that
/// may be used. Without recursion, so that no chain is too long.
pub(crate) fn order<'s>(
    start: &Arc<Skill>,
    look_up: impl Fn(&str) -> Option<&'s Arc<Skill>>,
) -> Order {
    let mut path: Vec<(Arc<Skill>, usize)> = vec![(start.clone(), 0)];
    let mut done: HashSet<SkillName> = HashSet::new();
    let mut dependencies = Vec::new();
    let mut missing: Vec<SkillName> = Vec::new();
    while let Some((skill, next)) = path.last_mut() {
        let Some(dependency) = skill.manifest.dependencies.get(*next) else {
            if let Some((skill, _)) = path.pop()
                && done.insert(skill.name().clone())
                && !path.is_empty()
            {
                dependencies.push(skill);
            }
            continue;
        };
        *next += 1;
        let name = dependency.name.clone();
        if done.contains(&name) {
            continue;
        }
        if let Some(at) = path.iter().position(|(skill, _)| *skill.name() == name) {
            let mut cycle: Vec<SkillName> = path[at..]
                .iter()
                .map(|(skill, _)| skill.name().clone())
                .collect();
            cycle.push(name);
            return Order::Cycle(cycle);
        }
        match look_up(name.as_str()) {
            Some(skill) => path.push((skill.clone(), 0)),
            None if missing.contains(&name) => {}
            None => missing.push(name),
        }
    }
    Order::Of {
        dependencies,
        missing,
    }
}
