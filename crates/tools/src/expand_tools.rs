//! `tool_expand_tools`: the way from a name in the reminder to a schema in the next request.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{Outcome, Reply, Tool, ToolContext, ToolError, ToolIndex, ToolName, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::__private::{native_name, read_arguments};
use crate::input_schema;

/// The name of the tool.
pub(crate) const EXPAND_TOOLS: &str = "tool_expand_tools";

/// Names asked for at once.
const MOST_NAMES: usize = 64;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The exact names of the tools to be shown.
    #[schemars(length(min = 1, max = MOST_NAMES))]
    tool_names: Vec<String>,
}

struct ExpandTools(ToolSpec);

/// The tool `tool_expand_tools`.
#[must_use]
pub fn expand_tools() -> Arc<dyn Tool> {
    Arc::new(ExpandTools(ToolSpec {
        idempotent: true,
        keywords: ["more tools", "schema", "deferred", "展开工具", "更多工具"]
            .map(Into::into)
            .to_vec(),
        ..ToolSpec::new(
            native_name(EXPAND_TOOLS),
            "Shows the schemas of tools that may be used but are not in this request, from the \
             next request on. Use it with the exact names that the reminder lists, or that a \
             refused call named. Not for finding out which tool you need: \
             tool_search does that. Not for calling them: call the tool itself afterwards.",
            input_schema::<Args>(),
        )
    }))
}

#[async_trait]
impl Tool for ExpandTools {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = read_arguments(args)?;
        let index = cx.service::<dyn ToolIndex>("list of tools")?;
        let expansion = index.expansion(&args.tool_names);
        let names =
            |list: &[ToolName]| -> Vec<String> { list.iter().map(ToString::to_string).collect() };
        let result = json!({
            "success": expansion.invalid.is_empty() || !expansion.expanded.is_empty(),
            "expanded_tools": names(&expansion.expanded),
            "invalid_tools": expansion.invalid,
            "already_selected_tools": names(&expansion.selected),
            "available_expandable_tools": names(&expansion.expandable),
        });
        Ok(Outcome {
            activate: expansion.expanded,
            ..Outcome::json(result)
        }
        .into())
    }
}
