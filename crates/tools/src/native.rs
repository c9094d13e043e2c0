//! Tools that are written in Rust and linked into the program.

use std::sync::Arc;

use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use outfitter_core::{Generation, SourceId, SourceSnapshot, Tool, ToolSource, Trust};

/// A tool that registered itself where it was written; `#[tool]` makes one.
///
/// A crate that nobody names is not linked, and its tools vanish without a word: name each crate of
/// tools somewhere in the program.
pub struct NativeTool {
    /// The package it was written in.
    pub package: &'static str,
    /// Makes it.
    pub make: fn() -> Arc<dyn Tool>,
}

inventory::collect!(NativeTool);

/// A fixed set of tools.
pub struct NativeSource {
    id: SourceId,
    trust: Trust,
    snapshot: Arc<SourceSnapshot>,
}

impl NativeSource {
    /// These tools, sorted by name.
    #[must_use]
    pub fn new(id: SourceId, trust: Trust, mut tools: Vec<Arc<dyn Tool>>) -> Self {
        tools.sort_by(|a, b| a.spec().name.cmp(&b.spec().name));
        Self {
            id,
            trust,
            snapshot: Arc::new(SourceSnapshot {
                generation: Generation(0),
                tools,
                faults: Vec::new(),
            }),
        }
    }

    /// The tools that registered themselves and that `pick` picks, sorted by name.
    #[must_use]
    pub fn linked(id: SourceId, trust: Trust, pick: impl Fn(&NativeTool) -> bool) -> Self {
        let tools = inventory::iter::<NativeTool>()
            .filter(|tool| pick(tool))
            .map(|tool| (tool.make)())
            .collect();
        Self::new(id, trust, tools)
    }
}

impl ToolSource for NativeSource {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn trust(&self) -> Trust {
        self.trust
    }

    fn snapshot(&self) -> Arc<SourceSnapshot> {
        self.snapshot.clone()
    }

    fn changes(&self) -> BoxStream<'static, Generation> {
        futures_util::stream::pending().boxed()
    }
}
