//! What a call on a job gives back.

use outfitter_core::{
    Code, Exit, JobId, Outcome, Refusal, Refused, Stream, ToolContext, ToolError,
};
use outfitter_text::head_tail::Whole;
use outfitter_text::output::OutputText;
use serde_json::{Map, Value, json};

use super::collect::{Collected, Collector, Keep};
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
    /// Whether the pattern was found, where one was looked for.
    pub(super) matched: Option<bool>,
}

impl Report<'_> {
    /// The result of a command that nobody waits for longer: in one piece, without a task to come
    /// back to.
    pub(super) async fn in_one(
        self,
        followed: Followed,
        collector: Collector,
    ) -> Result<Outcome, ToolError> {
        let stopped = match followed {
            Followed::Ended => Stopped::No,
            // Its call is nearly over, and there is no other that could take it up.
            Followed::StillRunning => self.kill(Stopped::ByDeadline).await?,
            Followed::Stopped => self.kill(self.stopped()).await?,
        };
        let ending = self.ending(collector, stopped).await?;
        let mut result = Map::new();
        let mut put = |name: &str, value: Value| result.insert(name.to_owned(), value);
        put("exit_code", json!(ending.exit_code()));
        put("stdout", ending.collected.stdout.clone().into());
        put("stderr", ending.collected.stderr.clone().into());
        put("timed_out", (ending.end == End::OutOfTime).into());
        put("truncated", (!ending.collected.whole).into());
        put(
            "duration_seconds",
            json!(ending.exit.duration.as_secs_f64()),
        );
        if !ending.exit.refusals.is_empty() {
            put("sandbox", refused(&ending.exit));
        }
        if !ending.notices.is_empty() {
            put("notices", json!(ending.notices));
        }
        Ok(ending.outcome(result))
    }

    fn stopped(&self) -> Stopped {
        let left = self.cx.deadline.remaining();
        if left.is_some_and(|left| left.is_zero()) {
            Stopped::ByDeadline
        } else {
            Stopped::ByCancel
        }
    }

    async fn kill(&self, stopped: Stopped) -> Result<Stopped, ToolError> {
        let killed = self.cx.sandbox.kill(self.job, STOP_GRACE).await;
        killed.map_err(tool_error)?;
        Ok(stopped)
    }

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
                let stopped = self.kill(self.stopped()).await?;
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
        if let Some(matched) = self.matched {
            result["matched"] = matched.into();
        }
        if !self.notices.is_empty() {
            result["notices"] = json!(self.notices);
        }
        Ok(Outcome::json(result).running())
    }

    async fn ended(self, collector: Collector, stopped: Stopped) -> Result<Outcome, ToolError> {
        let (job, matched) = (self.job, self.matched);
        let ending = self.ending(collector, stopped).await?;
        let mut result = Map::new();
        let mut put = |name: &str, value: Value| result.insert(name.to_owned(), value);
        put("status", ending.end.status().into());
        put("task_id", json!(job));
        if let Some(code) = ending.exit_code() {
            put("exit_code", code.into());
        }
        if let Some(signal) = ending.exit.signal {
            put("signal", signal.into());
        }
        put("stdout", ending.collected.stdout.clone().into());
        put("stderr", ending.collected.stderr.clone().into());
        if ending.end != End::Lost {
            let duration = u64::try_from(ending.exit.duration.as_millis()).unwrap_or(u64::MAX);
            put("duration_ms", duration.into());
        }
        put("stdout_bytes", ending.exit.stdout_bytes.into());
        put("stderr_bytes", ending.exit.stderr_bytes.into());
        if let Some(artifact) = &ending.collected.artifact {
            put("artifact", json!(artifact));
        }
        if ending.exit.killed_children > 0 {
            put("killed_children", ending.exit.killed_children.into());
        }
        if let Some(matched) = matched {
            put("matched", matched.into());
        }
        if !ending.exit.refusals.is_empty() {
            put("sandbox", refused(&ending.exit));
        }
        if !ending.notices.is_empty() {
            put("notices", json!(ending.notices));
        }
        Ok(ending.outcome(result))
    }

    /// How a job ended that nobody waits for any longer, and what it printed.
    async fn ending(self, collector: Collector, stopped: Stopped) -> Result<Ending, ToolError> {
        let exit = self.cx.sandbox.wait(self.job).await.map_err(tool_error)?;
        let keep = match stopped {
            Stopped::No => Keep::Artifact(self.command),
            Stopped::ByCancel | Stopped::ByDeadline => Keep::Nothing,
        };
        let mut collected = collector
            .finish(self.cx, self.job, keep, &exit)
            .await
            .map_err(tool_error)?;
        let end = match stopped {
            Stopped::No if exit.interrupted => End::Lost,
            Stopped::No if !exit.timed_out => End::Completed,
            Stopped::No | Stopped::ByDeadline => End::OutOfTime,
            Stopped::ByCancel => End::Cancelled,
        };
        let notices = notices(self.notices, std::mem::take(&mut collected.notices), &exit);
        Ok(Ending {
            exit,
            collected,
            end,
            notices,
        })
    }
}

