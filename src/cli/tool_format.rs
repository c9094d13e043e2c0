//! A tool as others have it.

use outfitter_core::{Listing, ToolSchema};
use outfitter_model::{Wire, tool_on_wire};
use serde_json::{Value, json};

use super::args::ToolFormat;

impl ToolFormat {
    /// The tool, as a request to a model or a list of MCP has it.
    pub(crate) fn form(self, tool: &Listing) -> serde_json::Result<Value> {
        let on_wire = |wire| {
            let schema = ToolSchema {
                name: tool.name.clone(),
                description: tool.description.clone(),
                parameters: tool.input_schema.clone(),
            };
            tool_on_wire(wire, &schema).map(Option::unwrap_or_default)
        };
        match self {
            Self::Openai => on_wire(Wire::OpenAi),
            Self::Anthropic => on_wire(Wire::Anthropic),
            Self::Mcp => Ok(json!({
                "name": tool.name.as_str(),
                "description": &*tool.description,
                "inputSchema": &*tool.input_schema,
            })),
        }
    }
}
