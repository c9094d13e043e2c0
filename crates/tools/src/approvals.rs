//! Approvals: for how long a yes holds, and what it holds for.

use std::collections::BTreeSet;

use outfitter_core::{
    Answer, AnswerKind, ApprovalScope, Code, ErrorInfo, Hash, Interrupt, InterruptKind, Principal,
    Role, ToolName,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::policy::Part;

/// The channel of the person at this machine, whose approvals hold as long as they say, whatever
/// their role.
const AT_THE_TERMINAL: &str = "cli";

/// What was approved before. A pipeline takes it from the services of the run.
pub trait Approvals: Send + Sync {
    /// Whether calls with this part were approved.
    fn covers(&self, part: &Hash) -> bool;

    /// Whether a yes can be kept beyond the session, if its person may say so.
    fn keeps(&self) -> bool {
        false
    }
}

impl Approvals for BTreeSet<Hash> {
    fn covers(&self, part: &Hash) -> bool {
        self.contains(part)
    }
}

/// Whether `who` may say yes for longer than a session: administrators, and the person at the
/// terminal.
#[must_use]
pub fn may_approve_always(who: &Principal) -> bool {
    who.role == Role::Admin || who.channel.as_str() == AT_THE_TERMINAL
}

/// The answer to an approval, as [`Answer::value`] holds it.
#[must_use]
pub fn approval_answer(approved: bool, scope: ApprovalScope) -> Value {
    match scope {
        ApprovalScope::Once => Value::Bool(approved),
        ApprovalScope::Session | ApprovalScope::Always => {
            json!({ "approved": approved, "scope": scope.as_str() })
        }
    }
}

/// For how long an answer approves; none where it is no clear yes.
#[must_use]
pub fn approved_for(value: &Value) -> Option<ApprovalScope> {
    ApprovalScope::ALL
        .into_iter()
        .find(|scope| *value == approval_answer(true, *scope))
}

/// What a call that asks for an approval keeps, so that a yes can be remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The parts that a yes is remembered by; none where it holds for the very call only.
    #[serde(default)]
    remember: Vec<Hash>,
    /// The same for people; left out where it holds for no longer than the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    always: Option<Told>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    tool: ToolName,
    what: Vec<String>,
    role: Role,
}

impl Kept {
    /// For a call of `who`, whose parts these are. `lasting`: whether a yes can be kept beyond the
    /// session.
    pub(crate) fn of(
        tool: &ToolName,
        parts: Option<&[Part]>,
        who: &Principal,
        lasting: Lasting,
    ) -> Self {
        let parts = parts.unwrap_or_default();
        let always = lasting == Lasting::Yes && !parts.is_empty() && may_approve_always(who);
        Self {
            remember: parts.iter().map(|part| part.hash).collect(),
            always: always.then(|| Told {
                tool: tool.clone(),
                what: parts.iter().map(|part| part.told.clone()).collect(),
                role: who.role,
            }),
        }
    }

    fn of_interrupt(interrupt: &Interrupt) -> Self {
        let none = Self {
            remember: Vec::new(),
            always: None,
        };
        match (&interrupt.kind, &interrupt.state) {
            (InterruptKind::Approval { .. }, state @ Value::Object(_)) => {
                serde_json::from_value(state.clone()).unwrap_or(none)
            }
            _ => none,
        }
    }

    pub(crate) fn state(&self) -> Value {
        if self.remember.is_empty() {
            return Value::Null;
        }
        serde_json::to_value(self).unwrap_or_default()
    }

    fn scopes(&self) -> Vec<ApprovalScope> {
        let mut scopes = vec![ApprovalScope::Once];
        if !self.remember.is_empty() {
            scopes.push(ApprovalScope::Session);
        }
        if self.always.is_some() {
            scopes.push(ApprovalScope::Always);
        }
        scopes
    }

    /// The answers that the approval can have.
    pub(crate) fn schema(&self) -> Value {
        let longer: Vec<Value> = self.scopes()[1..]
            .iter()
            .map(|scope| json!({ "const": approval_answer(true, *scope) }))
            .collect();
        if longer.is_empty() {
            return json!({ "type": "boolean" });
        }
        let mut forms = vec![json!({ "type": "boolean" })];
        forms.extend(longer);
        json!({ "anyOf": forms })
    }
}

/// Whether a yes can be kept beyond its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasting {
    Yes,
    No,
}

/// For how long a yes to what waits can hold; the first is always [`ApprovalScope::Once`].
#[must_use]
pub fn approval_scopes(interrupt: &Interrupt) -> Vec<ApprovalScope> {
    Kept::of_interrupt(interrupt).scopes()
}

/// Holds an answer to what the approval can be answered with.
///
/// # Errors
/// [`Code::InvalidArguments`], with the scopes that a yes can have here.
pub fn check_approval(interrupt: &Interrupt, value: &Value) -> Result<(), Box<ErrorInfo>> {
    let scopes = approval_scopes(interrupt);
    let no = approval_answer(false, ApprovalScope::Once);
    match approved_for(value) {
        Some(scope) if scopes.contains(&scope) => return Ok(()),
        None if *value == no => return Ok(()),
        Some(_) | None => {}
    }
    let words: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    let scope = value.get("scope");
    let known = scope
        .and_then(Value::as_str)
        .and_then(ApprovalScope::of)
        .filter(|_| value.get("approved").is_some_and(Value::is_boolean));
    let message = match (value.get("approved"), known) {
        (Some(Value::Bool(true)), Some(scope)) => format!(
            "a yes cannot hold for {:?} here, only for {}",
            scope.as_str(),
            words.join(" or ")
        ),
        (_, Some(_)) => "a no holds for the call that waits, and has no scope".to_owned(),
        (_, None) => "the answer is no decision".to_owned(),
    };
    let error = ErrorInfo::new(Code::InvalidArguments, message);
    let error = match (known, scope) {
        (Some(_), Some(scope)) => ErrorInfo {
            expected: Some(json!({ "enum": words })),
            got: Some(scope.clone()),
            ..error.at("/scope")
        },
        _ => error,
    };
    let hint = format!(
        "approve or deny it; a yes can hold for {}",
        words.join(", ")
    );
    Err(Box::new(error.with_hint(hint)))
}

/// What an answer approves from then on in its session; nothing unless a person said so.
#[must_use]
pub fn approved_from_now_on(interrupt: &Interrupt, answer: &Answer) -> Vec<Hash> {
    if said(interrupt, answer, ApprovalScope::Session) {
        Kept::of_interrupt(interrupt).remember
    } else {
        Vec::new()
    }
}

/// What an answer approves for longer than its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedAlways {
    /// The parts that it holds for.
    pub parts: Vec<Hash>,
    /// The tool that waited.
    pub tool: ToolName,
    /// The parts as people read them, without secrets.
    pub what: Vec<String>,
    /// The role of whose call it was.
    pub role: Role,
}

/// What an answer approves for longer than its session; nothing unless a person said so.
#[must_use]
pub fn approved_always(interrupt: &Interrupt, answer: &Answer) -> Option<ApprovedAlways> {
    if !said(interrupt, answer, ApprovalScope::Always) {
        return None;
    }
    let kept = Kept::of_interrupt(interrupt);
    let told = kept.always?;
    Some(ApprovedAlways {
        parts: kept.remember,
        tool: told.tool,
        what: told.what,
        role: told.role,
    })
}

fn said(interrupt: &Interrupt, answer: &Answer, scope: ApprovalScope) -> bool {
    interrupt.id == answer.interrupt
        && matches!(answer.by, AnswerKind::Subject { .. })
        && approved_for(&answer.value) == Some(scope)
}
