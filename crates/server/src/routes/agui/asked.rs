//! What a client asks for: new words, answers, or what it asked before.

use std::collections::HashSet;

use outfitter_agent::{Answered, Input, Note, RunRequest, TurnWorkflow};
use outfitter_codec::agui::{
    InputError, InputMessage, InputRole, Resolution, ResumeFault, ResumeStatus, RunAgentInput,
    approval, check_resume,
};
use outfitter_core::{
    AnswerKind, Code, ErrorInfo, EventBody, InterruptKind, MessageId, Mode, Principal, WarningCode,
};
use outfitter_tools::{approval_answer, check_answer, check_approval};
use serde_json::Value;

use super::history::History;
use crate::app::App;
use crate::problem::Problem;
use crate::routes::runs::chosen;

/// Bytes of an id that is kept as the client gave it.
const MOST_ID_BYTES: usize = 256;

/// Tools of a client that are named where it is told that they are not offered, and letters of each
/// name: the client has them all.
const MOST_TOOLS_NAMED: usize = 20;
const MOST_NAME_SHOWN: usize = 64;

/// What a client asks for.
#[derive(Debug)]
pub(super) enum Asked {
    /// A run.
    Run(RunRequest),
    /// What a run that was asked for before came to.
    Again(EventBody),
}

/// The mode that is asked for, in what a client passes through to the agent.
pub(super) fn mode(input: &RunAgentInput) -> Result<Option<Mode>, Problem> {
    let Some(asked) = passed_through(input, "mode") else {
        return Ok(None);
    };
    match asked.as_str().and_then(Mode::of) {
        Some(mode) => Ok(Some(mode)),
        None => {
            let mut error = ErrorInfo::new(
                Code::InvalidArguments,
                "the mode of the run is none of agent, plan and chat",
            )
            .at("/forwardedProps/outfitter/mode".to_owned());
            error.got = Some(asked.clone());
            Err(error.into())
        }
    }
}

/// What a client passes through to the agent under a name of ours.
fn passed_through<'a>(input: &'a RunAgentInput, name: &str) -> Option<&'a Value> {
    input.forwarded.as_ref()?.get("outfitter")?.get(name)
}

/// The workflow that is asked for, in the same place.
fn workflow(input: &RunAgentInput) -> Result<TurnWorkflow, Problem> {
    let Some(asked) = passed_through(input, "workflow") else {
        return Ok(TurnWorkflow::AsConfigured);
    };
    match asked.as_str() {
        Some(word) => chosen(Some(word)),
        None => {
            let error = "the workflow of the run must be a text";
            let mut error = ErrorInfo::new(Code::InvalidArguments, error)
                .at("/forwardedProps/outfitter/workflow".to_owned());
            error.got = Some(asked.clone());
            Err(error.into())
        }
    }
}

/// What is asked for, or why it ends with `RUN_ERROR`.
pub(super) fn asked(
    app: &App,
    who: &Principal,
    input: &RunAgentInput,
    history: &History,
) -> Result<Asked, Problem> {
    let request = if input.resume.is_empty() {
        words(input, history)?
    } else {
        match check_resume(
            &input.resume,
            history.transcript.waiting(),
            app.clock().now(),
        ) {
            Ok(resolutions) => answers(who, input, history, resolutions)?,
            Err(fault) => {
                let again = matches!(fault, ResumeFault::Unknown(_));
                return match &history.end {
                    Some(end) if again && answered_so(input, history) => {
                        Ok(Asked::Again(end.clone()))
                    }
                    _ => Err(fault.info().into()),
                };
            }
        }
    };
    Ok(Asked::Run(RunRequest {
        input: request,
        notes: notes(input),
        message: id_of_words(input, history),
        workflow: workflow(input)?,
        client_run: Some(input.run.clone()),
    }))
}

/// Our log is the history: only what the person adds is taken of the client's.
fn words(input: &RunAgentInput, history: &History) -> Result<Input, Problem> {
    let waiting = history.transcript.waiting();
    if !waiting.is_empty() {
        let all = waiting.iter().map(|waits| waits.id.clone()).collect();
        return Err(ResumeFault::NotAnswered(all).info().into());
    }
    let new = new_messages(input, history);
    if let Some(part) = new.iter().flat_map(|message| &message.left_out).next() {
        let error = format!("a message has a part of the type {part}, and only text is read");
        return Err(ErrorInfo::new(Code::InvalidArguments, error).into());
    }
    let texts: Vec<&str> = new.iter().map(|message| message.text.trim()).collect();
    let text = texts.join("\n\n");
    if !text.trim().is_empty() {
        return Ok(Input::Prompt(text));
    }
    if history.unfinished {
        return Ok(Input::Continue);
    }
    // A client that leaves out the reply to the last words wants another one.
    let spoken = input
        .messages
        .iter()
        .rfind(|message| message.role != InputRole::Aside);
    match spoken {
        Some(last) if last.role == InputRole::User && history.knows(last) => {
            Ok(Input::Prompt(last.text.trim().to_owned()))
        }
        Some(_) | None => Err(ErrorInfo::new(
            Code::InvalidArguments,
            "the messages end with no words of the user, and the thread has nothing to go on with",
        )
        .into()),
    }
}

