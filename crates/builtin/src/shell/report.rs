//! What a call on a job gives back.

use outfitter_core::{Code, Exit, JobId, Outcome, Stream, ToolContext, ToolError};
use outfitter_text::head_tail::Whole;
use outfitter_text::output::OutputText;
use serde_json::{Map, Value, json};

use super::collect::{Collector, Keep};
use super::error::tool_error;
use super::follow::Followed;
use super::{STOP_GRACE, TAIL_BYTES};

/// What the shell adds to a signal's number.
const SIGNAL_BASE: i32 = 128;

/// A job that a call has followed.
pub(super) struct Report<'a> {
    pub(super) cx: &'a ToolContext,
    pub(super) job: &'a JobId,
    /// The command, where it is known.
    pub(super) command: &'a str,
    /// What to know that was not asked for.
    pub(super) notices: Vec<String>,
}

impl Report<'_> {
    /// The outcome of having followed the job this far.
    pub(super) async fn of(
        self,
        followed: Followed,
        collector: Collector,
    ) -> Result<Outcome, ToolError> {
        match followed {
            Followed::Ended => self.ended(collector, Stopped::No).await,
            Followed::StillRunning => self.running().await,
            Followed::Stopped => {
                let out_of_time = self
                    .cx
                    .deadline
                    .remaining()
                    .is_some_and(|left| left.is_zero());
                self.cx
                    .sandbox
                    .kill(self.job, STOP_GRACE)
                    .await
                    .map_err(tool_error)?;
                let stopped = if out_of_time {
                    Stopped::ByDeadline
                } else {
                    Stopped::ByCancel
                };
                self.ended(collector, stopped).await
            }
        }
    }

    async fn running(self) -> Result<Outcome, ToolError> {
        let look = self
            .cx
            .sandbox
            .tail(self.job, TAIL_BYTES)
            .await
            .map_err(tool_error)?;
        let mut text = OutputText::new(TAIL_BYTES);
        let mut first = true;
        for (stream, bytes) in &look.pieces {
            match stream {
                Stream::Stdout | Stream::Stderr => {
                    // The look may begin inside a character.
                    let skip = if std::mem::take(&mut first) {
                        bytes
                            .iter()
                            .take(3)
                            .take_while(|byte| **byte & 0xc0 == 0x80)
                            .count()
                    } else {
                        0
                    };
                    text.push(&bytes[skip..]);
                }
                Stream::Info => {}
            }
        }
        let started = self
            .cx
            .sandbox
            .jobs()
            .into_iter()
            .find(|known| known.id == *self.job)
            .map(|known| known.started);
        let now = self.cx.clock.now();
        let running_for = started.map_or(0, |started| now.0.saturating_sub(started.0));
        let mut result = json!({
            "status": "running",
            "task_id": self.job,
            "tail": text.finish(Whole::NotKept).text,
            "running_for_ms": running_for,
        });
        if !self.notices.is_empty() {
            result["notices"] = json!(self.notices);
        }
        Ok(Outcome::json(result).running())
    }

    async fn ended(self, collector: Collector, stopped: Stopped) -> Result<Outcome, ToolError> {
        let exit = self.cx.sandbox.wait(self.job).await.map_err(tool_error)?;
        let keep = match stopped {
            Stopped::No => Keep::Artifact(self.command),
            Stopped::ByCancel | Stopped::ByDeadline => Keep::Nothing,
        };
        let collected = collector
            .finish(self.cx, self.job, keep, exit.dropped_bytes)
            .await
            .map_err(tool_error)?;
        let (status, stopped_as) = match stopped {
            Stopped::No if !exit.timed_out => ("completed", None),
            Stopped::No | Stopped::ByDeadline => {
                let message = "the command ran out of time and was killed";
                ("timeout", Some((Code::Timeout, message)))
            }
            Stopped::ByCancel => {
                let message = "the command was stopped and killed";
                ("cancelled", Some((Code::Cancelled, message)))
            }
        };

        let mut result = Map::new();
        let mut put = |name: &str, value: Value| result.insert(name.to_owned(), value);
        put("status", status.into());
        put("task_id", json!(self.job));
        if let Some(code) = exit.code.or(exit.signal.map(|signal| SIGNAL_BASE + signal)) {
            put("exit_code", code.into());
        }
        if let Some(signal) = exit.signal {
            put("signal", signal.into());
        }
        put("stdout", collected.stdout.into());
        put("stderr", collected.stderr.into());
        let duration = u64::try_from(exit.duration.as_millis()).unwrap_or(u64::MAX);
        put("duration_ms", duration.into());
        put("stdout_bytes", exit.stdout_bytes.into());
        put("stderr_bytes", exit.stderr_bytes.into());
        if let Some(artifact) = &collected.artifact {
            put("artifact", json!(artifact));
        }
        if exit.killed_children > 0 {
            put("killed_children", exit.killed_children.into());
        }
        let notices = notices(self.notices, collected.notices, &exit);
        if !notices.is_empty() {
            put("notices", json!(notices));
        }

        let mut outcome = Outcome::json(Value::Object(result));
        outcome.artifacts.extend(collected.artifact);
        Ok(match stopped_as {
            Some((code, message)) => outcome.stopped(code, message),
            None => outcome,
        })
    }
}

/// Who stopped a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    No,
    ByCancel,
    ByDeadline,
}

fn notices(mut notices: Vec<String>, collected: Vec<String>, exit: &Exit) -> Vec<String> {
    notices.extend(exit.notices.iter().cloned());
    notices.extend(collected);
    if exit.killed_children > 0 {
        notices.push(
            "what the command left running in the background was killed; start what shall go on \
             in the foreground with a small block_until_ms"
                .to_owned(),
        );
    }
    if exit.dropped_bytes > 0 {
        notices.push(format!(
            "{} bytes of the output were not kept: it was longer than a command may print",
            exit.dropped_bytes
        ));
    }
    notices
}
