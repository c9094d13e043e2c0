//! Tools that are written in Rust and linked into the program.

use std::sync::Arc;

use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use outfitter_core::{Generation, SourceId, SourceSnapshot, Tool, ToolSource, Trust};
use tokio::sync::watch;

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

/// A set of tools, which is fixed until it is replaced.
pub struct NativeSource {
    id: SourceId,
    trust: Trust,
    snapshot: watch::Sender<Arc<SourceSnapshot>>,
}

impl NativeSource {
    /// These tools, sorted by name.
    #[must_use]
    pub fn new(id: SourceId, trust: Trust, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self {
            id,
            trust,
            snapshot: watch::Sender::new(snapshot(Generation(0), tools)),
        }
    }

    /// Offers these tools from now on, and no others.
    pub fn replace(&self, tools: Vec<Arc<dyn Tool>>) {
        self.snapshot.send_modify(|last| {
            let next = Generation(last.generation.0 + 1);
            *last = snapshot(next, tools);
        });
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
        self.snapshot.borrow().clone()
    }

    fn changes(&self) -> BoxStream<'static, Generation> {
        generations(self.snapshot.subscribe())
    }
}

/// The generation of each snapshot that comes.
pub(crate) fn generations(
    snapshots: watch::Receiver<Arc<SourceSnapshot>>,
) -> BoxStream<'static, Generation> {
    let changed = |mut of: watch::Receiver<Arc<SourceSnapshot>>| async move {
        of.changed().await.ok()?;
        let generation = of.borrow_and_update().generation;
        Some((generation, of))
    };
    futures_util::stream::unfold(snapshots, changed).boxed()
}

fn snapshot(generation: Generation, mut tools: Vec<Arc<dyn Tool>>) -> Arc<SourceSnapshot> {
    tools.sort_by(|a, b| a.spec().name.cmp(&b.spec().name));
    Arc::new(SourceSnapshot {
        generation,
        tools,
        faults: Vec::new(),
    })
}
