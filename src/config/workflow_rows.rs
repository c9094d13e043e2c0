//! What holds among `[[workflows]]` and `[agent] workflow`.

use std::collections::BTreeMap;

use outfitter_agent::{
    MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS, MAX_STEP_CHARS, MAX_STEPS, MAX_WORKFLOWS, WorkflowChoice,
};
use serde_json::Value;

use super::layers::Layers;
use super::near::did_you_mean;
use super::problem::{Problem, Problems};

const ROWS: &str = "workflows";

const CHOICE: &str = "agent.workflow";

/// Names each workflow that is none, by its place; the first has 0. Then whether there is the one
/// that every turn shall follow.
pub(super) fn check(layers: &Layers, problems: &mut Problems) {
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
        if problems.has(ROWS) {
            // It may be the name of one that is wrong.
            return;
        }
        let words = WorkflowChoice::WORDS.iter().copied();
        let meant = did_you_mean(&name, words.chain(names.iter().map(String::as_str)));
        let why =
            format!("must be off, lexical, model or the name of a workflow, not {word:?}{meant}");
        problems.say(&set.source, CHOICE, why);
    }
}

/// The names that there are.
fn rows(layers: &Layers, problems: &mut Problems) -> Vec<String> {
    let Some(set) = layers.winner(ROWS) else {
        return Vec::new();
    };
    let rows = set.value.as_array().map(Vec::as_slice).unwrap_or_default();
    if rows.len() > MAX_WORKFLOWS {
        let why = format!("has {} of at most {MAX_WORKFLOWS}", rows.len());
        problems.say(&set.source, ROWS, why);
    }
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        let path = format!("{ROWS}.{place}");
        // What is wrong with the type of a key was said.
        let said = ["name", "steps"].map(|key| problems.has(&format!("{path}.{key}")));
        let mut say = |within: &str, why: String| {
            let at = set.place(&format!("{place}.{within}")).clone();
            let key = format!("{path}.{within}");
            let message = format!("`{path}` {why}");
            problems.push(Problem { at, key, message });
        };
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        match text("name") {
            None if said[0] => {}
            None => say("name", "has no `name`".to_owned()),
            Some(name) => {
                if let Some(why) = no_name(name) {
                    say("name", format!("has a `name` that {why}: {name:?}"));
                }
                match first.get(name) {
                    Some(other) => {
                        say(
                            "name",
                            format!("has the `name` of `{ROWS}.{other}`: {name:?}"),
                        );
                    }
                    None => drop(first.insert(name.to_owned(), place)),
                }
            }
        }
        if text("description").is_some_and(|text| text.chars().count() > MAX_DESCRIPTION_CHARS) {
            let why =
                format!("has a `description` of more than {MAX_DESCRIPTION_CHARS} characters");
            say("description", why);
        }
        let steps = row.get("steps").and_then(Value::as_array);
        let none = || vec![("steps".to_owned(), "has no `steps`".to_owned())];
        for (within, why) in match steps {
            _ if said[1] => Vec::new(),
            None => none(),
            Some(all) => wrong_steps(all),
        } {
            say(&within, why);
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

/// What is wrong with steps, each with the path of it in its row.
fn wrong_steps(steps: &[Value]) -> Vec<(String, String)> {
    let of_all = |why: String| ("steps".to_owned(), why);
    if steps.is_empty() {
        return vec![of_all("has no `steps`".to_owned())];
    }
    let mut wrong = Vec::new();
    if steps.len() > MAX_STEPS {
        let why = format!("has {} `steps` of at most {MAX_STEPS}", steps.len());
        wrong.push(of_all(why));
    }
    for (at, step) in steps.iter().filter_map(Value::as_str).enumerate() {
        let path = format!("steps.{at}");
        if step.trim().is_empty() {
            let why = format!("has an empty step, `{path}`");
            wrong.push((path, why));
        } else if step.chars().count() > MAX_STEP_CHARS {
            let why = format!("has a step of more than {MAX_STEP_CHARS} characters, `{path}`");
            wrong.push((path, why));
        }
    }
    wrong
}
