//! All tools of all sources at one moment, each under one name.

use std::collections::BTreeMap;
use std::sync::Arc;

use outfitter_core::{
    Fault, Generation, SourceId, SourceSnapshot, Tool, ToolName, ToolSource, ToolSpec, Trust,
};

use crate::presentation::index::SearchIndex;
use crate::registered::Registered;
use crate::registry::SourceFault;
use crate::{naming, spec_check};

/// All tools at one moment. Two moments without a change between them are one allocation.
#[derive(Default)]
pub(crate) struct Merged {
    pub(crate) sources: Arc<Vec<Arc<dyn ToolSource>>>,
    pub(crate) seen: Vec<Generation>,
    pub(crate) tools: BTreeMap<ToolName, Arc<Registered>>,
    pub(crate) index: SearchIndex,
    pub(crate) faults: Vec<SourceFault>,
}

impl Merged {
    /// The remote source of this prefix, where it has no tools at all, and why.
    pub(crate) fn missing(&self, prefix: &str) -> Option<(&SourceId, &str)> {
        let fault = self
            .faults
            .iter()
            .find(|found| found.source.as_str() == prefix)?;
        let has_tools = self.tools.values().any(|tool| tool.source == fault.source);
        (!has_tools).then_some((&fault.source, &*fault.fault.why))
    }

    /// The source that may have had a tool of this name, and why it has none.
    pub(crate) fn why_missing(&self, name: &str) -> Option<(&SourceId, String)> {
        let mut sources = self.sources.iter();
        sources.find_map(|source| Some((source.id(), source.why_missing(name)?)))
    }

    /// Built-ins come first, so that nobody can take a name from them; then what the operator put
    /// there; then the rest, each under its prefix.
    pub(crate) fn of(
        sources: &Arc<Vec<Arc<dyn ToolSource>>>,
        snapshots: &[Arc<SourceSnapshot>],
        last: &Self,
    ) -> Self {
        let mut merged = Self {
            sources: sources.clone(),
            seen: snapshots
                .iter()
                .map(|snapshot| snapshot.generation)
                .collect(),
            ..Self::default()
        };
        for trust in [Trust::Builtin, Trust::Operator, Trust::Remote] {
            for (source, snapshot) in sources.iter().zip(snapshots) {
                if source.trust() == trust {
                    merged.take(&**source, snapshot, last);
                }
            }
        }
        merged
    }

    fn take(&mut self, source: &dyn ToolSource, snapshot: &SourceSnapshot, last: &Self) {
        let mut faults = snapshot.faults.clone();
        for tool in &snapshot.tools {
            if let Err(why) = self.take_tool(source, tool, last) {
                faults.push(Fault {
                    what: tool.home_name().to_owned(),
                    why,
                });
            }
        }
        self.faults
            .extend(faults.into_iter().map(|fault| SourceFault {
                source: source.id().clone(),
                fault,
            }));
    }

    fn take_tool(
        &mut self,
        source: &dyn ToolSource,
        tool: &Arc<dyn Tool>,
        last: &Self,
    ) -> Result<(), String> {
        let spec = tool.spec();
        let trust = source.trust();
        let name = match trust {
            Trust::Remote => naming::qualified_name(source.id().as_str(), tool.home_name())
                .map_err(|error| error.to_string())?,
            Trust::Builtin | Trust::Operator
                if naming::split_qualified(spec.name.as_str()).is_some() =>
            {
                return Err(
                    "a name with __ in it is kept for the tools of remote sources".to_owned(),
                );
            }
            Trust::Builtin | Trust::Operator => spec.name.clone(),
        };
        if let Some(first) = self.tools.get(&name) {
            return Err(format!("the name {name} is taken by {}", first.source));
        }
        let known = last
            .tools
            .get(&name)
            .filter(|known| known.source == *source.id() && known.trust == trust);
        if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.tool, tool)) {
            self.tools.insert(name, known.clone());
            return Ok(());
        }
        let validator = match known {
            Some(known) if known.spec.input_schema == spec.input_schema => known.validator.clone(),
            Some(_) | None => Arc::new(spec_check::check(spec, trust)?),
        };
        let registered = Registered {
            tool: tool.clone(),
            source: source.id().clone(),
            trust,
            spec: Arc::new(ToolSpec {
                name: name.clone(),
                ..spec.clone()
            }),
            validator,
            presets: None,
        };
        self.tools.insert(name, Arc::new(registered));
        Ok(())
    }
}
