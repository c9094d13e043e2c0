//! `run_command`: a command in one call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{Effect, Effects, Facts, Reply, Role, Tool, ToolContext, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::engine::{Engine, Order};
use super::{SLACK, ShellProgress, wait_until};
use crate::ShellOptions;
use crate::args;
use crate::spec::{Words, object, spec};

/// Runs commands to their end. It has the effect `exec`, so that no sub-agent is given it unless
/// its creator names it.
#[derive(Debug)]
pub struct RunCommand {
    spec: ToolSpec,
    engine: Engine,
    default_timeout: Duration,
}

impl RunCommand {
    /// The tool as the configuration has it. `progress` is shared with the other tools on commands.
    #[must_use]
    pub fn new(options: &ShellOptions, progress: Arc<ShellProgress>) -> Self {
        let chars = options.max_output_chars;
        let default_timeout = options.timeout.min(options.max_timeout);
        let words = Words {
            name: "run_command",
            description: &format!(
                "Runs one command line with /bin/sh -c in the sandbox to its end and gives exit code, \
                 stdout and stderr; it is killed when timeout_seconds are over, with all it started. \
                 Use it for short commands whose result you need now. For what takes longer or goes \
                 on (servers, long builds) use execute_shell_command, which can be waited for. Every \
                 call starts in the workspace, or in cwd: cd does not carry over, to no other call \
                 and no other agent. There is no input (stdin is closed) and no terminal. At most \
                 {chars} characters of each stream stand in the result, head and tail; \
                 read_artifact gives the rest. To read, change, find or search files prefer \
                 file_read, file_update, glob and grep."
            ),
            keywords: &[
                "run",
                "command",
                "shell",
                "bash",
                "sh",
                "execute",
                "exec",
                "program",
                "script",
                "运行",
                "命令",
                "执行",
                "脚本",
                "一次性",
                "程序",
            ],
        };
        Self {
            spec: ToolSpec {
                min_role: Role::Admin,
                effects: Effects::of(&[Effect::Exec]),
                timeout: Some(options.max_timeout + SLACK),
                ..spec(&words, input(options, default_timeout), output())
            },
            engine: Engine::new(options, progress),
            default_timeout,
        }
    }
}

fn input(options: &ShellOptions, default_timeout: Duration) -> Value {
    let most = options.max_timeout.as_secs();
    object(
        &["command"],
        json!({
            "command": {
                "type": "string", "minLength": 1, "maxLength": 100_000,
                "description": "The command line, for /bin/sh.",
            },
            "timeout_seconds": {
                "type": "integer", "minimum": 1, "default": default_timeout.as_secs(),
                "description": format!("When it is killed; at most {most}."),
            },
            "cwd": {
                "type": "string", "maxLength": 4096,
                "description": "Where to run it, relative to the workspace; it must be there. The workspace unless given. It counts for this call only.",
            },
        }),
    )
}

fn output() -> Value {
    object(
        &[
            "exit_code",
            "stdout",
            "stderr",
            "timed_out",
            "truncated",
            "duration_seconds",
        ],
        json!({
            "exit_code": { "type": ["integer", "null"], "description": "128 and the signal's number when a signal ended it." },
            "stdout": { "type": "string", "description": "Without terminal control; head and tail where it is long." },
            "stderr": { "type": "string", "description": "As stdout." },
            "timed_out": { "type": "boolean", "description": "Whether it was killed because its time was over; what it had printed is there." },
            "truncated": { "type": "boolean", "description": "Whether stdout or stderr is not all that was printed." },
            "duration_seconds": { "type": "number" },
            "sandbox": super::refused_schema(),
            "notices": { "type": "array", "items": { "type": "string" }, "description": "There when something happened that was not asked for." },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    command: String,
    #[serde(default, deserialize_with = "args::maybe_whole")]
    timeout_seconds: Option<u64>,
    #[serde(default)]
    cwd: String,
}

#[async_trait]
impl Tool for RunCommand {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        Ok(super::facts(&self.spec, args))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let order = Order {
            command: &args.command,
            workdir: args.cwd,
            workdir_at: "/cwd",
            env: BTreeMap::new(),
            timeout_seconds: args.timeout_seconds,
            default_timeout: self.default_timeout,
        };
        // Its own deadline ends the command; the call's is only later.
        let until = wait_until(cx, u64::MAX);
        let (mut begun, followed, collector) = self.engine.run(cx, order, until).await?;
        let report = begun.report(cx, &args.command);
        Ok(report.in_one(followed, collector).await?.into())
    }
}
