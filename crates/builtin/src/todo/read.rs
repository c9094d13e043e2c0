//! `todo_read`: the list as it is.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{Effects, Outcome, Reply, Tool, ToolContext, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{TodoLists, output_schema};
use crate::args;
use crate::spec::{Words, object, spec};

const WORDS: Words<'static> = Words {
    name: "todo_read",
    description: "Gives the list of what is to do in this session, with counts, as it was written \
        by you and by sub-agents. Use it to take up work again, or to see what others have done. \
        Not needed after todo_write, which gives the list as well.",
    keywords: &[
        "todo",
        "task",
        "plan",
        "checklist",
        "progress",
        "remaining",
        "待办",
        "任务",
        "计划",
        "清单",
        "进度",
        "剩余",
    ],
};

/// Reads the list.
#[derive(Debug)]
pub struct TodoRead {
    spec: ToolSpec,
    lists: Arc<TodoLists>,
}

impl TodoRead {
    /// The tool on these lists.
    #[must_use]
    pub fn new(lists: Arc<TodoLists>) -> Self {
        Self {
            spec: ToolSpec {
                effects: Effects::READ,
                idempotent: true,
                ..spec(&WORDS, object(&[], json!({})), output_schema())
            },
            lists,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {}

#[async_trait]
impl Tool for TodoRead {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let Args {} = args::parse(args)?;
        let list = self.lists.read(cx).await?;
        Ok(Outcome::json(list.to_json()).into())
    }
}
