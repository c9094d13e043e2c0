//! The tools on commands. A command is a job of the session's sandbox: it is started, followed,
//! waited for and killed here, and lives there.

mod await_shell;
mod collect;
mod delivered;
mod engine;
mod error;
mod execute;
mod follow;
mod form;
mod kill;
mod ranges;
mod report;
mod run_command;
mod tail;
mod watch;

pub use await_shell::AwaitShell;
pub use delivered::ShellProgress;
pub use execute::ExecuteShellCommand;
pub use kill::KillShell;
pub use run_command::RunCommand;

use std::time::{Duration, Instant};

use outfitter_core::{Effects, Facts, Targets, ToolContext, ToolSpec, Unconfined};
use outfitter_text::command_line::{self, Reading};
use serde_json::{Value, json};

use crate::spec::object;

/// How much output is asked for at a time.
const RANGE_BYTES: usize = 1 << 20;

/// How much of the end of a job's output a `running` result shows.
const TAIL_BYTES: usize = 8192;

/// How long a killed tree has to end by itself.
const KILL_GRACE: Duration = Duration::from_secs(2);

/// The same when the whole call is being stopped and somebody waits for that.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// What a call needs beside its waiting: killing, draining, keeping the output.
const SLACK: Duration = Duration::from_secs(60);

/// A call gives back `running` this long before its own deadline, rather than be cut off.
const HAND_BACK: Duration = Duration::from_secs(1);

/// How long a call without a deadline waits at most, where it is to wait for ever.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Until when a call waits: as long as it was asked to, but not into its own deadline.
fn wait_until(cx: &ToolContext, block_until_ms: u64) -> Instant {
    let asked = Duration::from_millis(block_until_ms);
    let wait = match cx.deadline.remaining() {
        Some(left) => asked.min(left.saturating_sub(HAND_BACK)),
        None => asked,
    };
    let now = Instant::now();
    // Longer than a clock can count is as long as a day.
    now.checked_add(wait).unwrap_or(now + LONGEST_WAIT)
}

/// What a call with this line is judged as. A line that only reads, and only below where it runs,
/// is a read: it needs no approval, and after a crash it simply runs again. Where nothing confines
/// it, that holds only if no file chooses what it does and what it opens is readable to the session.
/// Anything else is what the tool is. A changed environment can make any program another one.
fn facts(spec: &ToolSpec, args: &Value) -> Facts {
    let line = args.get("command").and_then(Value::as_str).unwrap_or("");
    let facts = Facts::of(spec).about(line).on(Targets::CommandLine);
    let as_it_is = args
        .get("env")
        .is_none_or(|env| env.as_object().is_some_and(serde_json::Map::is_empty));
    let reads = || {
        let parsed = command_line::parse(line).ok();
        parsed.filter(|parsed| Reading::of(parsed) == Reading::Inside)
    };
    // Below where it runs is below the workspace only where it runs there.
    let here = ["cwd", "workdir"].iter().all(|name| {
        args.get(name).is_none_or(|folder| {
            folder.as_str().is_some_and(|folder| {
                !folder.starts_with(['/', '~', '\\'])
                    && !folder.split(['/', '\\']).any(|part| part == "..")
            })
        })
    });
    if !as_it_is || !here {
        return facts;
    }
    let Some(parsed) = reads() else {
        return facts;
    };
    let folders = ["cwd", "workdir"].map(|name| args.get(name).and_then(Value::as_str));
    let folder = folders
        .into_iter()
        .flatten()
        .find(|folder| !folder.is_empty());
    Facts {
        effects: Effects::READ,
        idempotent: true,
        unconfined: Some(unconfined(line, &parsed, folder)),
        ..facts
    }
}

