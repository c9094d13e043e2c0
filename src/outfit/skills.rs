//! The packs of instructions that the configuration names, and what a session is told of them.

use outfitter_agent::Told;
use outfitter_core::{NameSet, WarningCode};
use outfitter_skills::limits::{CATALOGUE_BYTES, PRELOAD_TOKENS};
use outfitter_skills::{Discovery, SkillCatalog, SkillProxy};

use super::names::{KeyFault, no_skill};
use super::{BuildError, Outfitter};
use crate::config::Config;
use crate::config::sections::Load;
use crate::env::Environment;

/// The catalogue of the configured directories. One that is not there has no skills; where it was
/// named, that is a diagnostic.
pub(super) fn catalog(
    config: &Config,
    environment: &Environment,
) -> Result<SkillCatalog, BuildError> {
    let skills = &config.skills;
    let catalog = SkillCatalog::new();
    let usual = Config::default().skills.dirs;
    for dir in &skills.dirs {
        let path = environment.current_dir().join(dir);
        if path.is_dir() || skills.dirs != usual {
            catalog.add_skill_dir(path);
        }
    }
    catalog.configure(NameSet::of(skills.available.iter().map(String::as_str)));
    let wrong = wrong_names(config, &catalog);
    match wrong.is_empty() {
        true => Ok(catalog),
        false => Err(BuildError::Names(wrong)),
    }
}

/// Every name in the configuration that is no skill's.
fn wrong_names(config: &Config, catalog: &SkillCatalog) -> Vec<KeyFault> {
    let skills = &config.skills;
    let load: &[String] = match &skills.load {
        Load::Names(names) => names,
        Load::Auto => &[],
    };
    let available = skills.available.iter().enumerate();
    let available = available.map(|(at, name)| (format!("skills.available.{at}"), name));
    let load = load.iter().enumerate();
    let load = load.map(|(at, name)| (format!("skills.load.{at}"), name));
    let plain = |(_, name): &(String, &String)| !name.contains(['*', '?']) && !name.is_empty();
    let unknown = available
        .chain(load)
        .filter(plain)
        .filter_map(|(key, name)| {
            let unknown = catalog.unknown_names([name.as_str()]).pop()?;
            let why = no_skill(&unknown.name, &unknown.close);
            Some(KeyFault { key, why })
        });
    unknown.collect()
}

impl Outfitter {
    /// What a session with these skills is told: their names and descriptions behind the system
    /// prompt, and the instructions of those that are loaded from the start before its first
    /// words. `prompt` are those words, where they are known.
    pub(super) fn told_of_skills(&self, granted: &NameSet, prompt: Option<&str>) -> Told {
        let proxy = self.skills.proxy(granted);
        let mut told = Told {
            skill_catalogue: proxy.catalogue(CATALOGUE_BYTES).text.into(),
            skills: proxy
                .listed()
                .map(|skill| skill.name().to_string())
                .collect(),
            ..Told::default()
        };
        let names = self.loaded_from_the_start(&proxy, prompt);
        let preloaded = proxy.preload(names.iter().map(String::as_str), PRELOAD_TOKENS);
        for left_out in preloaded.left_out {
            let message = format!(
                "the skill {} is not loaded: {}",
                left_out.name, left_out.why
            );
            told.warnings.push((WarningCode::UnknownName, message));
        }
        if !preloaded.text.is_empty() {
            told.opening = Some(preloaded.text.into());
        }
        told
    }

    fn loaded_from_the_start(&self, proxy: &SkillProxy, prompt: Option<&str>) -> Vec<String> {
        match (&self.config().skills.load, prompt) {
            (Load::Names(names), _) => names.clone(),
            (Load::Auto, None) => Vec::new(),
            (Load::Auto, Some(prompt)) => proxy
                .discover(prompt, Discovery::default())
                .into_iter()
                .map(|found| found.name.to_string())
                .collect(),
        }
    }

    /// Every skill there is.
    #[must_use]
    pub fn skills(&self) -> &SkillCatalog {
        &self.skills
    }
}
