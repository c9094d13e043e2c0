//! A proxy at one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use outfitter_core::{
    Effect, Effects, Exposure, Fault, Grant, Hash, Listing, Mode, NameSet, Policy,
    SessionAuthority, SessionFacts, SourceId, ToolName, ToolSchema, ToolSpec, canonical,
};
use serde_json::Value;

use crate::merged::Merged;
use crate::presentation;
use crate::registered::Registered;
use crate::{SourceFault, ToolsConfig, naming, spec_check};
use outfitter_text::close_names;

/// What one session sees at one moment: what is shown to a model, and what answers.
pub struct ToolView {
    pub(crate) merged: Arc<Merged>,
    pub(crate) allowed: BTreeMap<ToolName, Arc<Registered>>,
    /// In the allow-lists, but above the role or the effects, or kept from sight by the policy.
    above: BTreeSet<ToolName>,
    pub(crate) config: Arc<ToolsConfig>,
    effects: Effects,
    mode: Mode,
    tools: NameSet,
    skills: NameSet,
    pub(crate) expanded: Arc<BTreeSet<ToolName>>,
    /// The listed tools that are shown beside the ones that always are, where not all are.
    pub(crate) trimmed_to: Option<Arc<BTreeSet<ToolName>>>,
    schemas: Arc<[ToolSchema]>,
    hash: OnceLock<Hash>,
    names: OnceLock<Arc<[String]>>,
    faults: Vec<SourceFault>,
}

