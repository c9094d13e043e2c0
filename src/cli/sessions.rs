//! `sessions list`, `show`, `replay`, `delete`.

use std::process::ExitCode;
use std::sync::Arc;

use outfitter_agent::{Answered, Input, TurnLog, all_sessions, each_entry, event_of};
use outfitter_codec::AuditStatus;
use outfitter_core::{
    AnswerKind, Cancel, Code, Entry, EntryBody, Event, EventBody, Interrupt, InterruptId, Message,
    RunOutcome, Seq, SessionId, SessionSummary, StoreError, ToolName,
};

use super::Invocation;
use super::args::{AnswerArgs, SessionsCommand};
use super::ask;
use super::documents::{self, Deleted};
use super::failure::{Failure, Stop};
use super::output::encoded;
use super::session::{hold, not_held, then_disconnect};
use super::stopping::{runtime, until_stopped};
use crate::outfit::Outfitter;
use crate::render::{Renderer, View, tables, transcript};

/// Runs `sessions`.
pub(crate) fn run(at: &Invocation<'_>, command: &SessionsCommand) -> Result<ExitCode, Stop> {
    let (_, whole) = at.outfit(Vec::new())?;
    runtime()?.block_on(async {
        match command {
            SessionsCommand::List => list(at, &whole).await,
            SessionsCommand::Show { id } => show(at, &whole, id).await,
            SessionsCommand::Replay { id } => replay(at, &whole, id).await,
            SessionsCommand::Delete { id } => return delete(at, &whole, id).await,
            SessionsCommand::Answer(args) => {
                return Box::pin(then_disconnect(&whole, answer(at, &whole, args))).await;
            }
        }?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Gives an answer and goes on with the turn, as `run` would.
async fn answer(
    at: &Invocation<'_>,
    whole: &Outfitter,
    args: &AnswerArgs,
) -> Result<ExitCode, Stop> {
    let (id, interrupt) = asked(whole, &args.question).await?;
    let value = ask::answer_of(&args.value, &interrupt)?;
    let agent = whole.agent()?;
    let _held = hold(whole, &id)?;
    let session = at.open(whole, &args.options, id.into()).await?;
    let answered = Answered {
        value,
        interrupt: interrupt.id,
        by: AnswerKind::Subject {
            subject: session.who.subject.clone(),
        },
    };
    let cancel = Cancel::new();
    let made = ask::made(
        at,
        &agent,
        &session,
        Input::Answer(answered),
        &cancel,
        at.viewer(),
    );
    let (end, _, shown) = until_stopped(&cancel, made).await?;
    shown?;
    super::run::ended(at, &session.id, &end?)
}

/// The session that asked a question, and the question.
async fn asked(whole: &Outfitter, question: &InterruptId) -> Result<(SessionId, Interrupt), Stop> {
    for session in all(whole).await? {
        for entry in entries(whole, &session.id).await? {
            if let EntryBody::Event(EventBody::Interrupt(interrupt)) = &entry.body
                && interrupt.id == *question
            {
                return Ok((session.id, (**interrupt).clone()));
            }
        }
    }
    let failure = Failure::new(Code::NotFound, format!("find the question {question}"));
    let hint = "`outfitter sessions list` says which sessions wait, and `outfitter sessions show ID` for what";
    Err(failure.with_hint(hint).into())
}

async fn list(at: &Invocation<'_>, whole: &Outfitter) -> Result<(), Stop> {
    let mut sessions = Vec::new();
    for session in all(whole).await? {
        let waiting = waiting(whole, &session).await?;
        sessions.push((session, waiting));
    }
    if at.global.json {
        return at.out.bytes(&encoded(|out| {
            outfitter_codec::encode_sessions(&sessions, out)
        })?);
    }
    at.out.data(&tables::sessions(&sessions, at.out.stdout))
}

pub(super) async fn all(whole: &Outfitter) -> Result<Vec<SessionSummary>, StoreError> {
    all_sessions(&**whole.log(), &whole.local_scope()).await
}

/// What a session waits for. Most wait for nothing, which their last entry tells.
async fn waiting(
    whole: &Outfitter,
    session: &SessionSummary,
) -> Result<Vec<Arc<Interrupt>>, StoreError> {
    let scope = whole.local_scope();
    let read = whole
        .log()
        .read(&scope, &session.id, Seq(session.entries), 1);
    let last = match read.await {
        Ok(page) => page.entries.last().cloned(),
        // Deleted meanwhile.
        Err(StoreError::NotFound(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let ended = last.is_some_and(|entry| {
        matches!(
            &entry.body,
            EntryBody::Event(EventBody::RunFinished { outcome, .. }) if *outcome != RunOutcome::Waiting
        )
    });
    if ended {
        return Ok(Vec::new());
    }
    let log = TurnLog::read(&**whole.log(), &scope, &session.id).await?;
    Ok(log.waiting())
}

async fn show(at: &Invocation<'_>, whole: &Outfitter, id: &SessionId) -> Result<(), Stop> {
    let mut messages: Vec<Arc<Message>> = Vec::new();
    for entry in entries(whole, id).await? {
        let Some(event) = event_of(id, &entry) else {
            continue;
        };
        if let EventBody::Message(message) = &event.body {
            messages.push(message.clone());
        }
    }
    let log = TurnLog::read(&**whole.log(), &whole.local_scope(), id).await?;
    let suggested = log.suggested_tools().into_iter();
    let audit_status = AuditStatus {
        suggested_tools: suggested.map(ToolName::as_str).collect(),
        tools_expanded: !log.expanded().is_empty(),
    };
    let waiting = log.waiting();
    let jobs = whole.session_jobs(&whole.local_scope(), id).await;
    if at.global.json {
        return at.out.bytes(&encoded(|out| {
            outfitter_codec::encode_messages(id, &messages, audit_status, &waiting, &jobs, out)
        })?);
    }
    at.out
        .data(&transcript(&messages, at.out.stdout, at.detail()))?;
    at.out.data(&tables::audit(&audit_status, at.out.stdout))?;
    at.out.data(&tables::jobs(&jobs, at.out.stdout))?;
    at.out.data(&tables::waiting(&waiting, at.out.stdout))
}

async fn replay(at: &Invocation<'_>, whole: &Outfitter, id: &SessionId) -> Result<(), Stop> {
    let mut renderer = Renderer::new(View::replay(at.out.stdout, at.detail()));
    for entry in entries(whole, id).await? {
        let Some(event) = event_of(id, &entry) else {
            continue;
        };
        if at.global.json {
            at.out.bytes(&line(&event)?)?;
        } else {
            for piece in renderer.event(&event) {
                at.out.data(&piece.text)?;
            }
        }
    }
    Ok(())
}

async fn delete(at: &Invocation<'_>, whole: &Outfitter, id: &SessionId) -> Result<ExitCode, Stop> {
    let _held = whole.hold_to_delete(id)?.map_err(|why| {
        not_held(&why, |id| {
            format!(
                "wait until its run and its commands have ended; where `outfitter serve` has it, \
                 `DELETE /v1/sessions/{id}` there ends its commands and deletes it"
            )
        })
    })?;
    let left_behind = whole.delete(id).await?;
    // What was asked for is not wholly done then.
    let exit = if left_behind.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    };
    if at.global.json {
        let deleted = id.as_str();
        let document = Deleted {
            v: 1,
            deleted,
            left_behind,
        };
        documents::write(at, &document)?;
        return Ok(exit);
    }
    at.out.tell(&format!("deleted the session {id}\n"));
    for sentence in left_behind {
        at.out.tell_line(&sentence);
    }
    Ok(exit)
}

pub(super) async fn entries(
    whole: &Outfitter,
    id: &SessionId,
) -> Result<Vec<Arc<Entry>>, StoreError> {
    let scope = whole.local_scope();
    let mut all = Vec::new();
    each_entry(&**whole.log(), &scope, id, |entry| all.push(entry.clone())).await?;
    Ok(all)
}

fn line(event: &Event) -> Result<Vec<u8>, Stop> {
    encoded(|out| outfitter_codec::encode_event(event, out))
}
