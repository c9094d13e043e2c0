//! Every source and every name of the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use outfitter_core::{
    Fault, Grant, Mode, NameSet, Pattern, Policy, Selection, SourceId, SourceSnapshot, ToolName,
    ToolSource, Trust,
};
use outfitter_text::close_names;
use serde::Serialize;
use tokio::sync::watch;

use crate::merged::Merged;
use crate::policy::{self, Known, Rule, RuleFindings, Surroundings};
use crate::presets::{self, PresetFault, Presets};
use crate::{DefaultPolicy, Presentation, ToolProxy, naming};

/// What the operator says about tools. It can be changed while the program runs.
#[derive(Clone)]
pub struct ToolsConfig {
    /// The tools that may be used at all.
    pub available: NameSet,
    /// Other names that tools answer to. They are called, never listed; a tool of that name wins.
    pub aliases: BTreeMap<String, String>,
    /// Who may call what.
    pub policy: Arc<dyn Policy>,
    /// How much of what is granted may be used.
    pub mode: Mode,
    /// Arguments that are set here, and are none of a model's business.
    pub presets: Presets,
    /// Which tools are shown, where they are too many.
    pub presentation: Presentation,
}

impl Default for ToolsConfig {
    /// Everything is available, nothing has another name or a preset, [`DefaultPolicy`].
    fn default() -> Self {
        Self {
            available: NameSet::all(),
            aliases: BTreeMap::new(),
            policy: Arc::new(DefaultPolicy),
            mode: Mode::Agent,
            presets: Presets::default(),
            presentation: Presentation::default(),
        }
    }
}

/// Why a source was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceRefused {
    /// There is a source of that name.
    #[error("add the source {0}: there is one of that name")]
    Taken(SourceId),
    /// Its name cannot stand before the names of its tools.
    #[error("add the source {id}")]
    Prefix {
        /// The source.
        id: SourceId,
        /// What is wrong with it.
        #[source]
        source: naming::InvalidPrefix,
    },
}

/// Something a source could not offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceFault {
    /// The source.
    pub source: SourceId,
    /// What, and why.
    pub fault: Fault,
}

/// A name that is no tool's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The name.
    pub name: String,
    /// Tools that were perhaps meant.
    pub close: Vec<String>,
}

/// Process-wide: every source and every name. Registered is not authorised. Cloning shares it.
#[derive(Clone, Default)]
pub struct ToolRegistry(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    sources: Arc<Vec<Arc<dyn ToolSource>>>,
    config: Arc<ToolsConfig>,
    merged: Arc<Merged>,
    /// Sources that could not be had.
    missing: Vec<SourceFault>,
    /// Told of each change of the sources and of what may be used.
    told: watch::Sender<()>,
}

impl ToolRegistry {
    /// A registry without sources.
    #[must_use]
    pub fn new(config: ToolsConfig) -> Self {
        Self(Arc::new(Mutex::new(State {
            config: Arc::new(config),
            ..State::default()
        })))
    }

    /// Takes what the operator says from now on.
    pub fn configure(&self, config: ToolsConfig) {
        let mut state = self.lock();
        state.config = Arc::new(config);
        state.told.send_replace(());
    }

    /// Adds a source. The tools of a remote one are called `id__tool`, so its id must be a prefix,
    /// and no other source has it. Tools that cannot be offered are in [`ToolRegistry::faults`].
    ///
    /// # Errors
    /// [`SourceRefused`]; nothing has changed then.
    pub fn add(&self, source: Arc<dyn ToolSource>) -> Result<(), SourceRefused> {
        let id = source.id();
        match source.trust() {
            Trust::Builtin | Trust::Operator => {}
            Trust::Remote => {
                naming::valid_prefix(id.as_str()).map_err(|source| SourceRefused::Prefix {
                    id: id.clone(),
                    source,
                })?;
            }
        }
        let mut state = self.lock();
        if state.sources.iter().any(|other| other.id() == id) {
            return Err(SourceRefused::Taken(id.clone()));
        }
        state.missing.retain(|missing| missing.source != *id);
        Arc::make_mut(&mut state.sources).push(source);
        state.told.send_replace(());
        Ok(())
    }

    /// Tells of a source that could not be had, and why: one of [`ToolRegistry::faults`] until a
    /// source of this name is added.
    pub fn miss(&self, id: SourceId, why: impl Into<String>) {
        let fault = Fault {
            what: "source".to_owned(),
            why: why.into(),
        };
        let mut state = self.lock();
        state.missing.retain(|missing| missing.source != id);
        state.missing.push(SourceFault { source: id, fault });
        state.told.send_replace(());
    }

    /// Removes a source and gives whether it was there.
    pub fn remove(&self, id: &SourceId) -> bool {
        let mut state = self.lock();
        let before = state.sources.len();
        Arc::make_mut(&mut state.sources).retain(|source| source.id() != id);
        state.told.send_replace(());
        state.sources.len() < before
    }

    /// Makes what one session may use. This is the only way to make one.
    #[must_use]
    pub fn seal(&self, grant: Grant, selection: Selection) -> ToolProxy {
        ToolProxy::sealed(self.clone(), grant).narrow(selection)
    }

