//! What is known of one job: its command, when it began, and how it ended.

use std::time::Duration;

use outfitter_core::{Exit, JobId, Lost, UnixMs, redact_addresses};
use serde::{Deserialize, Serialize};

/// How much of a command is remembered.
pub(super) const MAX_COMMAND_CHARS: usize = 500;

/// How much of what is to be known about its run.
const MAX_NOTICES: usize = 8;
const MAX_NOTICE_CHARS: usize = 500;

/// One job, as the file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(super) v: u32,
    pub(super) job: JobId,
    pub(super) command: String,
    pub(super) started: UnixMs,
    /// How it ended; not there while it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    ended: Option<End>,
    /// Whether the program that runs it is there, for who only looks.
    #[serde(skip)]
    pub(super) runs: bool,
}

/// An end, as the file has it: what the sandbox refused is said once and not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct End {
    code: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    /// Not in records of older programs, which did not tell.
    #[serde(default)]
    interrupted: bool,
    duration_ms: u64,
    killed_children: u32,
    #[serde(default)]
    survivors: Vec<u32>,
    stdout_bytes: u64,
    stderr_bytes: u64,
    dropped_bytes: u64,
    notices: Vec<String>,
}

impl End {
    fn of(exit: &Exit) -> Self {
        let short = |notice: &String| notice.chars().take(MAX_NOTICE_CHARS).collect();
        Self {
            code: exit.code,
            signal: exit.signal,
            timed_out: exit.timed_out,
            interrupted: exit.interrupted,
            duration_ms: u64::try_from(exit.duration.as_millis()).unwrap_or(u64::MAX),
            killed_children: exit.killed_children,
            survivors: exit.survivors.clone(),
            stdout_bytes: exit.stdout_bytes,
            stderr_bytes: exit.stderr_bytes,
            dropped_bytes: exit.dropped_bytes,
            notices: exit.notices.iter().take(MAX_NOTICES).map(short).collect(),
        }
    }

    fn exit(&self) -> Exit {
        Exit {
            code: self.code,
            signal: self.signal,
            timed_out: self.timed_out,
            interrupted: self.interrupted,
            duration: Duration::from_millis(self.duration_ms),
            killed_children: self.killed_children,
            survivors: self.survivors.clone(),
            stdout_bytes: self.stdout_bytes,
            stderr_bytes: self.stderr_bytes,
            dropped_bytes: self.dropped_bytes,
            refusals: Vec::new(),
            notices: self.notices.clone(),
        }
    }

    fn words(&self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "without an exit code".to_owned(),
        }
    }
}

impl Record {
    pub(crate) fn of(job: JobId, command: &str, started: UnixMs) -> Self {
        Self {
            v: 1,
            job,
            // Before it is cut, which may leave a secret that is not known as one.
            command: redact_addresses(command)
                .chars()
                .take(MAX_COMMAND_CHARS)
                .collect(),
            started,
            ended: None,
            runs: false,
        }
    }

    pub(crate) fn job(&self) -> JobId {
        self.job.clone()
    }

    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    pub(crate) fn started(&self) -> UnixMs {
        self.started
    }

    /// Whether it runs, where it was [looked for](super::look).
    pub(crate) fn runs(&self) -> bool {
        self.runs
    }

    pub(crate) fn ended(mut self, exit: &Exit) -> Self {
        self.ended = Some(End::of(exit));
        self
    }

    /// How it ended, if it did before its program.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.ended.as_ref().map(End::exit)
    }

    /// Whether its end is written down, also where that is the end of what ran it.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    /// How it ended by itself, in words.
    pub(crate) fn end(&self) -> Option<String> {
        let end = self.ended.as_ref();
        end.filter(|end| !end.interrupted).map(End::words)
    }

    /// What to say of it when its output is gone.
    pub(crate) fn fate(&self) -> Lost {
        match &self.ended {
            Some(end) if !end.interrupted => Lost::Ended(end.words()),
            Some(_) | None => Lost::Interrupted,
        }
    }
}