fn new_messages<'a>(input: &'a RunAgentInput, history: &History) -> Vec<&'a InputMessage> {
    let known: HashSet<&str> = input
        .messages
        .iter()
        .filter(|message| history.knows(message))
        .filter_map(|message| message.id.as_deref())
        .collect();
    input.new_user_messages(|id| known.contains(id))
}

/// The client's own id of the words, so that both sides know the message by one name. Of several
/// messages that are new at once it is the last one's: what comes before it is known by its place.
fn id_of_words(input: &RunAgentInput, history: &History) -> Option<MessageId> {
    let new = new_messages(input, history);
    let id = new.last()?.id.as_deref()?;
    let usable = id.len() <= MOST_ID_BYTES && !history.has_id(id);
    usable.then(|| MessageId::new(id).ok()).flatten()
}

fn answers(
    who: &Principal,
    input: &RunAgentInput,
    history: &History,
    resolutions: Vec<Resolution>,
) -> Result<Input, Problem> {
    if !new_messages(input, history).is_empty() {
        let error = "answers and new words cannot be taken at once";
        return Err(ErrorInfo::new(Code::Conflict, error)
            .with_hint("answer first, and say more in the next run")
            .into());
    }
    let answers: Result<Vec<Answered>, Problem> = resolutions
        .into_iter()
        .map(|resolution| answer(who, &resolution))
        .collect();
    Ok(Input::Answers(answers?))
}

fn answer(who: &Principal, resolution: &Resolution) -> Result<Answered, Problem> {
    let interrupt = resolution.interrupt.id.clone();
    let (value, by) = match resolution.status {
        ResumeStatus::Cancelled => (Value::Null, AnswerKind::Cancelled),
        ResumeStatus::Resolved => {
            let by = AnswerKind::Subject {
                subject: who.subject.clone(),
            };
            (value(resolution)?, by)
        }
    };
    Ok(Answered {
        interrupt,
        value,
        by,
    })
}

/// The answer as the call that waits reads it. What is wrong with it is told at its place in the
/// request.
fn value(resolution: &Resolution) -> Result<Value, Problem> {
    let Resolution {
        interrupt,
        payload,
        path,
        ..
    } = resolution;
    let (value, checked) = match &interrupt.kind {
        InterruptKind::Question { .. } => {
            let checked = match &interrupt.schema {
                Some(schema) => check_answer(schema, payload),
                None => Ok(()),
            };
            (payload.clone(), checked)
        }
        InterruptKind::Approval { .. } => {
            let value = decided(payload, path).map_err(|error| error.info())?;
            let checked = check_approval(interrupt, &value);
            (value, checked)
        }
        InterruptKind::Delay | InterruptKind::Remote { .. } => {
            return Err(ErrorInfo::new(
                Code::InvalidArguments,
                "what waits for time or for something elsewhere cannot be answered",
            )
            .into());
        }
    };
    match checked {
        Ok(()) => Ok(value),
        Err(why) => {
            let at = format!("{path}{}", why.path.as_deref().unwrap_or_default());
            let message = format!("failed to answer {}: {}", interrupt.id, why.message);
            Err(ErrorInfo { message, ..*why }.at(at).into())
        }
    }
}

fn decided(payload: &Value, path: &str) -> Result<Value, InputError> {
    let answer = approval(payload, path)?;
    Ok(approval_answer(answer.approved, answer.scope))
}

/// Whether all of this was answered before, and just so: the request was sent twice.
fn answered_so(input: &RunAgentInput, history: &History) -> bool {
    input.resume.iter().all(|entry| {
        history
            .answers
            .get(&entry.interrupt)
            .is_some_and(|given| match (&given.by, entry.status) {
                (AnswerKind::Cancelled, ResumeStatus::Cancelled) => true,
                (AnswerKind::Subject { .. }, ResumeStatus::Resolved) => {
                    given.value == entry.payload
                        || decided(&entry.payload, &entry.path)
                            .is_ok_and(|value| given.value == value)
                }
                _ => false,
            })
    })
}

fn notes(input: &RunAgentInput) -> Vec<Note> {
    if input.tools.is_empty() {
        return Vec::new();
    }
    let named = input.tools.iter().take(MOST_TOOLS_NAMED);
    let named: Vec<String> = named
        .map(|name| name.chars().take(MOST_NAME_SHOWN).collect())
        .collect();
    let more = match input.tools.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    vec![Note {
        code: WarningCode::UnknownName,
        message: format!(
            "tools that a client runs itself are not supported, and the model is not told of: {}{more}",
            named.join(", ")
        ),
    }]
}
