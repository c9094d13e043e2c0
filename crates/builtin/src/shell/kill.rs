//! `kill_shell`: ends a command that goes on.

use async_trait::async_trait;
use outfitter_core::{
    Effect, Effects, Facts, Outcome, Reply, Role, Tool, ToolContext, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::KILL_GRACE;
use super::error::{fate, job_of, task_error};
use crate::args;
use crate::spec::{Words, object, spec};

const WORDS: Words<'static> = Words {
    name: "kill_shell",
    description: "Ends a command that execute_shell_command left `running`, with everything it \
        started: TERM first, KILL after at most 2 seconds. Use it for servers and for commands \
        that hang. A command that has ended is `gone`. To see its output use await_shell, which \
        also works afterwards.",
    keywords: &[
        "kill",
        "stop",
        "terminate",
        "end",
        "abort",
        "shell",
        "process",
        "background",
        "停止",
        "终止",
        "结束",
        "杀死",
        "进程",
    ],
};

/// Kills.
#[derive(Debug)]
pub struct KillShell {
    spec: ToolSpec,
}

impl Default for KillShell {
    fn default() -> Self {
        let input = object(
            &["task_id"],
            json!({
                "task_id": {
                    "type": "string", "minLength": 1, "maxLength": 128,
                    "description": "The task_id that execute_shell_command gave.",
                },
            }),
        );
        let output = object(
            &["status", "survivors"],
            json!({
                "status": { "enum": ["killed", "gone"] },
                "survivors": {
                    "type": "array", "items": { "type": "integer" },
                    "description": "Process ids that even KILL did not end.",
                },
                "notices": { "type": "array", "items": { "type": "string" } },
            }),
        );
        Self {
            spec: ToolSpec {
                min_role: Role::Admin,
                effects: Effects::of(&[Effect::Exec]),
                idempotent: true,
                ..spec(&WORDS, input, output)
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    task_id: String,
}

#[async_trait]
impl Tool for KillShell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        Ok(super::of_own_job(&self.spec, args))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let Args { task_id } = args::parse(args)?;
        let job = job_of(&task_id)?;
        let killed = cx
            .sandbox
            .kill(&job, KILL_GRACE)
            .await
            .map_err(|error| task_error(cx, error))?;
        let mut result = json!({
            "status": if killed.was_running { "killed" } else { "gone" },
            "survivors": killed.survivors,
        });
        if let Some(words) = fate(cx, &job) {
            result["notices"] = json!([words]);
        }
        Ok(Outcome::json(result).into())
    }
}
