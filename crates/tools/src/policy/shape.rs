//! What an approval that is remembered holds for: calls of the same shape. Never a text that others
//! begin with.

use std::collections::BTreeSet;

use outfitter_core::{CallFacts, Hash, Targets, canonical};
use outfitter_text::command_line::{self, Command, Flow, Redirection, is_harmless_variable};
use serde_json::{Value, json};

use super::rules::plain_environment;

/// Programs whose first words say what they do, and how many words those are. Of any other program
/// a remembered command is the very same words.
const WITH_SUBCOMMANDS: &[(&str, usize)] = &[
    ("apt", 1),
    ("apt-get", 1),
    ("brew", 1),
    ("cargo", 1),
    ("docker", 2),
    ("gh", 2),
    ("git", 1),
    ("glab", 2),
    ("go", 1),
    ("helm", 1),
    ("kubectl", 1),
    ("npm", 1),
    ("pip", 1),
    ("pip3", 1),
    ("pnpm", 1),
    ("podman", 2),
    ("rustup", 1),
    ("systemctl", 1),
    ("terraform", 1),
];

/// Subcommands that run what their other words say, or set what will be run.
const RUN_THE_REST: &[&str] = &[
    "alias",
    "bisect",
    "config",
    "create",
    "debug",
    "dlx",
    "exec",
    "rebase",
    "run",
    "run-script",
    "submodule",
    "x",
];

/// The parts of a call that an approval must have been given for, each of them, so that nobody is
/// asked; none where it can be given only for the very call.
pub(crate) fn shape(call: &CallFacts<'_>) -> Option<Vec<Hash>> {
    let parts: Vec<Value> = match &call.facts.targets {
        Targets::CommandLine => {
            let line = command_line::parse(call.facts.subject.as_deref()?).ok()?;
            if !plain_environment(call) || line.commands.is_empty() {
                return None;
            }
            let commands: Option<Vec<Value>> = line.commands.iter().map(command).collect();
            commands?
        }
        Targets::Paths(paths) => {
            let paths: BTreeSet<&String> = paths.iter().collect();
            vec![json!({ "paths": paths })]
        }
        Targets::Arguments => {
            let mut places = BTreeSet::new();
            collect_places(call.args, &mut places);
            let subject = call.facts.subject.as_deref();
            vec![json!({
                "places": places,
                "subject": subject.map(|subject| place(subject).unwrap_or_else(|| subject.to_owned())),
            })]
        }
    };
    let names: BTreeSet<&String> = call.args.as_object()?.keys().collect();
    let effects: Vec<&str> = call
        .facts
        .effects
        .iter()
        .map(outfitter_core::Effect::as_str)
        .collect();
    let of = |part: Value| {
        let whole = json!({
            "tool": call.spec.name,
            "arguments": names,
            "workdir": call.args.get("workdir"),
            "effects": effects,
            "isolating": call.sandbox.isolating,
            "part": part,
        });
        Hash::of(canonical(&whole))
    };
    Some(parts.into_iter().map(of).collect())
}

/// The program and the subcommand, and which options it has; or all of its words.
fn command(command: &Command) -> Option<Value> {
    let plain = command.opaque.is_none()
        && command.words.iter().all(command_line::Word::is_literal)
        && command.redirections.iter().all(harmless)
        && command
            .assignments
            .iter()
            .all(|set| is_harmless_variable(&set.name));
    if !plain || command.words.is_empty() {
        return None;
    }
    let words: Vec<&str> = command
        .words
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    Some(subcommand(&words).unwrap_or_else(|| json!({ "words": words })))
}

fn subcommand(words: &[&str]) -> Option<Value> {
    let (_, levels) = WITH_SUBCOMMANDS
        .iter()
        .find(|(name, _)| *name == words[0])?;
    let said = words.get(1..=*levels)?;
    let name = |word: &&str| {
        word.starts_with(|first: char| first.is_ascii_lowercase())
            && word
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '-')
            && !RUN_THE_REST.contains(word)
    };
    if !said.iter().all(name) {
        return None;
    }
    let options: BTreeSet<&&str> = words.iter().filter(|word| word.starts_with('-')).collect();
    Some(json!({ "program": words[0], "subcommand": said, "options": options }))
}

fn harmless(stream: &Redirection) -> bool {
    stream.flow == Flow::Duplicate
        || stream.target.is_literal() && stream.target.text == "/dev/null"
}

fn collect_places(value: &Value, places: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => places.extend(place(text)),
        Value::Array(items) => items.iter().for_each(|item| collect_places(item, places)),
        Value::Object(members) => members
            .values()
            .for_each(|member| collect_places(member, places)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Where an address leads: its scheme and host; all of it where it is spelled otherwise.
fn place(text: &str) -> Option<String> {
    const SCHEMES: &[&str] = &["data", "file", "ftp", "http", "https", "ws", "wss"];
    let text = text.trim();
    let (scheme, rest) = text.split_once(':')?;
    if !SCHEMES.contains(&scheme.to_lowercase().as_str()) {
        return None;
    }
    let host = rest
        .strip_prefix("//")
        .and_then(|rest| rest.split(['/', '?', '#', '\\']).next())
        .filter(|host| !host.is_empty());
    Some(host.map_or_else(
        || text.to_owned(),
        |host| format!("{scheme}://{host}").to_lowercase(),
    ))
}
