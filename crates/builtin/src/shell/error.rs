//! What went wrong with a job, as a model reads it. The one place where this is decided.

use outfitter_core::{
    Code, ErrorInfo, JobId, JobInfo, Lost, SandboxError, ToolContext, ToolError, UnixMs,
};

/// Tasks that are named to who asked for one that is none.
const MAX_NAMED: usize = 8;

/// The error of a call that started or used a job.
pub(super) fn tool_error(error: SandboxError) -> ToolError {
    let info = match &error {
        SandboxError::Unavailable { reason, hint } => {
            let info = ErrorInfo::new(
                Code::Unavailable,
                format!("the command cannot be run: {reason}"),
            );
            match hint {
                Some(hint) => info.with_hint(hint.clone()),
                None => info,
            }
        }
        SandboxError::Unsupported { what } => ErrorInfo::new(
            Code::Unavailable,
            format!("this sandbox does not support it: {what}"),
        ),
        SandboxError::NotFound(job) => return no_such_task(job.as_str()),
        SandboxError::Lost {
            job,
            command,
            started,
            how,
        } => lost(job, command, *started, how),
        SandboxError::Invalid(why) | SandboxError::Workdir(why) => ErrorInfo::new(
            Code::InvalidArguments,
            format!("the command cannot be started: {why}"),
        ),
        SandboxError::Io { doing, source } => {
            ErrorInfo::new(Code::Failed, format!("could not {doing}: {source}"))
        }
    };
    ToolError::from(info).with_source(error)
}

/// The error of a call on a task that there was to be: where it is none of this session, those that
/// are are named.
pub(super) fn task_error(cx: &ToolContext, error: SandboxError) -> ToolError {
    if !matches!(error, SandboxError::NotFound(_)) {
        return tool_error(error);
    }
    let jobs = cx.sandbox.jobs();
    if jobs.is_empty() {
        return tool_error(error);
    }
    let named: Vec<String> = jobs
        .iter()
        .take(MAX_NAMED)
        .map(|job| format!("{} ({})", job.id, state(job)))
        .collect();
    let hint = format!("the last tasks of this session: {}", named.join(", "));
    tool_error(error).into_info().with_hint(hint).into()
}

fn state(job: &JobInfo) -> &'static str {
    match &job.lost {
        Some(Lost::Interrupted) => "lost",
        Some(Lost::Ended(_) | Lost::LetGo) => "ended, without its output",
        None if job.running => "running",
        None => "ended",
    }
}

/// What became of a task that a call was to end, where it did not end before our eyes.
pub(super) fn fate(cx: &ToolContext, job: &JobId) -> Option<String> {
    let jobs = cx.sandbox.jobs();
    let known = jobs.into_iter().find(|known| known.id == *job)?;
    let (_, what, hint) = words(known.lost.as_ref()?);
    Some(format!("the command {what}; {hint}"))
}

/// The error of a command that was not started. `workdir_at` is the argument that said where.
pub(super) fn start_error(error: SandboxError, workdir_at: &str) -> ToolError {
    if !matches!(error, SandboxError::Workdir(_)) {
        return tool_error(error);
    }
    let name = workdir_at.trim_start_matches('/');
    let hint = format!(
        "without {name} a command starts in the workspace; it was not run there instead, because \
         what is meant for one directory can be the ruin of another"
    );
    let info = tool_error(error).into_info().at(workdir_at).with_hint(hint);
    info.into()
}

/// A job that is known and gone. Whether it ran is told, so that nobody runs it again unawares.
fn lost(job: &JobId, command: &str, started: UnixMs, how: &Lost) -> ErrorInfo {
    let (code, what, hint) = words(how);
    ErrorInfo::new(
        code,
        format!(
            "the task {job} is lost: {command:?}, started at {} ms of Unix time, {what}",
            started.0
        ),
    )
    .at("/task_id")
    .with_hint(hint)
}

/// The code, what it is, and what to do.
fn words(how: &Lost) -> (Code, String, &'static str) {
    match how {
        Lost::Interrupted => (
            Code::Interrupted,
            "was still running when the program that ran it ended, and was ended with it; how far \
             it came is not known"
                .to_owned(),
            "look at what it has done before you start it again",
        ),
        Lost::Ended(words) => (
            Code::NotFound,
            format!("has ended ({words}), and its output is not kept any longer"),
            "it ran to its end; start it again only if that does no harm",
        ),
        Lost::LetGo => (
            Code::NotFound,
            "has ended, and its output made room for that of later commands".to_owned(),
            "it ran to its end; let what shall be kept be written to a file",
        ),
    }
}

/// The job of a task id; what cannot be an id names nothing.
pub(super) fn job_of(task_id: &str) -> Result<JobId, ToolError> {
    JobId::new(task_id).map_err(|_| no_such_task(task_id))
}

fn no_such_task(task_id: &str) -> ToolError {
    ErrorInfo::new(
        Code::NotFound,
        format!("there is no task {task_id:?} in this session"),
    )
    .at("/task_id")
    .with_hint("give the task_id of execute_shell_command; a task ends with its session")
    .into()
}
