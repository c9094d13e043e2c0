//! Run: the tool does its work, until it is done, its time is up or it is stopped.

use std::error::Error as _;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use outfitter_core::{
    Answer, Ask, Cancel, Code, Deadline, Effect, ErrorInfo, InterruptKind, Outcome, Reply,
    ToolError, ToolName,
};
use serde_json::Value;

use super::guarded::{Guarded, Panic, panicked};
use super::{Head, Intended, PipelineOptions, STOP_GRACE};
use crate::RunHandle;
use crate::redact::{Printed, Redactor};

/// How the tool is entered.
pub(crate) enum Start {
    /// For the first time.
    Call,
    /// After an answer to what it asked.
    Resume {
        /// What it wanted to see again.
        state: Value,
        /// The answer.
        answer: Box<Answer>,
    },
}

/// A call that is over, or waits.
pub(crate) struct Ran {
    pub(crate) head: Head,
    /// For showing.
    pub(crate) args: Value,
    /// What takes secrets out of what came of it.
    pub(crate) redactor: Redactor,
    pub(crate) ending: Ending,
}

pub(crate) enum Ending {
    Over(Box<Outcome>),
    Wait(Box<Ask>),
}

/// Why a tool was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Cancelled,
    /// Nobody called it off: the process ends.
    Interrupted,
    /// After this long; none when the whole run was out of time.
    Timeout(Option<Duration>),
}

/// How long a call may take.
#[derive(Clone, Copy)]
struct Time {
    deadline: Deadline,
    /// Its own limit, unless the run ends before.
    limit: Option<Duration>,
}

type Replied = Result<Result<Reply, ToolError>, Panic>;

pub(crate) async fn execute(
    intended: Intended<'_>,
    start: Start,
    options: &PipelineOptions,
    run: &RunHandle,
) -> Ran {
    let Intended { head, args, tool } = intended;
    // The tool takes the arguments, so what is shown of them is copied before.
    let shown = options.redactor.shown(head.recorded(&args));
    let printed = match tool.spec.effects.has(Effect::Exec) {
        true => Printed::Yes,
        false => Printed::No,
    };
    let redactor = options.redactor.of_call(&args, printed);
    let name = &tool.spec.name;
    let limit = tool.spec.timeout.unwrap_or(options.default_timeout);
    let own = Deadline::after(limit);
    let deadline = own.earlier(run.deadline);
    let time = Time {
        deadline,
        limit: (deadline == own).then_some(limit),
    };
    let cancel = run.cancel.child();
    let cx = run.context(&head.id, cancel.clone(), deadline);
    let work = Guarded::begin(|| match start {
        Start::Call => tool.tool.call(&cx, args),
        Start::Resume { state, answer } => tool.tool.resume(&cx, args, state, *answer),
    });
    let ending = match work {
        Ok(work) => supervise(work, name, &cancel, time).await,
        Err(panic) => failed(panicked(name, &*panic)),
    };
    Ran {
        head,
        args: shown,
        redactor,
        ending,
    }
}

async fn supervise(work: Guarded<'_>, name: &ToolName, cancel: &Cancel, time: Time) -> Ending {
    let mut work = pin!(work);
    // Most calls are done at once, and a timer costs more than they do.
    if let Poll::Ready(reply) = futures_util::poll!(work.as_mut()) {
        return ended(name, reply, cancel);
    }
    // Rare enough to be kept out of the state of every call.
    Box::pin(outlast(work, name, cancel, time)).await
}

/// Waits for a call that was not done at once, and stops it when it must.
async fn outlast(
    mut work: Pin<&mut Guarded<'_>>,
    name: &ToolName,
    cancel: &Cancel,
    time: Time,
) -> Ending {
    let up = async {
        match time.deadline.remaining() {
            Some(left) => tokio::time::sleep(left).await,
            None => std::future::pending().await,
        }
    };
    let stop = tokio::select! {
        biased;
        reply = work.as_mut() => return ended(name, reply, cancel),
        () = cancel.cancelled() => match cancel.is_interrupted() {
            true => Stop::Interrupted,
            false => Stop::Cancelled,
        },
        () = up => Stop::Timeout(time.limit),
    };
    cancel.cancel();
    match tokio::time::timeout(STOP_GRACE, work).await {
        Ok(reply) => stopped(name, stop, reply),
        Err(_) => {
            tracing::warn!(tool = %name, "a stopped tool did not return in time and was dropped");
            failed(stop.error(name))
        }
    }
}

