//! Answers to what a turn waits for: who may give them, and what they must look like.

use std::sync::Arc;

use outfitter_core::{
    Answer, AnswerKind, Code, EntryBody, ErrorInfo, EventBody, Interrupt, InterruptId, Principal,
    UnixMs,
};
use outfitter_tools::check_answer;
use serde_json::Value;

use crate::agent::Input;
use crate::error::RunError;
use crate::session::Session;
use crate::turn_log::TurnLog;

/// An answer that somebody gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// To which question.
    pub interrupt: InterruptId,
    /// The answer; `null` when it is called off or let expire.
    pub value: Value,
    /// How it came about.
    pub by: AnswerKind,
}

/// Why an answer was not taken. The question stands as it stood.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// No such question in this session, or not for this person.
    #[error("find the question {0}")]
    NotFound(InterruptId),
    /// It does not wait any more.
    #[error("answer {0}: it has been answered already")]
    Settled(InterruptId),
    /// Its time is up.
    #[error("answer {0}: its time was up")]
    Expired(InterruptId),
    /// The answer is not of the form that was asked for.
    #[error("answer {id}: {}", why.message)]
    Unfit {
        /// Which question.
        id: InterruptId,
        /// Every fault.
        why: Box<ErrorInfo>,
    },
}

impl AnswerError {
    /// The code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => Code::NotFound,
            Self::Settled(_) | Self::Expired(_) => Code::Conflict,
            Self::Unfit { why, .. } => why.code,
        }
    }
}

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

    fn asked(&self, id: &InterruptId) -> Option<Arc<Interrupt>> {
        let asked = self.history.iter().flat_map(|exchange| &exchange.calls);
        asked
            .filter_map(|state| state.interrupt.clone())
            .find(|asked| asked.id == *id)
    }
}
