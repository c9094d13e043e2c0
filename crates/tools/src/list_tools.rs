//! `list_tools` and `get_tool_schema`: names that conversations of other systems know. They are
//! never shown, and give true answers when they are called.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{Exposure, Outcome, Reply, Tool, ToolContext, ToolError, ToolIndex, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::__private::{native_name, read_arguments};
use crate::{input_schema, output_schema};

/// The names of the tools.
pub(crate) const LIST_TOOLS: &str = "list_tools";
pub(crate) const GET_TOOL_SCHEMA: &str = "get_tool_schema";

/// The arguments of `list_tools`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// The result of `list_tools`.
#[derive(Debug, Serialize, JsonSchema)]
struct All {
    /// The tools that may be used, sorted by name.
    tools: Vec<Line>,
}

/// A tool of the list.
#[derive(Debug, Serialize, JsonSchema)]
struct Line {
    /// The name to call it by.
    name: String,
    /// What it does, when to use it, and when not.
    description: String,
    /// Whether its schema is before the model already.
    presented: bool,
}

/// The arguments of `get_tool_schema`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The exact name of the tool.
    name: String,
}

/// The result of `get_tool_schema`.
#[derive(Debug, Serialize, JsonSchema)]
struct Schema {
    /// The name to call it by.
    name: String,
    /// What it does, when to use it, and when not.
    description: String,
    /// The JSON Schema of its arguments.
    input_schema: Value,
}

struct ListTools(ToolSpec);

struct GetToolSchema(ToolSpec);

/// The tool `list_tools`.
#[must_use]
pub fn list_tools() -> Arc<dyn Tool> {
    Arc::new(ListTools(ToolSpec {
        exposure: Exposure::Hidden,
        idempotent: true,
        output_schema: Some(Arc::new(output_schema::<All>())),
        keywords: ["all tools", "列出工具"].map(Into::into).to_vec(),
        ..ToolSpec::new(
            native_name(LIST_TOOLS),
            "Lists the tools that may be used. Use it to look at all of them. Not for finding one: \
             tool_search does that.",
            input_schema::<Nothing>(),
        )
    }))
}

/// The tool `get_tool_schema`.
#[must_use]
pub fn get_tool_schema() -> Arc<dyn Tool> {
    Arc::new(GetToolSchema(ToolSpec {
        exposure: Exposure::Hidden,
        idempotent: true,
        output_schema: Some(Arc::new(output_schema::<Schema>())),
        keywords: ["tool schema", "工具参数"].map(Into::into).to_vec(),
        ..ToolSpec::new(
            native_name(GET_TOOL_SCHEMA),
            "Gives the schema of one tool. Use it to look at a tool of this exact name. Not for \
             being able to call it: tool_expand_tools does that.",
            input_schema::<Named>(),
        )
    }))
}

#[async_trait]
impl Tool for ListTools {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let Nothing {} = read_arguments(args)?;
        let index = cx.service::<dyn ToolIndex>("list of tools")?;
        let tools: Vec<Value> = index
            .tools()
            .into_iter()
            .map(|tool| {
                json!(Line {
                    name: tool.schema.name.to_string(),
                    description: tool.schema.description.to_string(),
                    presented: tool.presented,
                })
            })
            .collect();
        Ok(Outcome::json(json!({ "tools": tools })).into())
    }
}

#[async_trait]
impl Tool for GetToolSchema {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let Named { name } = read_arguments(args)?;
        let index = cx.service::<dyn ToolIndex>("list of tools")?;
        // One answer for what is not there and for what is not for this caller.
        let tool = index
            .tool(&name)
            .ok_or_else(|| ToolError::not_found(format!("there is no tool named {name:?}")))?;
        Ok(Outcome::json(json!(Schema {
            name: tool.schema.name.to_string(),
            description: tool.schema.description.to_string(),
            input_schema: Value::clone(&tool.schema.parameters),
        }))
        .into())
    }
}
