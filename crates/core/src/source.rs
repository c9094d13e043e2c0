//! What offers tools.

use std::sync::Arc;

use futures_core::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::{SourceId, Tool};

/// Rises when what a source offers changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Generation(pub u64);

/// How far a source is trusted with names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It ships with the program. Its names cannot be shadowed.
    Builtin,
    /// The operator put it there.
    Operator,
    /// It comes from elsewhere; its names are always `prefix__tool`.
    Remote,
}

/// Something a source could not offer, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What: a tool, a server, a file.
    pub what: String,
    /// Why, one fragment.
    pub why: String,
}

/// What a source offers at one moment.
#[derive(Clone, Default)]
pub struct SourceSnapshot {
    /// Which moment.
    pub generation: Generation,
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What is missing, and why.
    pub faults: Vec<Fault>,
}

/// Something that offers tools. Listing never waits for a slow server.
pub trait ToolSource: Send + Sync {
    /// Its name.
    fn id(&self) -> &SourceId;
    /// How far it is trusted with names.
    fn trust(&self) -> Trust;
    /// What it offers now.
    fn snapshot(&self) -> Arc<SourceSnapshot>;
    /// Why there is no tool of this name now, where it may be one of what is missing.
    fn why_missing(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
    /// A value each time that changes.
    fn changes(&self) -> BoxStream<'static, Generation>;
}
