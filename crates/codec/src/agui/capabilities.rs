//! What `GET /agui/capabilities` answers: AG-UI's `AgentCapabilities`, said of this server.

use outfitter_core::Listing;
use serde::Serialize;
use serde_json::{Value, json};

/// What this server can do, as AG-UI says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Capabilities {
    /// The version of the program.
    pub version: String,
    /// The tools of the caller that the next model request would show.
    pub tools: Vec<ToolItem>,
    /// Whether commands run under isolation.
    pub sandboxed: bool,
    /// The most model calls of one turn.
    pub max_turns: u64,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolItem {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

impl From<&Listing> for ToolItem {
    fn from(tool: &Listing) -> Self {
        Self {
            name: tool.name.to_string(),
            description: tool.description.to_string(),
            parameters: (*tool.input_schema).clone(),
        }
    }
}

impl Capabilities {
    /// The document.
    #[must_use]
    pub fn document(&self) -> Value {
        json!({
            "identity": { "name": "outfitter", "type": "outfitter", "version": self.version },
            "transport": {
                "streaming": true, "websocket": false, "httpBinary": false,
                "pushNotifications": false, "resumable": false,
            },
            "tools": {
                "supported": true, "items": self.tools, "parallelCalls": true,
                "clientProvided": false,
            },
            "output": { "structuredOutput": false },
            "state": { "snapshots": true, "deltas": false, "persistentState": false },
            "multiAgent": { "supported": false },
            "reasoning": { "supported": true, "streaming": true, "encrypted": false },
            "execution": {
                "codeExecution": true, "sandboxed": self.sandboxed,
                "maxIterations": self.max_turns,
            },
            "humanInTheLoop": {
                "supported": true, "approvals": true, "interrupts": true,
                "approveWithEdits": false,
            },
            "custom": { "outfitter": {
                "ui_schema": crate::ui::UI_VERSION,
                "activity_types": ["outfitter.tool_progress"],
                "custom_events": [
                    "outfitter.warning", "outfitter.usage", "outfitter.answered",
                    "outfitter.snapshot_cut",
                ],
            } },
        })
    }
}
