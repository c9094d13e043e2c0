//! `execute_shell_command`: starts a command and waits a while for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{Effect, Effects, Facts, Reply, Role, Tool, ToolContext, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::engine::{Engine, Order};
use super::{SLACK, ShellProgress, output_schema, wait_until};
use crate::ShellOptions;
use crate::args;
use crate::spec::{Words, object, spec};

const DEFAULT_BLOCK_MS: u64 = 30_000;

/// Starts commands.
#[derive(Debug)]
pub struct ExecuteShellCommand {
    spec: ToolSpec,
    engine: Engine,
}

impl ExecuteShellCommand {
    /// The tool as the configuration has it. `progress` is shared with [`AwaitShell`](crate::AwaitShell).
    #[must_use]
    pub fn new(options: &ShellOptions, progress: Arc<ShellProgress>) -> Self {
        let chars = options.max_output_chars;
        let words = Words {
            name: "execute_shell_command",
            description: &format!(
                "Runs a command line with /bin/sh -c in the sandbox and gives exit code, stdout and \
                 stderr. Use it to build, test, run programs and use version control. It waits \
                 block_until_ms; a command that takes longer goes on and is `running`: wait for it \
                 with await_shell, end it with kill_shell. Start servers in the foreground with a \
                 small block_until_ms: what a finished command leaves in the background is killed. \
                 Every call starts in the workspace, or in workdir: cd does not carry over, to no \
                 other call and no other agent. There is no input \
                 (stdin is closed) and no terminal. At most {chars} characters of each stream stand \
                 in the result, head and tail; read_artifact gives the rest. To read, change, find \
                 or search files prefer file_read, file_update, glob and grep."
            ),
            keywords: &[
                "shell", "command", "bash", "sh", "terminal", "run", "execute", "build", "test",
                "git", "process", "命令", "终端", "执行", "运行", "脚本", "编译", "测试",
            ],
        };
        Self {
            spec: ToolSpec {
                min_role: Role::Admin,
                effects: Effects::of(&[Effect::Exec]),
                timeout: Some(options.max_timeout + SLACK),
                ..spec(&words, input(options), output_schema())
            },
            engine: Engine::new(options, progress),
        }
    }
}

fn input(options: &ShellOptions) -> Value {
    let seconds = options.max_timeout.as_secs();
    object(
        &["command"],
        json!({
            "command": {
                "type": "string", "minLength": 1, "maxLength": 100_000,
                "description": "The command line, for /bin/sh.",
            },
            "workdir": {
                "type": "string", "maxLength": 4096,
                "description": "Where to run it, relative to the workspace; it must be there. The workspace unless given.",
            },
            "block_until_ms": {
                "type": "integer", "minimum": 0, "default": DEFAULT_BLOCK_MS,
                "description": "How long to wait before giving back `running`; 0 does not wait.",
            },
            "env": {
                "type": "object", "additionalProperties": { "type": "string" },
                "description": "More environment variables, over those of the sandbox.",
            },
            "timeout_seconds": {
                "type": "integer", "minimum": 1, "default": seconds,
                "description": format!("When the command is killed, also while it goes on in the background; at most {seconds}."),
            },
        }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    command: String,
    #[serde(default)]
    workdir: String,
    #[serde(default = "default_block", deserialize_with = "args::whole")]
    block_until_ms: u64,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "args::maybe_whole")]
    timeout_seconds: Option<u64>,
}

fn default_block() -> u64 {
    DEFAULT_BLOCK_MS
}

#[async_trait]
impl Tool for ExecuteShellCommand {
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
            workdir: args.workdir,
            workdir_at: "/workdir",
            env: args.env,
            timeout_seconds: args.timeout_seconds,
            default_timeout: self.engine.max_timeout(),
        };
        let until = wait_until(cx, args.block_until_ms);
        let (mut begun, followed, collector) = self.engine.run(cx, order, until).await?;
        let report = begun.report(cx, &args.command);
        Ok(report.of(followed, collector).await?.into())
    }
}
