//! One tool under the name it is called by, ready to judge arguments.

use std::sync::Arc;

use jsonschema::Validator;
use outfitter_core::{SourceId, Tool, ToolSpec, Trust};

/// A tool as the registry offers it, or as a session sees it.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) source: SourceId,
    pub(crate) trust: Trust,
    /// What it says of itself, under the name it has here.
    pub(crate) spec: Arc<ToolSpec>,
    /// Compiled once for the schema of `spec`.
    pub(crate) validator: Arc<Validator>,
    /// The arguments that the operator sets, which are in `validator` and not in `spec`.
    pub(crate) presets: Option<Arc<crate::presets::OfTool>>,
}
