//! A tool as a request has it.

use outfitter_core::ToolSchema;
use serde_json::Value;

use crate::{Wire, anthropic, openai};

/// A tool as it stands in the requests of a wire; none where a wire has no tools.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn tool_on_wire(wire: Wire, tool: &ToolSchema) -> serde_json::Result<Option<Value>> {
    match wire {
        Wire::OpenAi => openai::tool_form(tool).map(Some),
        Wire::Anthropic => anthropic::tool_form(tool).map(Some),
        Wire::Scripted => Ok(None),
    }
}
