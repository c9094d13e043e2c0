//! How a run begins: what broke off is ended, what is left open is closed or taken up.

use std::sync::Arc;

use outfitter_core::{
    EntryBody, EventBody, Journal as _, JournalError, Level, Message, MessageId, MessageRole,
    RunStarted, SandboxSummary, WarningCode,
};
use outfitter_tools::ToolView;

use crate::inbox::Letters;
use crate::parts::AgentParts;
use crate::request::{Input, RunRequest};
use crate::session::Session;
use crate::writer::Writer;
use crate::{answers, recover};

/// Begins a run in the log.
pub(crate) async fn begin(
    parts: &AgentParts,
    session: &Session,
    view: &ToolView,
    writer: &Writer,
    request: RunRequest,
) -> Result<(), JournalError> {
    let RunRequest {
        input,
        notes,
        message,
    } = request;
    let clock = &*parts.clock;
    let (dead, resumes) = writer
        .folded(|log| {
            (
                recover::broken_off(log, clock.now(), clock),
                recover::resumed(log),
            )
        })
        .await;
    let recovered = !dead.is_empty();
    writer.record_broken_off(dead).await?;

    let going_on = !matches!(input, Input::Prompt(_));
    let mut entries = vec![EntryBody::Event(EventBody::RunStarted(RunStarted {
        resumes: if going_on { resumes } else { None },
        model: Some(parts.model.info().label()),
        ..started(session, view)
    }))];
    if recovered {
        entries.push(warning(
            WarningCode::Recovered,
            "an earlier run of this session broke off; it was ended as interrupted",
        ));
    }
    if let Some(missing) = weak_sandbox(session) {
        entries.push(warning(WarningCode::SandboxLevel, missing));
    }
    entries.extend(
        notes
            .into_iter()
            .map(|note| warning(note.code, note.message)),
    );
    let mut letters = Letters::none();
    match input {
        Input::Continue => {
            entries.extend(changed_view(view, writer).await);
            entries.extend(
                writer
                    .folded(|log| answers::expired(log, clock.now()))
                    .await,
            );
        }
        Input::Answer(answered) => entries.extend(answers::entries(answered, clock.now())),
        Input::Answers(answers) => entries.extend(
            answers
                .into_iter()
                .flat_map(|answered| answers::entries(answered, clock.now())),
        ),
        Input::Prompt(text) => {
            let unsettled = writer.folded(|log| log.unsettled()).await;
            entries.extend(unsettled.into_iter().map(|(id, call)| {
                let args = recover::shown_arguments(&parts.pipeline, &call);
                recover::unmade(&id, &call.name, args, recover::overtaken(), clock)
            }));
            let begins = writer.folded(|log| log.history.is_empty()).await;
            if begins {
                let warnings = session.told.warnings.iter();
                entries.extend(warnings.map(|(code, message)| warning(*code, message.clone())));
            }
            if let (Some(opening), true) = (&session.told.opening, begins) {
                let id = MessageId::mint(clock);
                let message = Message::text(id, MessageRole::System, &**opening);
                entries.push(EntryBody::Event(EventBody::Message(Arc::new(message))));
            }
            letters = Letters::of(parts, session).await;
            entries.extend(letters.entries(writer).await);
            let id = message.unwrap_or_else(|| MessageId::mint(clock));
            let message = Message::text(id, MessageRole::User, text);
            entries.push(EntryBody::Event(EventBody::Message(Arc::new(message))));
        }
    }
    writer.record(entries).await?;
    letters.done(session).await;
    Ok(())
}

/// What every run says of itself at its beginning.
pub(crate) fn started(session: &Session, view: &ToolView) -> RunStarted {
    let sandbox = session.sandbox.info();
    RunStarted {
        resumes: None,
        model: None,
        mode: view.mode(),
        tools: view
            .schemas()
            .iter()
            .map(|tool| tool.name.to_string())
            .collect(),
        skills: session.told.skills.clone(),
        sandbox: SandboxSummary {
            backend: sandbox.backend.clone(),
            level: sandbox.level.as_str().to_owned(),
        },
        workflow: None,
    }
}

fn weak_sandbox(session: &Session) -> Option<String> {
    let sandbox = session.sandbox.info();
    if sandbox.level == Level::Full || sandbox.missing.is_empty() {
        return None;
    }
    let level = sandbox.level.as_str();
    Some(format!(
        "the sandbox reaches the level {level}: {}",
        sandbox.missing.join("; ")
    ))
}

/// A warning when the request that broke off showed other tools than there are now.
async fn changed_view(view: &ToolView, writer: &Writer) -> Option<EntryBody> {
    let before = writer
        .folded(|log| log.turn.as_ref().and_then(|turn| turn.unanswered.clone()))
        .await
        .filter(|request| request.view != view.hash())?;
    let now: Vec<_> = view
        .schemas()
        .iter()
        .map(|tool| tool.name.clone())
        .collect();
    let names = |of: &[outfitter_core::ToolName], without: &[outfitter_core::ToolName]| {
        let names: Vec<&str> = of
            .iter()
            .filter(|name| !without.contains(name))
            .map(AsRef::as_ref)
            .collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    };
    Some(warning(
        WarningCode::ViewChanged,
        format!(
            "the tools differ from those of the request that broke off: gone {}, new {}{}",
            names(&before.tools, &now),
            names(&now, &before.tools),
            if before.tools == now {
                " (a schema or description differs)"
            } else {
                ""
            },
        ),
    ))
}

pub(crate) fn warning(code: WarningCode, message: impl Into<String>) -> EntryBody {
    EntryBody::Event(EventBody::Warning {
        code,
        message: message.into(),
    })
}
