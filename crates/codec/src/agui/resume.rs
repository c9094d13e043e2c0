//! Answers to what waits. A client answers all that waits at once.

use std::collections::HashMap;
use std::sync::Arc;

use outfitter_core::{ApprovalScope, Code, ErrorInfo, Interrupt, InterruptId, UnixMs};
use serde_json::Value;

use super::read::{At, InputError};

/// One answer, as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumeEntry {
    /// What it answers.
    pub interrupt: InterruptId,
    /// What became of it.
    pub status: ResumeStatus,
    /// The answer itself; `null` where there is none.
    pub payload: Value,
    /// Where the answer is in what was sent, as a JSON Pointer.
    pub path: String,
}

/// What became of an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeStatus {
    /// It was answered, be it with a no.
    Resolved,
    /// Nobody will answer it.
    Cancelled,
}

/// One answer, with what it answers. Whether it fits the schema of the question is for whoever has
/// the schema's checker to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// What it answers.
    pub interrupt: Arc<Interrupt>,
    /// What became of it.
    pub status: ResumeStatus,
    /// The answer itself.
    pub payload: Value,
    /// Where the answer is in what was sent, as a JSON Pointer.
    pub path: String,
}

/// Why answers are not taken. Each ends the run with `RUN_ERROR`, and nothing is answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResumeFault {
    /// Something waits, and the input says nothing of it: all that is so.
    #[error("the thread waits for {}, and the input does not answer {}", listed(.0), it(.0))]
    NotAnswered(Vec<InterruptId>),
    /// Nothing of that id waits.
    #[error("nothing waits that is called {0}")]
    Unknown(InterruptId),
    /// Two answers to one question.
    #[error("{0} is answered twice")]
    Twice(InterruptId),
    /// It is too late: only calling it off is left.
    #[error("{0} expired before it was answered")]
    Expired(InterruptId),
}

impl ResumeFault {
    /// The error as clients read it.
    #[must_use]
    pub fn info(&self) -> ErrorInfo {
        let code = match self {
            Self::NotAnswered(_) | Self::Expired(_) => Code::Conflict,
            Self::Unknown(_) => Code::NotFound,
            Self::Twice(_) => Code::InvalidArguments,
        };
        let error = ErrorInfo::new(code, self.to_string());
        match self {
            Self::NotAnswered(_) => error.with_hint(
                "answer all that waits in one `resume`, with one entry each; what nobody will \
                 answer is `cancelled`",
            ),
            Self::Unknown(_) => {
                error.with_hint("the outcome of the last run lists the ids of what waits")
            }
            Self::Twice(_) => error.with_hint("send one entry for each"),
            Self::Expired(_) => error.with_hint("send it as `cancelled`, and the turn goes on"),
        }
    }
}

fn listed(ids: &[InterruptId]) -> String {
    let ids: Vec<&str> = ids.iter().map(InterruptId::as_str).collect();
    ids.join(", ")
}

fn it(ids: &[InterruptId]) -> &'static str {
    match ids.len() {
        1 => "it",
        _ => "them",
    }
}

/// Whether a person allows a call, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalAnswer {
    /// Whether.
    pub approved: bool,
    /// For how long.
    pub scope: ApprovalScope,
}

/// Reads the payload of an approval, which is at this place in what was sent:
/// `{ "approved": true, "scope": "once" }`.
///
/// # Errors
/// [`InputError::Shape`] for anything else: an answer that is not clear is no yes.
pub fn approval(payload: &Value, path: &str) -> Result<ApprovalAnswer, InputError> {
    let payload = At {
        value: Some(payload),
        path: path.to_owned(),
    };
    let known = |key: &String| matches!(key.as_str(), "approved" | "scope");
    if !payload.object()?.keys().all(known) {
        return Err(payload.fault("an object of `approved` and `scope` only"));
    }
    let approved = payload.member("approved")?;
    let scope = payload.member("scope")?;
    Ok(ApprovalAnswer {
        approved: match approved.value {
            Some(Value::Bool(approved)) => *approved,
            _ => return Err(approved.fault("true or false")),
        },
        scope: match scope.optional_text()? {
            None => ApprovalScope::Once,
            Some(word) => {
                ApprovalScope::of(word).ok_or_else(|| scope.fault("once, session or always"))?
            }
        },
    })
}

/// Matches the answers with what waits, in the order in which it was asked.
///
/// # Errors
/// [`ResumeFault`] when something is not answered, answered twice, not known or expired.
pub fn check_resume(
    entries: &[ResumeEntry],
    waiting: &[Arc<Interrupt>],
    now: UnixMs,
) -> Result<Vec<Resolution>, ResumeFault> {
    let mut by_id: HashMap<&InterruptId, &ResumeEntry> = HashMap::new();
    for entry in entries {
        if !waiting.iter().any(|waits| waits.id == entry.interrupt) {
            return Err(ResumeFault::Unknown(entry.interrupt.clone()));
        }
        if by_id.insert(&entry.interrupt, entry).is_some() {
            return Err(ResumeFault::Twice(entry.interrupt.clone()));
        }
    }
    let silent = waiting.iter().map(|waits| &waits.id);
    let silent: Vec<InterruptId> = silent
        .filter(|id| !by_id.contains_key(id))
        .cloned()
        .collect();
    if !silent.is_empty() {
        return Err(ResumeFault::NotAnswered(silent));
    }
    waiting
        .iter()
        .filter_map(|waits| Some((waits, by_id.get(&waits.id)?)))
        .map(|(waits, entry)| {
            if entry.status == ResumeStatus::Resolved && waits.expires <= now {
                return Err(ResumeFault::Expired(waits.id.clone()));
            }
            Ok(Resolution {
                interrupt: waits.clone(),
                status: entry.status,
                payload: entry.payload.clone(),
                path: entry.path.clone(),
            })
        })
        .collect()
}

pub(super) fn entry(entry: &At<'_>) -> Result<ResumeEntry, InputError> {
    let id = entry.member("interruptId")?;
    let status = entry.member("status")?;
    let payload = entry.member("payload")?;
    Ok(ResumeEntry {
        interrupt: InterruptId::new(id.text()?).map_err(|_| id.fault("an interrupt's id"))?,
        status: match status.text()? {
            "resolved" => ResumeStatus::Resolved,
            "cancelled" => ResumeStatus::Cancelled,
            _ => return Err(status.fault("resolved or cancelled")),
        },
        payload: payload.value.cloned().unwrap_or_default(),
        path: payload.path,
    })
}
