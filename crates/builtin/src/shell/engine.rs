//! What the tools that start commands have in common: one order, one job, one way to follow it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use outfitter_core::{
    Code, CommandSpec, FileRef, FilesError, JobId, Reach, ToolContext, ToolError,
};

use super::collect::Collector;
use super::delivered::ShellProgress;
use super::error::{start_error, tool_error};
use super::follow::{Follow, Followed, Readers};
use super::form::form;
use super::report::Report;
use crate::ShellOptions;
use crate::args::without_nul;

/// Starts and follows commands as the configuration has it.
#[derive(Debug)]
pub(super) struct Engine {
    max_timeout: Duration,
    max_output_chars: usize,
    progress: Arc<ShellProgress>,
}

/// A command that is to be started.
#[derive(Debug)]
pub(super) struct Order<'a> {
    pub(super) command: &'a str,
    /// Where; the workspace when empty.
    pub(super) workdir: String,
    /// The argument that said where.
    pub(super) workdir_at: &'static str,
    pub(super) env: BTreeMap<String, String>,
    pub(super) timeout_seconds: Option<u64>,
    /// When it is killed unless the call says.
    pub(super) default_timeout: Duration,
}

/// A command that was started, and what to know of that.
#[derive(Debug)]
pub(super) struct Begun {
    job: JobId,
    notices: Vec<String>,
}

impl Begun {
    /// What is told of it, once.
    pub(super) fn report<'a>(&'a mut self, cx: &'a ToolContext, command: &'a str) -> Report<'a> {
        Report {
            cx,
            job: &self.job,
            command,
            notices: std::mem::take(&mut self.notices),
            matched: None,
        }
    }
}

impl Engine {
    pub(super) fn new(options: &ShellOptions, progress: Arc<ShellProgress>) -> Self {
        Self {
            max_timeout: options.max_timeout,
            max_output_chars: options.max_output_chars,
            progress,
        }
    }

    pub(super) fn max_timeout(&self) -> Duration {
        self.max_timeout
    }

    /// Starts a command and follows it, until it ends or the waiting does.
    pub(super) async fn run(
        &self,
        cx: &ToolContext,
        order: Order<'_>,
        until: Instant,
    ) -> Result<(Begun, Followed, Collector), ToolError> {
        let workdir = order.workdir.clone();
        let (job, mut notices) = self.start(cx, order).await?;
        let (followed, collector) = self.follow(cx, &job, until).await?;
        notices.extend(self.of_workdir(cx, &workdir, followed).await);
        Ok((Begun { job, notices }, followed, collector))
    }

    /// Starts a command. Gives its job, and what to say of how it was started.
    async fn start(
        &self,
        cx: &ToolContext,
        order: Order<'_>,
    ) -> Result<(JobId, Vec<String>), ToolError> {
        check(&order)?;
        let (timeout, notices) = self.timeout(order.timeout_seconds, order.default_timeout)?;
        let start = cx.sandbox.spawn(CommandSpec {
            command: form(order.command),
            workdir: order.workdir,
            env: order.env.into_iter().collect(),
            timeout,
        });
        // Starting may have to connect to another machine first.
        let job = tokio::select! {
            biased;
            started = start => started.map_err(|error| start_error(error, order.workdir_at))?,
            () = cx.cancel.cancelled() => {
                return Err(ToolError::new(
                    Code::Cancelled,
                    "the call was stopped while the command was being started",
                ));
            }
        };
        Ok((job, notices))
    }

    /// Shows and collects what a job prints, until it ends or the waiting does.
    async fn follow(
        &self,
        cx: &ToolContext,
        job: &JobId,
        until: Instant,
    ) -> Result<(Followed, Collector), ToolError> {
        let mut readers = Readers {
            collector: Collector::new(self.max_output_chars),
            watch: None,
        };
        let follow = Follow {
            cx,
            job,
            progress: &self.progress,
            until,
        };
        let followed = follow.run(&mut readers).await.map_err(tool_error)?;
        Ok((followed, readers.collector))
    }

    /// What to say of a command that is over, where the directory that it ran in is over too.
    async fn of_workdir(
        &self,
        cx: &ToolContext,
        workdir: &str,
        followed: Followed,
    ) -> Option<String> {
        if workdir.is_empty() || followed != Followed::Ended {
            return None;
        }
        let file = FileRef {
            path: workdir,
            reach: Reach::Workspace,
        };
        match cx.sandbox.files().stat(file).await {
            Err(FilesError::NotFound { .. }) => Some(format!(
                "the working directory {workdir} is gone; the next command starts in the workspace unless it says otherwise"
            )),
            Ok(_) | Err(_) => None,
        }
    }

    fn timeout(
        &self,
        asked: Option<u64>,
        default: Duration,
    ) -> Result<(Duration, Vec<String>), ToolError> {
        match asked.map(Duration::from_secs) {
            None => Ok((default.min(self.max_timeout), Vec::new())),
            Some(asked) if asked.is_zero() => Err(ToolError::invalid(
                "/timeout_seconds",
                "a command needs at least 1 second",
            )),
            Some(asked) if asked > self.max_timeout => {
                let most = self.max_timeout.as_secs();
                Ok((
                    self.max_timeout,
                    vec![format!(
                        "timeout_seconds is {most}, the most that is allowed"
                    )],
                ))
            }
            Some(asked) => Ok((asked, Vec::new())),
        }
    }
}

fn check(order: &Order<'_>) -> Result<(), ToolError> {
    without_nul(order.command, "/command")?;
    without_nul(&order.workdir, order.workdir_at)?;
    if order.command.trim().is_empty() {
        return Err(ToolError::invalid("/command", "there is no command"));
    }
    for (name, value) in &order.env {
        let at = format!("/env/{}", name.replace('~', "~0").replace('/', "~1"));
        without_nul(name, &at)?;
        without_nul(value, &at)?;
        if name.is_empty() || name.contains('=') {
            return Err(ToolError::invalid(
                at,
                format!("{name:?} is not a name of an environment variable"),
            ));
        }
    }
    Ok(())
}
