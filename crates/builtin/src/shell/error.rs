//! What went wrong with a job, as a model reads it. The one place where this is decided.

use outfitter_core::{Code, ErrorInfo, JobId, Lost, SandboxError, ToolError, UnixMs};

/// The error of a call that started or used a job.
pub(super) fn tool_error(error: SandboxError) -> ToolError {
    let info = match &error {
        SandboxError::Unavailable { reason, hint } => {
            let info = ErrorInfo::new(
                Code::Unavailable,
                format!("the sandbox cannot be set up: {reason}"),
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
    let (code, what, hint) = match how {
        Lost::Interrupted => (
            Code::Interrupted,
            "was still running when the program that ran it ended, and was ended with it; how far \
             it came is not known"
                .to_owned(),
            "look at what it has done before you start it again",
        ),
        Lost::Ended(words) => (
            Code::NotFound,
            format!("has ended ({words}), and its output is not kept over a restart"),
            "it ran to its end; start it again only if that does no harm",
        ),
        Lost::LetGo => (
            Code::NotFound,
            "has ended, and its output made room for that of later commands".to_owned(),
            "it ran to its end; let what shall be kept be written to a file",
        ),
    };
    ErrorInfo::new(
        code,
        format!(
            "the task {job} is gone: {command:?}, started at {} ms of Unix time, {what}",
            started.0
        ),
    )
    .at("/task_id")
    .with_hint(hint)
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
