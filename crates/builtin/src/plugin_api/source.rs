//! The operations on the allowlist, as a source of tools.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use outfitter_core::{
    Fault, Generation, NameSet, Pattern, SourceId, SourceSnapshot, Tool, ToolName, ToolSource,
    Trust,
};
use tokio::sync::watch;

use super::api::{Api, Missing};
use super::name;

/// The name of the source.
pub const PLUGIN_APIS: &str = "plugin_api";

/// How much of what is missing of one API is told.
const MAX_TOLD: usize = 50;

/// The operations of all APIs that are on the allowlist. Empty, it offers none.
pub struct PluginApis {
    id: SourceId,
    state: Mutex<State>,
    snapshot: watch::Sender<Arc<SourceSnapshot>>,
}

struct State {
    apis: Vec<Api>,
    /// APIs that cannot be used at all.
    broken: Vec<Fault>,
    allowlist: Vec<Pattern>,
}

impl PluginApis {
    /// These APIs, and what is wrong with the others; `allowlist` has names and globs of tools, with
    /// or without their `call_`.
    ///
    /// # Errors
    /// [`outfitter_core::InvalidId`] never, as the name of the source is fixed.
    pub fn new(
        apis: Vec<Api>,
        broken: Vec<Fault>,
        allowlist: impl IntoIterator<Item = String>,
    ) -> Result<Self, outfitter_core::InvalidId> {
        let source = Self {
            id: SourceId::new(PLUGIN_APIS)?,
            state: Mutex::new(State {
                apis,
                broken,
                allowlist: Vec::new(),
            }),
            snapshot: watch::Sender::new(Arc::default()),
        };
        source.allow(allowlist);
        Ok(source)
    }

    /// What of each API there is; those that cannot be used at all are faults.
    #[must_use]
    pub fn status(&self) -> Vec<ApiStatus> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let apis = state.apis.iter().map(|api| ApiStatus {
            name: api.name.clone(),
            tools: api
                .tools
                .iter()
                .map(|tool| tool.spec().name.clone())
                .collect(),
            left_out: api.left_out(),
        });
        apis.collect()
    }

    /// Offers what is on this list from now on.
    pub fn allow(&self, allowlist: impl IntoIterator<Item = String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.allowlist = allowlist.into_iter().map(Pattern::new).collect();
        let (tools, faults) = state.offer();
        self.snapshot.send_modify(|last| {
            *last = Arc::new(SourceSnapshot {
                generation: Generation(last.generation.0 + 1),
                tools,
                faults,
            });
        });
    }
}

/// What there is of an API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiStatus {
    /// Its name.
    pub name: String,
    /// The tools of the operations that can be offered; the allowlist says which are.
    pub tools: Vec<ToolName>,
    /// The operations that cannot, each with why.
    pub left_out: Vec<Fault>,
}

impl State {
    fn offer(&self) -> (Vec<Arc<dyn Tool>>, Vec<Fault>) {
        let set = NameSet::of(self.allowlist.iter().map(Pattern::as_str));
        let allowed = |name: &ToolName| set.has(name.as_str()) || set.has(short(name));
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        let mut faults = self.broken.clone();
        for api in &self.apis {
            for tool in &api.tools {
                if allowed(&tool.spec().name) {
                    tools.push(tool.clone());
                }
            }
            let missing = api.missing.iter();
            // What nobody asked for is missed by nobody.
            let matters = |missing: &&Missing| match &missing.tool {
                Some(name) => allowed(name),
                None => !self.allowlist.is_empty(),
            };
            let missing: Vec<&Missing> = missing.filter(matters).collect();
            for missing in missing.iter().take(MAX_TOLD) {
                faults.push(Fault {
                    what: missing.what.clone(),
                    why: missing.why.clone(),
                });
            }
            if let Some(more @ 1..) = missing.len().checked_sub(MAX_TOLD) {
                faults.push(Fault {
                    what: api.name.clone(),
                    why: format!("{more} more of its operations are not offered as they are"),
                });
            }
        }
        // What cannot be used has said why.
        let known = |pattern: &Pattern| {
            let matches =
                |name: &ToolName| pattern.matches(name.as_str()) || pattern.matches(short(name));
            self.apis.iter().any(|api| {
                api.tools.iter().any(|tool| matches(&tool.spec().name))
                    || api
                        .missing
                        .iter()
                        .any(|one| one.tool.as_ref().is_some_and(matches))
            })
        };
        if self.broken.is_empty() {
            for pattern in self.allowlist.iter().filter(|pattern| !known(pattern)) {
                faults.push(Fault {
                    what: "allowlist".to_owned(),
                    why: self.unknown(pattern.as_str()),
                });
            }
        }
        tools.sort_by(|a, b| a.spec().name.cmp(&b.spec().name));
        (tools, faults)
    }

    /// Why an operation that is on the allowlist is not there: it cannot be offered, or may be one
    /// of an API that cannot be used.
    fn why_missing(&self, name: &str) -> Option<String> {
        let name = ToolName::new(name).ok()?;
        let mut allowed = self.allowlist.iter();
        if !name.as_str().starts_with(name::PREFIX)
            || !allowed.any(|one| one.matches(name.as_str()) || one.matches(short(&name)))
        {
            return None;
        }
        let mut missing = self.apis.iter().flat_map(|api| &api.missing);
        if let Some(missing) = missing.find(|missing| missing.tool.as_ref() == Some(&name)) {
            return Some(format!("{}: {}", missing.what, missing.why));
        }
        let broken = self.broken.iter();
        let broken: Vec<_> = broken
            .map(|fault| format!("{}: {}", fault.what, fault.why))
            .collect();
        (!broken.is_empty()).then(|| broken.join("; "))
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self
            .apis
            .iter()
            .flat_map(|api| &api.tools)
            .map(|tool| short(&tool.spec().name))
            .collect();
        let close = outfitter_text::close_names(name, names.iter().copied());
        match close.first() {
            Some(close) => format!("no operation is called {name:?}, did you mean {close:?}?"),
            None => format!("no operation is called {name:?}"),
        }
    }
}

/// A name without what all begin with.
fn short(name: &ToolName) -> &str {
    let name = name.as_str();
    name.strip_prefix(name::PREFIX).unwrap_or(name)
}

impl ToolSource for PluginApis {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn trust(&self) -> Trust {
        Trust::Operator
    }

    fn snapshot(&self) -> Arc<SourceSnapshot> {
        self.snapshot.borrow().clone()
    }

    fn why_missing(&self, name: &str) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.why_missing(name)
    }

    fn changes(&self) -> BoxStream<'static, Generation> {
        let snapshots = self.snapshot.subscribe();
        futures_util::stream::unfold(snapshots, |mut snapshots| async move {
            snapshots.changed().await.ok()?;
            let generation = snapshots.borrow_and_update().generation;
            Some((generation, snapshots))
        })
        .boxed()
    }
}
