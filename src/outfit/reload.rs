//! Taking another configuration while everything is at work.

use std::fmt;
use std::sync::{Arc, PoisonError};

use outfitter_core::{Code, ErrorInfo, NameSet};

use super::names::KeyFault;
use super::outfitter::Kind;
use super::{BuildError, Outfitter, names, settings, skills};
use crate::config::{Config, ReloadPlan, planned};

/// Why a reload changed nothing: everything that is wrong.
#[derive(Debug)]
pub struct ReloadRefused {
    /// What is wrong, each by itself.
    pub problems: Vec<BuildError>,
}

impl fmt::Display for ReloadRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("reload the configuration: ")?;
        for (at, problem) in self.problems.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            f.write_str(&outfitter_core::chain(problem))?;
        }
        Ok(())
    }
}

impl std::error::Error for ReloadRefused {}

impl ReloadRefused {
    /// The error as clients read it.
    #[must_use]
    pub fn to_info(&self) -> ErrorInfo {
        ErrorInfo::new(Code::Usage, format!("failed to {self}"))
    }
}

impl Outfitter {
    /// Everything that is wrong with the names in another configuration, for the tools that there
    /// are now.
    #[must_use]
    pub fn wrong_names(&self, config: &Config) -> Vec<KeyFault> {
        let presets = settings::presets(config, &self.presets);
        let mut wrong = names::wrong(config, &self.registry, &presets);
        if let Err(BuildError::Names(more)) = skills::catalog(config, &self.environment) {
            wrong.extend(more);
        }
        wrong
    }

    /// Takes another configuration, whole or not at all: it is validated as it would be at the
    /// start, and when anything is wrong with it, everything stays as it is. What can follow at
    /// once does, in sessions that are open too: their next request sees it. The rest of it needs
    /// a restart, stays as it was and is told of again by the next reload.
    ///
    /// # Errors
    /// [`ReloadRefused`], with everything that is wrong.
    pub fn reload(&self, config: &Config) -> Result<ReloadPlan, ReloadRefused> {
        let _one_at_a_time = self.reloading.lock();
        let now = self.config();
        let (next, plan) = planned(&now, config);
        let presets = settings::presets(config, &self.presets);
        let one = |fault| BuildError::Names(vec![fault]);
        let wrong = names::wrong(config, &self.registry, &presets);
        let mut problems: Vec<BuildError> = wrong.into_iter().map(one).collect();
        match skills::catalog(config, &self.environment) {
            Ok(_) => {}
            Err(BuildError::Names(wrong)) => problems.extend(wrong.into_iter().map(one)),
            Err(error) => problems.push(error),
        }
        if next.model != now.model {
            problems.extend(self.model_of(&next).err());
        }
        if !problems.is_empty() {
            return Err(ReloadRefused { problems });
        }
        self.apply(&now, next);
        Ok(plan)
    }

    /// Nothing in here can fail. Each part is whole at any moment, and a call is held to all.
    fn apply(&self, now: &Config, next: Config) {
        let next = Arc::new(next);
        *self.config.lock().unwrap_or_else(PoisonError::into_inner) = next.clone();
        // Tools may have memories, so they are made anew only where they become others.
        let same = settings::builtin_options(now) == settings::builtin_options(&next)
            && now.tools.max_result_tokens == next.tools.max_result_tokens;
        if !same {
            self.builtin.replace(settings::builtin(&next, &self.own));
        }
        self.registry
            .configure(settings::tools_config(&next, &self.first, &self.presets));
        let allowed = next.plugin_api.allowlist.clone();
        self.connections.apis.allow(allowed);
        settings::count_tokens(&next);
        self.pipeline
            .configure(settings::pipeline_options(&next, &self.environment));
        let available = next.skills.available.iter().map(String::as_str);
        self.skills.configure(NameSet::of(available));
        let model_changed = now.model != next.model;
        let agents = self.agents.lock();
        let mut agents = agents.unwrap_or_else(PoisonError::into_inner);
        agents.retain(|(kind, agent)| {
            agent.set(|parts| {
                let model = match kind {
                    _ if !model_changed => parts.model.clone(),
                    Kind::Calls => self.model_on_demand(&next),
                    Kind::Runs | Kind::Serves => self.served_model(&next),
                };
                self.parts(model, &next)
            })
        });
    }
}