/// What there is under a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Found<'v> {
    /// A tool that answers.
    Callable(&'v ToolSpec),
    /// A tool that may be used but is not shown yet.
    NotPresented(&'v ToolSpec),
    /// Something that is not for this caller.
    NotPermitted,
    /// Nothing. These were perhaps meant.
    Unknown(Vec<&'v str>),
}

pub(crate) enum LookUp<'v> {
    Callable(&'v Registered),
    NotPresented(&'v Registered),
    NotPermitted,
    Unknown,
}

impl ToolView {
    pub(crate) fn of(
        merged: &Arc<Merged>,
        config: &Arc<ToolsConfig>,
        grant: &Grant,
        session: &SessionFacts,
    ) -> Self {
        let mut faults = Vec::new();
        let mut allowed = BTreeMap::new();
        let mut above = BTreeSet::new();
        let role = grant.role.min(session.who.role);
        let mode = grant.mode.meet(config.mode);
        let effects = grant.effects.meet(mode.effects());
        let session = &SessionFacts {
            skills: session.skills.meet(&grant.skills),
            ..session.clone()
        };
        for (name, tool) in &merged.tools {
            if !grant.tools.has(name.as_str()) || !config.available.has(name.as_str()) {
                continue;
            }
            let permitted = tool.spec.min_role <= role
                && (mode.admits(tool.spec.effects) || (mode == Mode::Plan && asks(tool)))
                && tool.spec.effects.within(grant.effects)
                && config.policy.visible(&session.who, &tool.spec);
            if permitted {
                let tool = tailored(tool, session).unwrap_or_else(|fault| {
                    faults.push(fault);
                    tool.clone()
                });
                match config.presets.fitted(tool) {
                    Ok(tool) => {
                        allowed.insert(name.clone(), exposed(tool, config));
                    }
                    // Without what the operator wants to be set, nobody may call it.
                    Err(wrong) => {
                        faults.extend(wrong.into_iter().map(|fault| SourceFault {
                            source: merged.tools[name].source.clone(),
                            fault: fault.into(),
                        }));
                        above.insert(name.clone());
                    }
                }
            } else {
                above.insert(name.clone());
            }
        }
        let mut view = Self {
            merged: merged.clone(),
            allowed,
            above,
            config: config.clone(),
            effects,
            mode,
            tools: grant.tools.clone(),
            skills: session.skills.clone(),
            expanded: session.expanded.clone(),
            trimmed_to: None,
            schemas: Arc::default(),
            hash: OnceLock::new(),
            names: OnceLock::new(),
            faults,
        };
        view.trimmed_to = view.trimmed(session.suggested.as_ref());
        // The ways to more are shown only where there is more.
        let all_shown = view.expandable().next().is_none();
        view.schemas = view
            .allowed
            .values()
            .filter(|tool| view.is_presented(&tool.spec))
            .filter(|tool| !(all_shown && presentation::is_way_in(&tool.spec.name)))
            .map(|tool| tool.spec.schema())
            .collect();
        view
    }

    /// What goes into a model request, sorted by name. Views of equal content give equal bytes.
    #[must_use]
    pub fn schemas(&self) -> Arc<[ToolSchema]> {
        self.schemas.clone()
    }

    /// The names that go into a model request, sorted.
    pub fn presented(&self) -> impl Iterator<Item = &ToolName> {
        self.schemas.iter().map(|schema| &schema.name)
    }

    /// The same as texts, for the record of each run.
    #[must_use]
    pub fn presented_names(&self) -> Arc<[String]> {
        let names = || self.presented().map(ToString::to_string).collect();
        self.names.get_or_init(names).clone()
    }

    /// The hash of what goes into a model request.
    #[must_use]
    pub fn hash(&self) -> Hash {
        *self.hash.get_or_init(|| {
            let mut text = String::new();
            for schema in self.schemas.iter() {
                text.push_str(schema.name.as_str());
                text.push('\n');
                text.push_str(&canonical(&Value::from(&*schema.description)));
                text.push('\n');
                text.push_str(&canonical(&schema.parameters));
                text.push('\n');
            }
            Hash::of(text)
        })
    }

    /// What may be told of its tools: all but the hidden ones, sorted by name.
    #[must_use]
    pub fn listing(&self) -> Vec<Listing> {
        self.visible().map(|tool| self.listed_as(tool)).collect()
    }

    /// What may be told to who calls by name: the same without the ways to what a model is not
    /// shown, as all is told here, and without what only asks a person.
    #[must_use]
    pub fn callable(&self) -> Vec<Listing> {
        self.visible()
            .filter(|tool| !presentation::is_way_in(&tool.spec.name) && !tool.tool.only_asks())
            .map(|tool| self.listed_as(tool))
            .collect()
    }

    fn listed_as(&self, tool: &Registered) -> Listing {
        Listing {
            name: tool.spec.name.clone(),
            source: tool.source.clone(),
            description: tool.spec.description.clone(),
            input_schema: tool.spec.input_schema.clone(),
            output_schema: tool.spec.output_schema.clone(),
            exposure: tool.spec.exposure,
            min_role: tool.spec.min_role,
            effects: tool.spec.effects,
            presented: self.is_presented(&tool.spec),
        }
    }

    /// What there is under a name, or an alias.
    #[must_use]
    pub fn find(&self, name: &str) -> Found<'_> {
        match self.look_up(name) {
            LookUp::Callable(tool) => Found::Callable(&tool.spec),
            LookUp::NotPresented(tool) => Found::NotPresented(&tool.spec),
            LookUp::NotPermitted => Found::NotPermitted,
            LookUp::Unknown => Found::Unknown(self.close_names(name)),
        }
    }

    /// What could not be fitted to this session, and why. The tool is offered as it is.
    #[must_use]
    pub fn faults(&self) -> &[SourceFault] {
        &self.faults
    }

    pub(crate) fn look_up(&self, name: &str) -> LookUp<'_> {
        let direct = self.direct(name);
        match (direct, self.config.aliases.get(name)) {
            (LookUp::Unknown, Some(target)) => self.direct(target),
            (found, _) => found,
        }
    }

    fn direct(&self, name: &str) -> LookUp<'_> {
        match self.allowed.get(name) {
            Some(tool) if tool.spec.exposure == Exposure::Hidden => LookUp::Callable(tool),
            Some(tool) if !self.is_presented(&tool.spec) => LookUp::NotPresented(tool),
            Some(tool) => LookUp::Callable(tool),
            None if self.above.contains(name) => LookUp::NotPermitted,
            None => LookUp::Unknown,
        }
    }

    pub(crate) fn close_names(&self, name: &str) -> Vec<&str> {
        close_names(name, self.visible().map(|tool| tool.spec.name.as_str()))
    }

    /// The source of a name that may be called here, where all of that source is missing, and why.
    pub(crate) fn source_that_is_not_there(&self, name: &str) -> Option<(&SourceId, String)> {
        let may_be = |name: &str| self.tools.has(name) && self.config.available.has(name);
        let target = self.config.aliases.get(name).map_or(name, String::as_str);
        if !may_be(target) || self.merged.tools.contains_key(target) {
            return None;
        }
        let remote = naming::split_qualified(target)
            .and_then(|(prefix, _)| self.merged.missing(prefix))
            .map(|(source, why)| (source, why.to_owned()));
        remote.or_else(|| self.merged.why_missing(target))
    }

    pub(crate) fn policy(&self) -> &dyn Policy {
        &*self.config.policy
    }

    /// How much of what is granted may be used.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The most a call may do here.
    pub(crate) fn effects(&self) -> Effects {
        self.effects
    }

    pub(crate) fn visible(&self) -> impl Iterator<Item = &Registered> {
        self.allowed
            .values()
            .map(|tool| &**tool)
            .filter(|tool| match tool.spec.exposure {
                Exposure::Always | Exposure::Listed | Exposure::Deferred => true,
                Exposure::Hidden => false,
            })
    }
}