    /// What is missing now, and why: also sources that could not be had, and tools whose presets
    /// cannot be.
    #[must_use]
    pub fn faults(&self) -> Vec<SourceFault> {
        let (merged, config) = self.current();
        let mut faults = self.lock().missing.clone();
        faults.extend(merged.faults.iter().cloned());
        for name in config.presets.tools() {
            let Some(tool) = merged.tools.get(name) else {
                continue;
            };
            let found = config.presets.of(name);
            let found = found.map(|presets| presets::faults(tool, presets));
            faults.extend(found.into_iter().flatten().map(|fault| SourceFault {
                source: tool.source.clone(),
                fault: fault.into(),
            }));
        }
        faults
    }

    /// What is wrong with these presets, for the tools that are there now. `later` says of a name
    /// that its tool may still come.
    #[must_use]
    pub fn preset_faults(
        &self,
        presets: &Presets,
        later: impl Fn(&str) -> bool,
    ) -> Vec<PresetFault> {
        let (merged, _) = self.current();
        let of = |name: &str| match (merged.tools.get(name), presets.of(name)) {
            (Some(tool), Some(presets)) => presets::faults(tool, presets),
            (None, _) if !later(name) => vec![PresetFault {
                tool: name.to_owned(),
                parameter: None,
                why: "there is no such tool".to_owned(),
            }],
            (None, _) | (_, None) => Vec::new(),
        };
        presets.tools().flat_map(of).collect()
    }

    /// Those of `names` that no tool has and that cannot belong to a remote source either. The
    /// tools of a remote source may come later.
    #[must_use]
    pub fn unknown_names<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<UnknownName> {
        let (merged, _) = self.current();
        let sources = self.lock().sources.clone();
        let remote = |name: &str| {
            naming::split_qualified(name).is_some_and(|(prefix, _)| {
                sources
                    .iter()
                    .any(|source| source.trust() == Trust::Remote && source.id().as_str() == prefix)
            })
        };
        names
            .into_iter()
            .filter(|name| !merged.tools.contains_key(*name) && !remote(name))
            .map(|name| UnknownName {
                name: name.to_owned(),
                close: close_names(name, merged.tools.keys().map(ToolName::as_str))
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
            })
            .collect()
    }

    /// Which of these rules can never meet a call of the tools that there are now, and what about
    /// them shows only later.
    #[must_use]
    pub fn rule_findings(&self, rules: &[Rule], around: &Surroundings<'_>) -> RuleFindings {
        let (merged, _) = self.current();
        let there = merged.tools.values().map(|tool| Known {
            spec: tool.spec.clone(),
            tool: tool.tool.clone(),
        });
        let dormant = around.dormant.iter();
        let dormant = dormant.filter(|tool| !merged.tools.contains_key(&tool.spec().name));
        let dormant = dormant.map(|tool| Known {
            spec: Arc::new(tool.spec().clone()),
            tool: tool.clone(),
        });
        let known: Vec<Known> = there.chain(dormant).collect();
        policy::look_at(rules, &known, around)
    }

    /// What the tools of a source are called now: those that it could register.
    #[must_use]
    pub fn names_of(&self, source: &str) -> Vec<ToolName> {
        let (merged, _) = self.current();
        let tools = merged.tools.iter();
        let its = tools.filter(|(_, tool)| tool.source.as_str() == source);
        its.map(|(name, _)| name.clone()).collect()
    }

    /// Which of `globs` are like the name of no tool that there is now.
    #[must_use]
    pub fn unmet_globs<'a>(&self, globs: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let (merged, _) = self.current();
        let met = |glob: &str| {
            let glob = Pattern::new(glob);
            let mut names = merged.tools.keys();
            names.any(|name| glob.matches(name.as_str()))
        };
        globs.into_iter().filter(|glob| !met(glob)).collect()
    }

    /// What is told of each change from now on, and the sources, which tell of their own.
    pub(crate) fn watched(&self) -> (watch::Receiver<()>, Arc<Vec<Arc<dyn ToolSource>>>) {
        let state = self.lock();
        (state.told.subscribe(), state.sources.clone())
    }

    /// All tools and the configuration, as they are now. Sources are asked without the lock.
    pub(crate) fn current(&self) -> (Arc<Merged>, Arc<ToolsConfig>) {
        let (sources, config, last) = {
            let state = self.lock();
            (
                state.sources.clone(),
                state.config.clone(),
                state.merged.clone(),
            )
        };
        let snapshots: Vec<Arc<SourceSnapshot>> =
            sources.iter().map(|source| source.snapshot()).collect();
        let seen = snapshots.iter().map(|snapshot| &snapshot.generation);
        if Arc::ptr_eq(&last.sources, &sources) && seen.eq(&last.seen) {
            return (last, config);
        }
        let merged = Arc::new(Merged::of(&sources, &snapshots, &last));
        self.lock().merged = merged.clone();
        (merged, config)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of the state is one assignment, so a panic leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