fn ended(name: &ToolName, reply: Replied, cancel: &Cancel) -> Ending {
    if cancel.is_interrupted() {
        return interrupted_at_work(name, reply);
    }
    match reply {
        Ok(Ok(Reply::Done(outcome))) => Ending::Over(outcome),
        Ok(Ok(Reply::Wait(ask))) => asked(ask),
        Ok(Err(error)) => failed(told(name, error)),
        Err(panic) => failed(panicked(name, &*panic)),
    }
}

/// What remains of a call that was stopped: what the tool says of itself as stopped is kept, any
/// other late reply is dropped.
fn stopped(name: &ToolName, stop: Stop, reply: Replied) -> Ending {
    if stop == Stop::Interrupted {
        return interrupted_at_work(name, reply);
    }
    match reply {
        Ok(Ok(Reply::Done(mut outcome))) => match &mut outcome.failed {
            Some(error) if is_stop(error.code) => {
                // A tool sees its signal, not whose hand is on it.
                error.code = stop.code();
                error.retryable = stop.code().retryable();
                Ending::Over(outcome)
            }
            Some(_) | None => dropped(name, stop, "result"),
        },
        Ok(Ok(Reply::Wait(_))) => dropped(name, stop, "question"),
        Ok(Err(error)) if is_stop(error.code()) => failed(stop.error(name)),
        Ok(Err(_)) => dropped(name, stop, "error"),
        Err(panic) => {
            // It is told of in the log; the call was stopped all the same.
            let _ = panicked(name, &*panic);
            failed(stop.error(name))
        }
    }
}

/// What remains of a call in whose middle the process ends. What it has done to the end is kept: a
/// call that is made again does it twice. Of anything else it is not known how far it came, and a
/// result so far is kept beside that.
fn interrupted_at_work(name: &ToolName, reply: Replied) -> Ending {
    match reply {
        Ok(Ok(Reply::Done(mut outcome))) => {
            if let Some(error) = outcome.failed.as_mut().filter(|error| is_stop(error.code)) {
                *error = interrupted();
            }
            Ending::Over(outcome)
        }
        Ok(Ok(Reply::Wait(ask))) => asked(ask),
        Ok(Err(_)) => failed(interrupted()),
        Err(panic) => {
            let _ = panicked(name, &*panic);
            failed(interrupted())
        }
    }
}

/// How a call ends that was at work when its run broke off: nobody knows how far it came.
#[must_use]
pub fn interrupted() -> ErrorInfo {
    ErrorInfo::new(
        Code::Interrupted,
        "the call was interrupted: it may have done all, some or none of its work",
    )
    .with_hint("look at what it was to change before doing it again")
}

/// Consent is asked for before a tool runs, with the whole of its plan. A tool that could ask for
/// it itself could choose the words.
fn asked(ask: Box<Ask>) -> Ending {
    match ask.kind {
        InterruptKind::Approval { .. } => failed(ErrorInfo::new(
            Code::Internal,
            "a tool cannot ask for its own approval",
        )),
        InterruptKind::Question { .. } | InterruptKind::Delay | InterruptKind::Remote { .. } => {
            Ending::Wait(ask)
        }
    }
}

fn dropped(name: &ToolName, stop: Stop, what: &str) -> Ending {
    tracing::warn!(tool = %name, why = stop.code().as_str(), "dropped a late {what} of a stopped tool");
    failed(stop.error(name))
}

fn failed(error: ErrorInfo) -> Ending {
    Ending::Over(Box::new(Outcome::default().failing(error)))
}

fn is_stop(code: Code) -> bool {
    matches!(code, Code::Timeout | Code::Cancelled)
}

/// The model's part of a tool's error. The operators' part is logged here and goes no further.
pub(super) fn told(name: &ToolName, error: ToolError) -> ErrorInfo {
    if let Some(source) = error.source() {
        tracing::warn!(tool = %name, code = error.code().as_str(), source, "a tool failed: {error}");
    }
    error.into_info()
}

impl Stop {
    fn code(self) -> Code {
        match self {
            Self::Cancelled => Code::Cancelled,
            Self::Interrupted => Code::Interrupted,
            Self::Timeout(_) => Code::Timeout,
        }
    }

    fn error(self, name: &ToolName) -> ErrorInfo {
        let message = match self {
            Self::Interrupted => return interrupted(),
            Self::Cancelled => format!("{name} was stopped"),
            Self::Timeout(None) => format!("{name} was stopped: the time of the run was up"),
            Self::Timeout(Some(limit)) => format!(
                "{name} was stopped: its time was up ({} s at most)",
                limit.as_secs_f64()
            ),
        };
        ErrorInfo::new(self.code(), message)
    }
}
