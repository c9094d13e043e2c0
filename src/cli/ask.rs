//! Asking the person at the terminal, and going on with what they said.

use std::sync::Arc;

use outfitter_agent::{Agent, Answered, Input, RunEnd, RunError, RunRequest, Session};
use outfitter_core::{
    AnswerKind, ApprovalScope, Attended, Cancel, Code, Interrupt, InterruptKind, RunOutcome,
};
use outfitter_tools::{approval_answer, approval_scopes};
use serde_json::Value;

use super::failure::{Failure, Stop};
use super::viewer::{Viewer, watch};
use super::{Invocation, form};
use crate::render::text::one_line;

/// Makes a run and shows it; while it waits and somebody is there, asks them and goes on.
pub(super) async fn made(
    at: &Invocation<'_>,
    agent: &Agent,
    session: &Session,
    request: impl Into<RunRequest>,
    cancel: &Cancel,
    mut viewer: Viewer,
) -> (Result<RunEnd, RunError>, Viewer, Result<(), Stop>) {
    let mut request = request.into();
    loop {
        let (end, back, shown) = watch(viewer, cancel, async |events| {
            agent.run(session, request, cancel.clone(), events).await
        })
        .await;
        viewer = back;
        let waiting = match (&end, &shown) {
            (Ok(end), Ok(())) if end.outcome == RunOutcome::Waiting => end.waiting.clone(),
            _ => return (end, viewer, shown),
        };
        let asked = tokio::select! {
            biased;
            // Who stops the program answers nothing more: what was asked stays open.
            () = cancel.cancelled() => {
                at.out.tell("\n");
                None
            }
            asked = asked(at, session, &waiting) => asked,
        };
        request = match (session.attended, asked) {
            (Attended::Yes, Some(answer)) => Input::Answer(answer).into(),
            _ => return (end, viewer, shown),
        };
    }
}

/// The answer to the first thing that waits; none when the person gives none.
async fn asked(
    at: &Invocation<'_>,
    session: &Session,
    waiting: &[Arc<Interrupt>],
) -> Option<Answered> {
    if session.attended == Attended::No {
        return None;
    }
    let interrupt = waiting.first()?;
    if let InterruptKind::Question {
        questionnaire: Some(questions),
        ..
    } = &interrupt.kind
    {
        let value = form::asked(questions, async |text: &str| {
            at.out.tell(text);
            super::lines::read_line().await
        });
        return Some(answer(session, interrupt, value.await?));
    }
    loop {
        at.out.tell(&prompt(interrupt));
        let value = read(&super::lines::line().await?, interrupt);
        match value {
            Ok(value) => return Some(answer(session, interrupt, value)),
            Err(why) => at.out.tell(&format!("{}\n", one_line(&why))),
        }
    }
}

fn answer(session: &Session, interrupt: &Interrupt, value: Value) -> Answered {
    Answered {
        interrupt: interrupt.id.clone(),
        value,
        by: AnswerKind::Subject {
            subject: session.who.subject.clone(),
        },
    }
}

fn prompt(interrupt: &Interrupt) -> String {
    match &interrupt.kind {
        InterruptKind::Question { choices, .. } => {
            let choices: String = (1..)
                .zip(choices)
                .map(|(number, choice)| format!("  {number}  {}\n", one_line(choice)))
                .collect();
            format!("{choices}answer (an empty line leaves it open) > ")
        }
        InterruptKind::Approval { .. } => {
            let longer: Vec<&str> = approval_scopes(interrupt)
                .into_iter()
                .filter_map(|scope| match scope {
                    ApprovalScope::Once => None,
                    ApprovalScope::Session => Some("s: yes to all like it in this session"),
                    ApprovalScope::Always => Some("a: always, until it expires"),
                })
                .collect();
            match longer.is_empty() {
                true => "allow it? [y/n] > ".to_owned(),
                false => format!("allow it? [y/n, or {}] > ", longer.join(", ")),
            }
        }
        InterruptKind::Delay | InterruptKind::Remote { .. } => String::new(),
    }
}

