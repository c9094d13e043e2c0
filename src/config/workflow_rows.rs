//! What holds among `[[workflows]]` and `[agent] workflow`.

use std::collections::BTreeMap;

use outfitter_agent::{
    MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS, MAX_STEP_CHARS, MAX_STEPS, MAX_WORKFLOWS, WorkflowChoice,
};
use outfitter_text::close_names;
use serde_json::Value;

use super::load::Layers;
use super::problem::Problem;

const ROWS: &str = "workflows";

const CHOICE: &str = "agent.workflow";

/// Names each workflow that is none, by its place; the first has 0. Then whether there is the one
/// that every turn shall follow.
pub(super) fn check(layers: &Layers, problems: &mut Vec<Problem>) {
    let names = rows(layers, problems);
    let Some(set) = layers.winner(CHOICE) else {
        return;
    };
    let Some(word) = set.value.as_str() else {
        return;
    };
    if let WorkflowChoice::Named(name) = WorkflowChoice::of(word)
        && !names.contains(&name)
    {
        let words = WorkflowChoice::WORDS.iter().copied();
        let close = close_names(&name, words.chain(names.iter().map(String::as_str)));
        let meant = match close.first() {
            Some(close) => format!(", did you mean {close}?"),
            None => String::new(),
        };
        problems.push(Problem {
            at: set.source.clone(),
            message: format!(
                "`{CHOICE}` must be off, lexical, model or the name of a workflow, not \
                 {word:?}{meant}"
            ),
        });
    }
}

/// The names that there are.
fn rows(layers: &Layers, problems: &mut Vec<Problem>) -> Vec<String> {
    let Some(set) = layers.winner(ROWS) else {
        return Vec::new();
    };
    let rows = set.value.as_array().map(Vec::as_slice).unwrap_or_default();
    if rows.len() > MAX_WORKFLOWS {
        problems.push(Problem {
            at: set.source.clone(),
            message: format!("`{ROWS}` has {} of at most {MAX_WORKFLOWS}", rows.len()),
        });
    }
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        let at = set.each.get(&place.to_string()).unwrap_or(&set.source);
        let mut say = |message: String| {
            problems.push(Problem {
                at: at.clone(),
                message: format!("`{ROWS}.{place}` {message}"),
            });
        };
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        match text("name") {
            None => say("has no `name`".to_owned()),
            Some(name) => {
                if let Some(why) = no_name(name) {
                    say(format!("has a `name` that {why}: {name:?}"));
                }
                match first.get(name) {
                    Some(other) => say(format!("has the `name` of `{ROWS}.{other}`: {name:?}")),
                    None => drop(first.insert(name.to_owned(), place)),
                }
            }
        }
        if text("description").is_some_and(|text| text.chars().count() > MAX_DESCRIPTION_CHARS) {
            say(format!(
                "has a `description` of more than {MAX_DESCRIPTION_CHARS} characters"
            ));
        }
        let steps = row.get("steps").and_then(Value::as_array);
        for wrong in steps.map_or_else(|| vec!["has no `steps`".to_owned()], |all| wrong_steps(all))
        {
            say(wrong);
        }
    }
    first.into_keys().collect()
}

/// Why nothing can be called so.
fn no_name(name: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > MAX_NAME_CHARS || !name.chars().all(fits) {
        return Some(format!("is not 1 to {MAX_NAME_CHARS} of A-Z a-z 0-9 _ -"));
    }
    let taken = WorkflowChoice::WORDS.contains(&name);
    taken.then(|| format!("means something else in `{CHOICE}`"))
}

fn wrong_steps(steps: &[Value]) -> Vec<String> {
    if steps.is_empty() {
        return vec!["has no `steps`".to_owned()];
    }
    let mut wrong = Vec::new();
    if steps.len() > MAX_STEPS {
        wrong.push(format!(
            "has {} `steps` of at most {MAX_STEPS}",
            steps.len()
        ));
    }
    for (at, step) in steps.iter().filter_map(Value::as_str).enumerate() {
        if step.trim().is_empty() {
            wrong.push(format!("has an empty step, `steps.{at}`"));
        } else if step.chars().count() > MAX_STEP_CHARS {
            wrong.push(format!(
                "has a step of more than {MAX_STEP_CHARS} characters, `steps.{at}`"
            ));
        }
    }
    wrong
}
