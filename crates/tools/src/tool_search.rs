//! `tool_search`: the way from what is to be done to the tools that do it.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{Outcome, Reply, Tool, ToolContext, ToolError, ToolIndex, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::__private::{native_name, read_arguments};
use crate::{input_schema, output_schema};

/// The name of the tool.
pub(crate) const TOOL_SEARCH: &str = "tool_search";

/// Tools that one search gives, at most.
const MOST_TOOLS: usize = 20;

/// Tools that one search gives where nobody says.
const USUAL_TOOLS: usize = 5;

/// Characters of a query.
const MAX_QUERY: usize = 1_000;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What is to be done, in a few words of any language, or a part of a tool's name.
    #[schemars(length(min = 1, max = MAX_QUERY))]
    query: String,
    /// How many tools to give at most.
    #[serde(default = "usual")]
    #[schemars(range(min = 1, max = MOST_TOOLS))]
    limit: usize,
}

fn usual() -> usize {
    USUAL_TOOLS
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
struct Given {
    /// The tools that fit, the best first.
    tools: Vec<One>,
    /// Those of them that were not shown before and are from the next request on.
    newly_discovered: Vec<String>,
}

/// A tool that fits.
#[derive(Debug, Serialize, JsonSchema)]
struct One {
    /// The name to call it by.
    name: String,
    /// What it does, when to use it, and when not.
    description: String,
    /// The JSON Schema of its arguments.
    input_schema: Value,
    /// How well it fits; higher is better.
    score: f64,
}

struct ToolSearch(ToolSpec);

/// The tool `tool_search`.
#[must_use]
pub fn tool_search() -> Arc<dyn Tool> {
    Arc::new(ToolSearch(ToolSpec {
        idempotent: true,
        output_schema: Some(Arc::new(output_schema::<Given>())),
        keywords: [
            "find tools",
            "discover",
            "capability",
            "search tools",
            "搜索工具",
            "查找工具",
            "发现能力",
        ]
        .map(Into::into)
        .to_vec(),
        ..ToolSpec::new(
            native_name(TOOL_SEARCH),
            "Finds tools by what they do and gives their schemas; they can be called from then on. \
             Use it when nothing that you are shown does what is needed: more tools can be used \
             than are shown. Not for tools whose exact names you know: tool_expand_tools takes \
             those. Not for looking into files or the web.",
            input_schema::<Args>(),
        )
    }))
}

#[async_trait]
impl Tool for ToolSearch {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = read_arguments(args)?;
        let index = cx.service::<dyn ToolIndex>("list of tools")?;
        let found = index.search(&args.query, args.limit.min(MOST_TOOLS));
        let new: Vec<_> = found
            .iter()
            .filter(|found| !found.presented)
            .map(|found| found.schema.name.clone())
            .collect();
        let given = Given {
            tools: found
                .into_iter()
                .map(|found| One {
                    name: found.schema.name.to_string(),
                    description: found.schema.description.to_string(),
                    input_schema: Value::clone(&found.schema.parameters),
                    score: (found.score * 1_000.0).round() / 1_000.0,
                })
                .collect(),
            newly_discovered: new.iter().map(ToString::to_string).collect(),
        };
        let result = serde_json::to_value(given)
            .map_err(|error| ToolError::internal(format!("the tools found: {error}")))?;
        Ok(Outcome {
            activate: new,
            ..Outcome::json(result)
        }
        .into())
    }
}