/// What a line means as an answer.
fn read(line: &str, interrupt: &Interrupt) -> Result<Value, String> {
    let chosen = match &interrupt.kind {
        InterruptKind::Question { choices, .. } => line
            .parse::<usize>()
            .ok()
            .and_then(|number| number.checked_sub(1))
            .and_then(|at| choices.get(at)),
        InterruptKind::Approval { .. } | InterruptKind::Delay | InterruptKind::Remote { .. } => {
            None
        }
    };
    let value = match chosen {
        Some(choice) => Value::String(choice.clone()),
        None => value_of(line, interrupt),
    };
    match fits(&value, interrupt) {
        true => Ok(value),
        false => Err(format!(
            "that is not one of the answers: {}",
            words(interrupt)
        )),
    }
}

/// A text as an answer that the question takes.
///
/// # Errors
/// A failure that names the answers that it takes.
pub(super) fn answer_of(text: &str, interrupt: &Interrupt) -> Result<Value, Failure> {
    let value = value_of(text, interrupt);
    if fits(&value, interrupt) {
        return Ok(value);
    }
    let id = &interrupt.id;
    let why = match (&interrupt.kind, meant(text)) {
        (InterruptKind::Approval { .. }, Some((_, scope))) => {
            format!(
                "answer {id}: a yes to it cannot hold for {:?}",
                scope.as_str()
            )
        }
        _ => format!("answer {id}: {text:?} is none of the answers that it can have"),
    };
    let failure = Failure::new(Code::InvalidArguments, why);
    Err(failure.with_hint(words(interrupt)))
}

fn fits(value: &Value, interrupt: &Interrupt) -> bool {
    match (&interrupt.kind, &interrupt.schema) {
        (InterruptKind::Approval { .. }, _) => {
            outfitter_tools::check_approval(interrupt, value).is_ok()
        }
        (InterruptKind::Question { .. }, Some(schema)) => {
            outfitter_tools::check_answer(schema, value).is_ok()
        }
        (InterruptKind::Question { .. }, None) => true,
        (InterruptKind::Delay | InterruptKind::Remote { .. }, _) => false,
    }
}

/// What says the answers that a question can have, as they are written.
fn words(interrupt: &Interrupt) -> String {
    match (&interrupt.kind, &interrupt.schema) {
        (InterruptKind::Approval { .. }, _) => {
            let scopes = approval_scopes(interrupt).into_iter();
            let yes = scopes.map(|scope| match scope {
                ApprovalScope::Once => "y (yes, to this call)",
                ApprovalScope::Session => "s (session: yes to all like it in this session)",
                ApprovalScope::Always => "a (always: until it expires or is taken back)",
            });
            let all: Vec<&str> = yes.chain(["n (no)"]).collect();
            format!("it can have {}", all.join(", "))
        }
        (InterruptKind::Question { choices, .. }, _) if !choices.is_empty() => {
            let choices: Vec<String> = choices.iter().map(|one| format!("{one:?}")).collect();
            format!("it can have {}", choices.join(", "))
        }
        (InterruptKind::Question { .. }, Some(schema)) => outfitter_tools::fitting_answers(schema),
        (InterruptKind::Question { .. }, None) => "any text".to_owned(),
        (InterruptKind::Delay | InterruptKind::Remote { .. }, _) => {
            "none: it waits for something else".to_owned()
        }
    }
}

/// Whether a word is a yes, and for how long.
fn meant(word: &str) -> Option<(bool, ApprovalScope)> {
    Some(match word.trim().to_lowercase().as_str() {
        "y" | "yes" | "approve" | "once" => (true, ApprovalScope::Once),
        "n" | "no" | "deny" => (false, ApprovalScope::Once),
        "s" | "session" => (true, ApprovalScope::Session),
        "a" | "always" => (true, ApprovalScope::Always),
        _ => return None,
    })
}

/// What a word means as an answer to an approval.
fn decision(word: &str, interrupt: &Interrupt) -> Option<Value> {
    let InterruptKind::Approval { .. } = interrupt.kind else {
        return None;
    };
    let (approved, scope) = meant(word)?;
    // A shorter word than was meant would be a yes that nobody gave.
    approval_scopes(interrupt)
        .contains(&scope)
        .then(|| approval_answer(approved, scope))
}

/// A text as the answer it is: JSON where the question demands something else than text.
fn value_of(text: &str, interrupt: &Interrupt) -> Value {
    if let Some(decision) = decision(text, interrupt) {
        return decision;
    }
    let plain = Value::String(text.to_owned());
    if fits(&plain, interrupt) {
        return plain;
    }
    serde_json::from_str(text).unwrap_or(plain)
}
