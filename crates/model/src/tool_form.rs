//! A tool as a request has it.

use outfitter_core::ToolSchema;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shaping::{SchemaDialect, ShapeCache};
use crate::{Wire, anthropic, openai, responses};

/// A tool as it stands in the requests of a wire, in the words that its own provider takes; none
/// where a wire has no tools or is not ours to know.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn tool_on_wire(wire: Wire, tool: &ToolSchema) -> serde_json::Result<Option<Value>> {
    let tools = std::slice::from_ref(tool);
    let shapes = match wire {
        Wire::OpenAi => ShapeCache::new(SchemaDialect::OpenAiChat, openai::tools),
        Wire::Responses => ShapeCache::new(SchemaDialect::OpenAiResponses, responses::tools),
        Wire::Anthropic => ShapeCache::new(SchemaDialect::Anthropic, anthropic::tools),
        Wire::Adapted(_) | Wire::Scripted => return Ok(None),
    };
    let shaped = shapes.make(tools)?;
    let list: Option<Vec<Value>> = shaped
        .wire
        .as_deref()
        .map(RawValue::get)
        .map(serde_json::from_str)
        .transpose()?;
    Ok(list.and_then(|list| list.into_iter().next()))
}