/// What a call is judged as that waits for a command of this session or ends it: that changes
/// nothing beyond what was allowed when the command was started, so it needs no approval of its own,
/// whatever holds commands.
fn of_own_job(spec: &ToolSpec, args: &Value) -> Facts {
    let task = args.get("task_id").and_then(Value::as_str).unwrap_or("");
    Facts {
        effects: Effects::READ,
        ..Facts::of(spec).about(task)
    }
}

/// What a line that only reads depends on where nothing confines it.
fn unconfined(text: &str, line: &command_line::CommandLine, folder: Option<&str>) -> Unconfined {
    match command_line::reads_of(text, line) {
        Err(why) => Unconfined {
            why: Some(why.to_owned()),
            reads: Vec::new(),
        },
        Ok(reads) => {
            let from_here = |path: String| match folder {
                Some(folder) => format!("{folder}/{path}"),
                None => path,
            };
            let reads = reads.into_iter().map(from_here);
            Unconfined {
                why: None,
                reads: folder.map(str::to_owned).into_iter().chain(reads).collect(),
            }
        }
    }
}

/// The result of `execute_shell_command` and of `await_shell`.
fn output_schema() -> Value {
    object(
        &["status", "task_id"],
        json!({
            "status": { "enum": ["completed", "running", "timeout", "cancelled", "lost"], "description": "lost: what ran it ended before it did, and how far it came is not known." },
            "task_id": { "type": "string", "description": "For await_shell and kill_shell." },
            "exit_code": { "type": "integer", "description": "128 and the signal's number when a signal ended it." },
            "signal": { "type": "integer", "description": "There when a signal ended it." },
            "stdout": { "type": "string", "description": "Without terminal control; head and tail where it is long." },
            "stderr": { "type": "string", "description": "As stdout." },
            "duration_ms": { "type": "integer" },
            "stdout_bytes": { "type": "integer", "description": "Bytes written in all." },
            "stderr_bytes": { "type": "integer", "description": "Bytes written in all." },
            "artifact": { "type": "string", "description": "There when stdout or stderr is cut or binary: the output in the order it came, whole unless a notice says otherwise." },
            "killed_children": { "type": "integer", "description": "Processes it left behind, which were killed." },
            "sandbox": refused_schema(),
            "notices": { "type": "array", "items": { "type": "string" } },
            "tail": { "type": "string", "description": "While running: the end of the output so far." },
            "matched": { "type": "boolean", "description": "Where await_shell was given a pattern: whether the output has it." },
            "running_for_ms": { "type": "integer", "description": "While running." },
        }),
    )
}

/// What the sandbox refused, in the result of every tool that runs a command.
fn refused_schema() -> Value {
    json!({
        "type": "array",
        "description": "There when the sandbox refused something: what, and the configuration key of the operator that would allow it, null where none would. Say it rather than try again.",
        "items": object(
            &["allow", "why"],
            json!({
                "path": { "type": "string" },
                "rule": { "type": "string" },
                "allow": { "type": ["string", "null"] },
                "why": { "type": "string" },
            }),
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use outfitter_core::Tool;

    #[test]
    fn a_line_that_only_reads_below_where_it_runs_is_judged_as_a_read() {
        let tool = ExecuteShellCommand::new(&crate::ShellOptions::default(), Arc::default());
        let effects = |args: Value| tool.facts(&args).unwrap().effects;
        let all = tool.spec().effects;
        assert_eq!(
            effects(json!({"command": "git status | wc"})),
            Effects::READ
        );
        for args in [
            json!({"command": "git push"}),
            json!({"command": "ls /"}),
            json!({"command": "ls > f"}),
            json!({"command": "ls '"}),
            json!({"command": "ls", "env": {"PATH": "."}}),
            json!({"command": "head -c 20 etc/shadow", "workdir": "/"}),
            json!({"command": "head -c 20 etc/shadow", "cwd": "/"}),
            json!({"command": "cat x", "workdir": ".."}),
            json!({"command": "cat x", "workdir": "a/../../b"}),
        ] {
            assert_eq!(effects(args.clone()), all, "{args}");
        }
    }
}