impl SessionAuthority for ToolView {
    fn skills(&self) -> &NameSet {
        &self.skills
    }

    fn may_call(&self, tool: &str) -> bool {
        match self.look_up(tool) {
            LookUp::Callable(_) | LookUp::NotPresented(_) => true,
            LookUp::NotPermitted | LookUp::Unknown => false,
        }
    }
}

/// The tool as the operator wants it to be shown.
fn exposed(tool: Arc<Registered>, config: &ToolsConfig) -> Arc<Registered> {
    if !config.presentation.defers(&tool.spec) {
        return tool;
    }
    let spec = ToolSpec {
        exposure: Exposure::Deferred,
        ..ToolSpec::clone(&tool.spec)
    };
    Arc::new(Registered {
        spec: Arc::new(spec),
        ..Registered::clone(&tool)
    })
}

/// The tool as it is in this session. A tailored spec changes what is said and asked for, never
/// what is allowed.
fn tailored(
    tool: &Arc<Registered>,
    session: &SessionFacts,
) -> Result<Arc<Registered>, SourceFault> {
    let fault = |why: String| SourceFault {
        source: tool.source.clone(),
        fault: Fault {
            what: tool.spec.name.to_string(),
            why,
        },
    };
    let Some(said) = catch_unwind(AssertUnwindSafe(|| tool.tool.tailor(session)))
        .map_err(|_| fault("it panicked while it was fitted to a session".to_owned()))?
    else {
        return Ok(tool.clone());
    };
    let spec = ToolSpec {
        name: tool.spec.name.clone(),
        min_role: tool.spec.min_role,
        effects: tool.spec.effects,
        idempotent: tool.spec.idempotent,
        ..said
    };
    let validator = if spec.input_schema == tool.spec.input_schema {
        tool.validator.clone()
    } else {
        Arc::new(spec_check::check(&spec, tool.trust).map_err(fault)?)
    };
    Ok(Arc::new(Registered {
        spec: Arc::new(spec),
        validator,
        ..Registered::clone(tool)
    }))
}

/// Whether a tool does nothing but ask the person of the session. A plan may ask: that changes
/// nothing.
fn asks(tool: &Registered) -> bool {
    tool.tool.only_asks() && tool.spec.effects.within(Effects::of(&[Effect::Message]))
}
