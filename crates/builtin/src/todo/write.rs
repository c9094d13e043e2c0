//! `todo_write`: tasks into the list.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    Effect, Effects, Facts, Outcome, Reply, Tool, ToolContext, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::list::{
    MAX_ASSIGNEE_CHARS, MAX_CONCLUSION_CHARS, MAX_CONTENT_CHARS, MAX_ID_CHARS, MAX_TASKS, Task,
};
use super::{TodoLists, WRITE, output_schema, task_schema};
use crate::args;
use crate::spec::{Words, object, spec};

const WORDS: Words<'static> = Words {
    name: WRITE,
    description: "Writes tasks into the list of what is to do in this session, which sub-agents \
        share and which survives a restart. A task whose id is known is changed, a new one is \
        added; tasks that are not named stay as they are, so give only what changes. Use it to plan \
        work of several steps, and to say at once when a step begins or is done. Not for a single \
        step, and not for notes: those belong into a file. It gives the whole list; to only look \
        use todo_read.",
    keywords: &[
        "todo",
        "task",
        "plan",
        "checklist",
        "progress",
        "steps",
        "待办",
        "任务",
        "计划",
        "清单",
        "进度",
        "步骤",
    ],
};

/// Writes the list.
#[derive(Debug)]
pub struct TodoWrite {
    spec: ToolSpec,
    lists: Arc<TodoLists>,
}

impl TodoWrite {
    /// The tool on these lists.
    #[must_use]
    pub fn new(lists: Arc<TodoLists>) -> Self {
        let input = object(
            &["tasks"],
            json!({
                "tasks": {
                    "type": "array", "minItems": 1, "maxItems": MAX_TASKS, "items": task_schema(),
                    "description": format!("What is new or has changed; a list has at most {MAX_TASKS}."),
                },
            }),
        );
        Self {
            spec: ToolSpec {
                effects: Effects::of(&[Effect::Write]),
                idempotent: true,
                ..spec(&WORDS, input, output_schema())
            },
            lists,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    tasks: Vec<Task>,
}

#[async_trait]
impl Tool for TodoWrite {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, _: &Value) -> Result<Facts, ToolError> {
        Ok(Facts::of(&self.spec).about("the list of this session"))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let Args { tasks } = args::parse(args)?;
        check(&tasks)?;
        let list = self.lists.write(cx, tasks).await?;
        Ok(Outcome::json(list.to_json()).into())
    }
}

/// The bounds of the schema, also for who calls without a pipeline; and one id, one task.
fn check(tasks: &[Task]) -> Result<(), ToolError> {
    let mut seen = HashSet::new();
    for (index, task) in tasks.iter().enumerate() {
        let at = |field: &str| format!("/tasks/{index}/{field}");
        for (field, text, most) in [
            ("id", Some(&task.id), MAX_ID_CHARS),
            ("content", Some(&task.content), MAX_CONTENT_CHARS),
            ("conclusion", task.conclusion.as_ref(), MAX_CONCLUSION_CHARS),
            ("assignee", task.assignee.as_ref(), MAX_ASSIGNEE_CHARS),
        ] {
            if text.is_some_and(|text| text.chars().count() > most) {
                return Err(ToolError::invalid(
                    at(field),
                    format!("at most {most} characters"),
                ));
            }
        }
        for (field, text) in [("id", &task.id), ("content", &task.content)] {
            if text.trim().is_empty() {
                return Err(ToolError::invalid(at(field), "it is empty"));
            }
        }
        if !seen.insert(task.id.as_str()) {
            return Err(ToolError::invalid(
                at("id"),
                format!("{:?} stands twice in one call", task.id),
            ));
        }
    }
    Ok(())
}