/// A job that is over, as its result is made of it.
struct Ending {
    exit: Exit,
    collected: Collected,
    end: End,
    notices: Vec<String>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Completed,
    OutOfTime,
    Cancelled,
    /// Not seen: what ran it ended first.
    Lost,
}

impl End {
    fn status(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::OutOfTime => "timeout",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }
}

impl Ending {
    fn exit_code(&self) -> Option<i32> {
        let by_signal = self.exit.signal.map(|signal| SIGNAL_BASE + signal);
        self.exit.code.or(by_signal)
    }

    fn outcome(self, result: Map<String, Value>) -> Outcome {
        let mut outcome = Outcome::json(Value::Object(result));
        outcome.artifacts.extend(self.collected.artifact);
        let is_gone = self.exit.survivors.is_empty();
        match self.end {
            End::Completed => outcome,
            End::OutOfTime if is_gone => {
                outcome.stopped(Code::Timeout, "the command ran out of time and was killed")
            }
            End::OutOfTime => outcome.stopped(
                Code::Timeout,
                "the command ran out of time, and not all of it could be killed",
            ),
            End::Cancelled if is_gone => {
                outcome.stopped(Code::Cancelled, "the command was stopped and killed")
            }
            End::Cancelled => outcome.stopped(
                Code::Cancelled,
                "the command was stopped, and not all of it could be killed",
            ),
            End::Lost if is_gone => outcome.stopped(
                Code::Interrupted,
                "the task is lost: what ran it ended, or the connection to the other machine, and \
                 how far it came is not known (see `notices`); look at what it has done before you \
                 start it again",
            ),
            End::Lost => outcome.stopped(
                Code::Interrupted,
                "the task is lost: what ran it ended, and not all of it could be killed (see \
                 `survivors` and `notices`); look at what it has done before you start it again",
            ),
        }
    }
}

/// Who stopped a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    No,
    ByCancel,
    ByDeadline,
}

/// What the sandbox refused, as the result has it.
fn refused(exit: &Exit) -> Value {
    let one = |refusal: &Refusal| {
        let (name, about) = match &refusal.refused {
            Refused::Path(path) => ("path", path.to_string_lossy().into_owned()),
            Refused::Rule(rule) => ("rule", (*rule).to_owned()),
        };
        json!({ name: about, "allow": refusal.allow, "why": refusal.why })
    };
    exit.refusals.iter().map(one).collect()
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
    if !exit.survivors.is_empty() {
        let pids: Vec<String> = exit.survivors.iter().map(u32::to_string).collect();
        notices.push(format!(
            "survivors: SIGKILL was sent and these processes of the command have not ended: {}; they \
             may still run",
            pids.join(", ")
        ));
    }
    if exit.dropped_bytes > 0 {
        notices.push(format!(
            "{} bytes of the output were not kept: it was longer than a command may print",
            exit.dropped_bytes
        ));
    }
    notices
}
