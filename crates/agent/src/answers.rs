//! Answers to what a turn waits for: who may give them, and what they must look like.

use std::sync::Arc;

use outfitter_core::{
    Answer, AnswerKind, Code, EntryBody, ErrorInfo, EventBody, Interrupt, InterruptId,
    InterruptKind, Principal, UnixMs,
};
use outfitter_tools::{check_answer, check_approval};
use serde_json::Value;

use crate::error::{AnswerError, RunError};
use crate::parts::AgentParts;
use crate::request::{Answered, Input};
use crate::session::Session;
use crate::standing;
use crate::turn_log::TurnLog;
use crate::writer::Writer;

/// Whether a run with this input can be made at all.
pub(crate) fn acceptable(
    log: &TurnLog,
    session: &Session,
    input: &Input,
    now: UnixMs,
) -> Result<(), RunError> {
    match input {
        Input::Prompt(_) => Ok(()),
        Input::Continue if log.is_unfinished() => Ok(()),
        Input::Continue => Err(RunError::NothingToContinue(session.id.clone())),
        Input::Answer(answered) => Ok(accept(log, &session.who, answered, now)?),
        Input::Answers(answers) => {
            for (place, answered) in answers.iter().enumerate() {
                accept(log, &session.who, answered, now)?;
                let id = &answered.interrupt;
                if answers[..place].iter().any(|other| other.interrupt == *id) {
                    return Err(AnswerError::Settled(id.clone()).into());
                }
            }
            match answers.is_empty() {
                true => Err(RunError::NothingToContinue(session.id.clone())),
                false => Ok(()),
            }
        }
    }
}

fn accept(
    log: &TurnLog,
    who: &Principal,
    answered: &Answered,
    now: UnixMs,
) -> Result<(), AnswerError> {
    let id = &answered.interrupt;
    let asked = log.asked(id).filter(|asked| may_answer(who, asked));
    let asked = asked.ok_or_else(|| AnswerError::NotFound(id.clone()))?;
    if !log.waits(id) {
        return Err(AnswerError::Settled(id.clone()));
    }
    match answered.by {
        AnswerKind::Subject { .. } if asked.expires <= now => Err(AnswerError::Expired(id.clone())),
        AnswerKind::Subject { .. } if !standing::may_give(who, &answered.value) => {
            Err(AnswerError::Unfit {
                id: id.clone(),
                why: Box::new(ErrorInfo::new(
                    Code::NotPermitted,
                    "only an administrator approves for longer than a session",
                )),
            })
        }
        AnswerKind::Subject { .. } if matches!(asked.kind, InterruptKind::Approval { .. }) => {
            check_approval(&asked, &answered.value).map_err(|why| AnswerError::Unfit {
                id: id.clone(),
                why,
            })
        }
        AnswerKind::Subject { .. } => match &asked.schema {
            Some(schema) => {
                check_answer(schema, &answered.value).map_err(|why| AnswerError::Unfit {
                    id: id.clone(),
                    why,
                })
            }
            None => Ok(()),
        },
        AnswerKind::Expired | AnswerKind::Cancelled => Ok(()),
    }
}

fn may_answer(who: &Principal, asked: &Interrupt) -> bool {
    let audience = &asked.audience;
    who.tenant == audience.tenant
        && who.subject == audience.subject
        && who.role >= audience.min_role
}

/// The entries of an answer that was accepted.
pub(crate) fn entries(answered: Answered, at: UnixMs) -> [EntryBody; 2] {
    let interrupt = answered.interrupt.clone();
    let answer = Answer {
        interrupt: answered.interrupt,
        by: answered.by,
        value: answered.value,
        at,
    };
    [
        EntryBody::Answer(answer),
        EntryBody::Event(EventBody::Answered { interrupt }),
    ]
}

/// Records answers in a run that is under way. Gives whether it took them.
pub(crate) async fn hand_in(
    parts: &AgentParts,
    session: &Session,
    writer: &Writer,
    answers: Vec<Answered>,
) -> Result<bool, RunError> {
    let input = Input::Answers(answers);
    let to_keep = standing::to_keep(parts, session, writer, &input).await;
    let now = parts.clock.now();
    let taken = writer
        .record_answer(|log| {
            acceptable(log, session, &input, now)?;
            let Input::Answers(answers) = input else {
                return Ok(Vec::new());
            };
            let entries = answers.into_iter().map(|answered| entries(answered, now));
            Ok::<_, RunError>(entries.flatten().collect())
        })
        .await?;
    if taken {
        standing::keep_all(parts, session, writer, to_keep).await?;
    }
    Ok(taken)
}

/// The questions whose time is up, answered by that.
pub(crate) fn expired(log: &TurnLog, at: UnixMs) -> Vec<EntryBody> {
    log.waiting()
        .into_iter()
        .filter(|asked| asked.expires <= at)
        .flat_map(|asked| {
            let by = AnswerKind::Expired;
            entries(
                Answered {
                    interrupt: asked.id.clone(),
                    value: Value::Null,
                    by,
                },
                at,
            )
        })
        .collect()
}

/// What waits and is answered by nobody any more: its call has its end. Clients are told, so that
/// none goes on asking.
pub(crate) fn called_off(log: &TurnLog) -> Vec<EntryBody> {
    let waiting = log.waiting().into_iter();
    let interrupts = waiting.map(|asked| asked.id.clone());
    interrupts
        .map(|interrupt| EntryBody::Event(EventBody::Answered { interrupt }))
        .collect()
}

impl TurnLog {
    /// What the turn waits for.
    #[must_use]
    pub fn waiting(&self) -> Vec<Arc<Interrupt>> {
        self.last_calls()
            .iter()
            .filter(|state| state.output.is_none() && state.answer.is_none())
            .filter_map(|state| state.interrupt.clone())
            .collect()
    }

    fn waits(&self, id: &InterruptId) -> bool {
        self.waiting().iter().any(|asked| asked.id == *id)
    }

    pub(crate) fn asked(&self, id: &InterruptId) -> Option<Arc<Interrupt>> {
        let asked = self.history.iter().flat_map(|exchange| &exchange.calls);
        asked
            .filter_map(|state| state.interrupt.clone())
            .find(|asked| asked.id == *id)
    }
}
