//! How a run begins: what broke off is ended, what is left open is closed or taken up.

use std::sync::Arc;

use outfitter_core::{
    EntryBody, EventBody, Journal as _, JournalError, Level, Message, MessageId, MessageRole,
    RunStarted, SandboxSummary, WarningCode,
};
use outfitter_tools::ToolView;

use crate::choose::{Open, Words};
use crate::inbox::Letters;
use crate::request::{Input, RunRequest, TurnWorkflow};
use crate::run::Run;
use crate::session::Session;
use crate::writer::Writer;
use crate::{answers, recover, standing};

impl Run<'_> {
    /// Begins the run in the log. What its turn is shown and follows is chosen before, so that the
    /// first thing that is told of the run says it.
    pub(crate) async fn begin(&self, request: RunRequest) -> Result<(), JournalError> {
        let RunRequest {
            input,
            notes,
            message,
            workflow,
            client_run,
        } = request;
        let (parts, session, writer) = (self.parts, self.session, &*self.writer);
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

        let (letters, told) = match &input {
            Input::Prompt(_) => {
                let letters = Letters::of(parts, session).await;
                let told = letters.messages(writer).await;
                (letters, told)
            }
            Input::Continue | Input::Answer(_) | Input::Answers(_) => (Letters::none(), Vec::new()),
        };
        let open = self.open(&input, &told, workflow).await;
        let chosen = self.choose(open).await;
        let view = self.view_with(chosen.suggested()).await;
        let follows = match &input {
            Input::Prompt(_) => None,
            Input::Continue | Input::Answer(_) | Input::Answers(_) => {
                writer.folded(|log| log.workflow()).await
            }
        };

        let to_keep = standing::to_keep(parts, session, writer, &input).await;
        let going_on = !matches!(input, Input::Prompt(_));
        let mut entries = vec![EntryBody::Event(EventBody::RunStarted(RunStarted {
            resumes: if going_on { resumes } else { None },
            model: Some(parts.model.info().label()),
            workflow: chosen
                .workflow_name()
                .or_else(|| follows.map(|one| one.name.clone())),
            client_run,
            ..started(session, &view)
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
        let not_ready = session.told.not_ready.iter();
        entries.extend(not_ready.map(|what| warning(WarningCode::NotReady, what.as_str())));
        entries.extend(
            notes
                .into_iter()
                .map(|note| warning(note.code, note.message)),
        );
        entries.extend_from_slice(&chosen.warnings);
        match input {
            Input::Continue => {
                entries.extend(changed_view(&view, writer).await);
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
                entries.extend(writer.folded(|log| answers::called_off(log)).await);
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
                let told = told.into_iter().map(Arc::new);
                entries.extend(told.map(|letter| EntryBody::Event(EventBody::Message(letter))));
                let id = message.unwrap_or_else(|| MessageId::mint(clock));
                let message = Message::text(id, MessageRole::User, text);
                entries.push(EntryBody::Event(EventBody::Message(Arc::new(message))));
            }
        }
        entries.extend(chosen.entries());
        writer.record(entries).await?;
        standing::keep_all(parts, session, writer, to_keep).await?;
        letters.done(session).await;
        Ok(())
    }

    /// What is still to be chosen for the turn that this run works on, before its first request.
    async fn open(&self, input: &Input, told: &[Message], asked: TurnWorkflow) -> Open {
        match input {
            Input::Prompt(text) => {
                let told = told.iter().map(Message::content);
                let new = told.chain([text.clone()]).collect();
                self.writer
                    .folded(|log| Open {
                        words: Words::of_new_turn(log, new),
                        tools: true,
                        workflow: Some(asked),
                        so_far: log.workflow_so_far(),
                    })
                    .await
            }
            // Its process went away, or it was stopped, before it was chosen.
            Input::Continue | Input::Answer(_) | Input::Answers(_) => {
                self.writer
                    .folded(|log| Open {
                        words: Words::of_turn(log),
                        tools: log.may_choose_tools(),
                        workflow: log
                            .may_choose_workflow()
                            .then_some(TurnWorkflow::AsConfigured),
                        so_far: log.workflow_before(),
                    })
                    .await
            }
        }
    }
}

/// What every run says of itself at its beginning.
pub(crate) fn started(session: &Session, view: &ToolView) -> RunStarted {
    let sandbox = session.sandbox.info();
    RunStarted {
        resumes: None,
        model: None,
        mode: view.mode(),
        tools: view.presented_names(),
        skills: session.told.skills.clone(),
        sandbox: SandboxSummary {
            backend: sandbox.backend.clone(),
            level: sandbox.level.as_str().to_owned(),
        },
        workflow: None,
        client_run: None,
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
