//! Asking the person at the terminal, and going on with what they said.

use std::sync::Arc;

use outfitter_agent::{Agent, Answered, Input, RunEnd, RunError, Session};
use outfitter_core::{AnswerKind, Attended, Cancel, Interrupt, InterruptKind, RunOutcome};
use outfitter_tools::{ApprovalScope, approval_answer, approval_scopes};
use serde_json::Value;

use super::failure::Stop;
use super::session::{Viewer, watch};
use super::{Invocation, form};
use crate::render::text::one_line;

/// Makes a run and shows it; while it waits and somebody is there, asks them and goes on.
pub(super) async fn made(
    at: &Invocation<'_>,
    agent: &Agent,
    session: &Session,
    input: Input,
    cancel: &Cancel,
    mut viewer: Viewer,
) -> (Result<RunEnd, RunError>, Viewer, Result<(), Stop>) {
    let mut input = input;
    loop {
        let (end, back, shown) = watch(viewer, cancel, async |events| {
            agent.run(session, input, cancel.clone(), events).await
        })
        .await;
        viewer = back;
        let waiting = match (&end, &shown) {
            (Ok(end), Ok(())) if end.outcome == RunOutcome::Waiting => end.waiting.clone(),
            _ => return (end, viewer, shown),
        };
        input = match (session.attended, asked(at, session, &waiting).await) {
            (Attended::Yes, Some(answer)) => Input::Answer(answer),
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
            super::session::read_line().await
        });
        return Some(answer(session, interrupt, value.await?));
    }
    loop {
        at.out.tell(&prompt(interrupt));
        let value = read(&super::session::line().await?, interrupt);
        match value {
            Ok(value) => return Some(answer(session, interrupt, value)),
            Err(why) => at.out.tell(&format!("{why}\n")),
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
fn read(line: &str, interrupt: &Interrupt) -> Result<Value, &'static str> {
    let value = match &interrupt.kind {
        InterruptKind::Approval { .. } => decision(line, interrupt).ok_or("write y or n")?,
        InterruptKind::Question { choices, .. } => {
            let chosen = line
                .parse::<usize>()
                .ok()
                .and_then(|number| number.checked_sub(1));
            match chosen.and_then(|at| choices.get(at)) {
                Some(choice) => Value::String(choice.clone()),
                None => value_of(line, interrupt),
            }
        }
        InterruptKind::Delay | InterruptKind::Remote { .. } => return Err("it is no question"),
    };
    match &interrupt.schema {
        Some(schema) if outfitter_tools::check_answer(schema, &value).is_err() => {
            Err("that is not one of the answers it can have")
        }
        _ => Ok(value),
    }
}

/// What a word means as an answer to an approval.
fn decision(word: &str, interrupt: &Interrupt) -> Option<Value> {
    let (approved, scope) = match (&interrupt.kind, word.to_lowercase().as_str()) {
        (InterruptKind::Approval { .. }, "y" | "yes" | "approve") => (true, ApprovalScope::Once),
        (InterruptKind::Approval { .. }, "n" | "no" | "deny") => (false, ApprovalScope::Once),
        (InterruptKind::Approval { .. }, "s" | "session") => (true, ApprovalScope::Session),
        (InterruptKind::Approval { .. }, "a" | "always") => (true, ApprovalScope::Always),
        _ => return None,
    };
    // A shorter word than was meant would be a yes that nobody gave.
    if !approval_scopes(interrupt).contains(&scope) {
        return None;
    }
    Some(approval_answer(approved, scope))
}

/// A text as the answer it is: JSON where the question demands something else than text.
pub(super) fn value_of(text: &str, interrupt: &Interrupt) -> Value {
    if let Some(decision) = decision(text, interrupt) {
        return decision;
    }
    let plain = Value::String(text.to_owned());
    match &interrupt.schema {
        Some(schema) if outfitter_tools::check_answer(schema, &plain).is_err() => {
            serde_json::from_str(text).unwrap_or(plain)
        }
        _ => plain,
    }
}
