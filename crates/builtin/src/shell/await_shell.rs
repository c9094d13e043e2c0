//! `await_shell`: waits for a command that goes on.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{Effect, Effects, Facts, Reply, Role, Tool, ToolContext, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::collect::Collector;
use super::delivered::ShellProgress;
use super::error::{job_of, task_error};
use super::follow::{Follow, Readers};
use super::report::Report;
use super::watch::{Watch, compile};
use super::{SLACK, output_schema, wait_until};
use crate::ShellOptions;
use crate::args::{self, without_nul};
use crate::spec::{Words, object, spec};

const DEFAULT_BLOCK_MS: u64 = 600_000;
const MAX_PATTERN_CHARS: usize = 4000;

const WORDS: Words<'static> = Words {
    name: "await_shell",
    description: "Waits for a command that execute_shell_command left `running`, and gives its \
        result as that would have; if it still runs after block_until_ms, the end of its output so \
        far. With block_until_ms 0 it only looks. With a pattern it comes back as soon as the \
        output has it, in what was printed before as well: wait for `listening on` and go on while \
        the server runs. Use it when you need the result or want to see \
        how far it is. It starts nothing: for that use execute_shell_command; to end a command use \
        kill_shell.",
    keywords: &[
        "wait",
        "await",
        "shell",
        "background",
        "running",
        "task",
        "output",
        "poll",
        "等待",
        "后台",
        "任务",
        "进度",
        "输出",
    ],
};

/// Waits.
#[derive(Debug)]
pub struct AwaitShell {
    spec: ToolSpec,
    max_output_chars: usize,
    progress: Arc<ShellProgress>,
}

impl AwaitShell {
    /// The tool as the configuration has it. `progress` is shared with
    /// [`ExecuteShellCommand`](crate::ExecuteShellCommand).
    #[must_use]
    pub fn new(options: &ShellOptions, progress: Arc<ShellProgress>) -> Self {
        let input = object(
            &["task_id"],
            json!({
                "task_id": {
                    "type": "string", "minLength": 1, "maxLength": 128,
                    "description": "The task_id that execute_shell_command gave.",
                },
                "block_until_ms": {
                    "type": "integer", "minimum": 0, "default": DEFAULT_BLOCK_MS,
                    "description": "How long to wait for its end; 0 only looks.",
                },
                "pattern": {
                    "type": "string", "minLength": 1, "maxLength": MAX_PATTERN_CHARS,
                    "description": "A regular expression (linear time; ^ and $ are at lines) to wait for: looked for in all of stdout and in all of stderr, each from its start on, terminal colours left out. The result then says matched.",
                },
            }),
        );
        Self {
            spec: ToolSpec {
                min_role: Role::Admin,
                effects: Effects::of(&[Effect::Exec]),
                idempotent: true,
                timeout: Some(options.max_timeout + SLACK),
                ..spec(&WORDS, input, output_schema())
            },
            max_output_chars: options.max_output_chars,
            progress,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    task_id: String,
    #[serde(default = "default_block", deserialize_with = "args::whole")]
    block_until_ms: u64,
    pattern: Option<String>,
}

fn default_block() -> u64 {
    DEFAULT_BLOCK_MS
}

#[async_trait]
impl Tool for AwaitShell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        Ok(super::of_own_job(&self.spec, args))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let job = job_of(&args.task_id)?;
        let pattern = match &args.pattern {
            Some(pattern) => {
                without_nul(pattern, "/pattern")?;
                Some(compile(pattern)?)
            }
            None => None,
        };
        let mut readers = Readers {
            collector: Collector::new(self.max_output_chars),
            watch: pattern.as_ref().map(Watch::new),
        };
        let follow = Follow {
            cx,
            job: &job,
            progress: &self.progress,
            until: wait_until(cx, args.block_until_ms),
        };
        let followed = follow.run(&mut readers).await;
        let followed = followed.map_err(|error| task_error(cx, error))?;
        let command = cx
            .sandbox
            .jobs()
            .into_iter()
            .find(|known| known.id == job)
            .map(|known| known.command)
            .unwrap_or_default();
        let report = Report {
            cx,
            job: &job,
            command: &command,
            notices: Vec::new(),
            matched: readers.watch.as_ref().map(Watch::has_matched),
        };
        Ok(report.of(followed, readers.collector).await?.into())
    }
}
