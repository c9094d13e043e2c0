//! `run`.

use std::io::Read as _;
use std::process::ExitCode;

use outfitter_agent::{Input, RunEnd};
use outfitter_core::{Cancel, Code, RunOutcome, SessionId};

use super::Invocation;
use super::args::{Prompt, RunArgs};
use super::ask::made;
use super::failure::{Failure, Stop};
use super::session::{Which, hold, then_disconnect};
use super::stopping::{runtime, until_stopped};

/// Runs `run`.
pub(crate) fn run(at: &Invocation<'_>, args: &RunArgs) -> Result<ExitCode, Stop> {
    let (loaded, whole) = at.outfit(args.flags())?;
    let named = args
        .options
        .session
        .clone()
        .or_else(|| loaded.session.clone());
    let input = match args.prompt() {
        Prompt::Text(text) => Input::Prompt(text),
        Prompt::Stdin => Input::Prompt(from_stdin()?),
        Prompt::None if named.is_some() => Input::Continue,
        Prompt::None => {
            let failure = Failure::new(Code::Usage, "begin a run: there is no prompt");
            return Err(failure
                .with_hint("write what the agent shall do, `-` to read it from stdin, or --session ID to continue")
                .into());
        }
    };
    if let (Input::Continue, Some(_)) = (&input, &args.workflow) {
        let failure = Failure::new(
            Code::Usage,
            "continue the session: a turn that is under way keeps its workflow",
        );
        return Err(failure
            .with_hint("leave out --workflow, or give a prompt to begin a new turn")
            .into());
    }
    if matches!(&input, Input::Prompt(text) if text.trim().is_empty()) {
        return Err(Failure::new(Code::Usage, "begin a run: the prompt is empty").into());
    }
    let agent = whole.agent()?;
    let id = named.unwrap_or_else(|| SessionId::mint(&**whole.clock()));
    let work = async {
        let _held = hold(&whole, &id)?;
        let prompt = match &input {
            Input::Prompt(text) => Some(text.clone()),
            Input::Continue | Input::Answer(_) | Input::Answers(_) => None,
        };
        let session = at.open(&whole, &args.options, Which { id, prompt }).await?;
        let cancel = Cancel::new();
        let request = super::idle::noted(&whole, input);
        let made = made(at, &agent, &session, request, &cancel, at.viewer());
        let (end, _, shown) = until_stopped(&cancel, made).await?;
        shown?;
        ended(at, &session.id, &end?)
    };
    runtime()?.block_on(then_disconnect(&whole, work))
}

/// The exit status of a run of a session. Its events have said why; people are told once more.
pub(super) fn ended(
    at: &Invocation<'_>,
    session: &SessionId,
    end: &RunEnd,
) -> Result<ExitCode, Stop> {
    told(at, end, |failure| {
        failure.with_hint(format!(
            "`outfitter run --session {session}` without a prompt goes on with it"
        ))
    })
}

/// The same of a run with which nobody can go on.
pub(super) fn ended_for_good(at: &Invocation<'_>, end: &RunEnd) -> Result<ExitCode, Stop> {
    told(at, end, |failure| failure)
}

fn told(
    at: &Invocation<'_>,
    end: &RunEnd,
    cancelled: impl FnOnce(Failure) -> Failure,
) -> Result<ExitCode, Stop> {
    let failure = match end.outcome {
        RunOutcome::Success => return Ok(ExitCode::SUCCESS),
        RunOutcome::Cancelled => cancelled(Failure::new(
            Code::Cancelled,
            "finish the run: it was cancelled",
        )),
        RunOutcome::Waiting => waits(end),
        RunOutcome::Failed | RunOutcome::Limit => Failure::of_run(&end.output)
            .unwrap_or_else(|| Failure::new(Code::Failed, "finish the run")),
    };
    let exit = match end.outcome {
        RunOutcome::Waiting => 1,
        _ => failure.code.exit(),
    };
    at.out.tell(&failure.lines());
    Ok(ExitCode::from(exit))
}

/// A run that nobody here can answer.
fn waits(end: &RunEnd) -> Failure {
    let failure = Failure::new(
        Code::NeedsApproval,
        "finish the run: it waits for an answer",
    );
    match end.waiting.first() {
        Some(asked) => {
            let value = outfitter_codec::answer_words(asked);
            let value = value.unwrap_or_else(|| "VALUE".to_owned());
            failure.with_hint(format!(
                "`outfitter sessions answer {} {value}` goes on",
                asked.id
            ))
        }
        None => failure,
    }
}

fn from_stdin() -> Result<String, Stop> {
    /// A prompt larger than this is a mistake.
    const MOST: u64 = 16 * 1024 * 1024;
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(MOST + 1)
        .read_to_string(&mut text)
        .map_err(|error| Failure::because(Code::Usage, "read the prompt from stdin", &error))?;
    if text.len() as u64 > MOST {
        let message = format!("read the prompt from stdin: it is larger than {MOST} bytes");
        return Err(Failure::new(Code::TooLarge, message).into());
    }
    Ok(text.trim_end_matches('\n').to_owned())
}
