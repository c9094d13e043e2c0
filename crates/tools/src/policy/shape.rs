//! What an approval that is remembered holds for: calls of the same shape. Never a text that others
//! begin with.

use std::collections::BTreeSet;

use outfitter_core::{CallFacts, Hash, Targets, ToolSpec, Trust, canonical};
use outfitter_text::command_line::{
    self, Command, Flow, Redirection, is_harmless_variable, quoted,
};
use outfitter_text::is_invisible;
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

/// Arguments that say to whom or where: another value is another call. In lower case, without `_`
/// and `-`; so is every name that ends with `id`.
const SAY_WHERE: &[&str] = &[
    "account",
    "branch",
    "cc",
    "bcc",
    "channel",
    "command",
    "database",
    "email",
    "host",
    "phone",
    "platform",
    "project",
    "recipient",
    "recipients",
    "repo",
    "repository",
    "server",
    "subcommand",
    "table",
    "target",
    "to",
    "tool",
    "user",
];

/// The directory that a command runs in, as its tools call it.
const DIRECTORIES: [&str; 2] = ["workdir", "cwd"];

/// Arguments of our tools that only say how long is waited: with another one it is the same call.
const BOUND_THE_WAITING: [&str; 2] = ["timeout_seconds", "block_until_ms"];

/// The longest text that tells a person what a part is, in characters.
const MAX_TOLD: usize = 300;

/// A part of a call, for which an approval must have been given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) hash: Hash,
    /// For people.
    pub(crate) told: String,
}

/// The parts of a call that an approval must have been given for, each of them, so that nobody is
/// asked; none where it can be given only for the very call.
pub(crate) fn shape(call: &CallFacts<'_>, trust: Trust) -> Option<Vec<Part>> {
    let parts: Vec<(Value, String)> = match &call.facts.targets {
        Targets::CommandLine => {
            let line = call.facts.subject.as_deref()?;
            let line = command_line::parse(line).ok()?;
            if !plain_environment(call) || line.commands.is_empty() {
                return None;
            }
            let commands: Option<Vec<_>> = line.commands.iter().map(command).collect();
            commands?
        }
        Targets::Paths(paths) => {
            let paths: BTreeSet<&String> = paths.iter().collect();
            if paths.iter().any(|path| path.contains(is_invisible)) {
                return None;
            }
            let told: Vec<_> = paths.iter().map(|path| quoted(path)).collect();
            let told = told.join(" ");
            vec![(json!({ "paths": paths }), told)]
        }
        Targets::Reads(paths) => {
            let paths: BTreeSet<&String> = paths.iter().collect();
            if paths.iter().any(|path| path.contains(is_invisible)) {
                return None;
            }
            let (arguments, told) = arguments(call);
            let read: Vec<_> = paths.iter().map(|path| quoted(path)).collect();
            let told = format!("{told} {}", read.join(" "));
            vec![(json!({ "arguments": arguments, "paths": paths }), told)]
        }
        Targets::Arguments => vec![arguments(call)],
    };
    let mut names = BTreeSet::new();
    let given = call.args.as_object()?.iter();
    for (name, value) in given.filter(|(name, value)| matters(call.spec, trust, name, value)) {
        let at = format!("/{name}");
        collect_names(&at, value, &mut names);
        names.insert(at);
    }
    let directory: Vec<&Value> = DIRECTORIES
        .iter()
        .filter_map(|name| call.args.get(name))
        .filter(|directory| **directory != "")
        .collect();
    let effects: Vec<&str> = call
        .facts
        .effects
        .iter()
        .map(outfitter_core::Effect::as_str)
        .collect();
    let of = |(part, told): (Value, String)| {
        let whole = json!({
            "v": 2,
            "tool": call.spec.name,
            "says": says(call.spec, trust),
            "arguments": names,
            "directory": directory,
            "effects": effects,
            "isolating": call.sandbox.isolating,
            "part": part,
        });
        Part {
            hash: Hash::of(canonical(&whole)),
            told: told.chars().take(MAX_TOLD).collect(),
        }
    };
    Some(parts.into_iter().map(of).collect())
}

/// Whether a call with such an argument is another one than without. What tools from elsewhere mean
/// by theirs is not known.
fn matters(spec: &ToolSpec, trust: Trust, name: &str, value: &Value) -> bool {
    if trust != Trust::Builtin {
        return true;
    }
    let schema = spec.input_schema.get("properties");
    let default = schema.and_then(|all| all.get(name)?.get("default"));
    let here = DIRECTORIES.contains(&name) && value == "";
    default != Some(value) && !here && !BOUND_THE_WAITING.contains(&name)
}

/// What a tool from elsewhere says of itself: one that says something else is another tool, however
/// it is called. Ours are what they are.
fn says(spec: &ToolSpec, trust: Trust) -> Option<Hash> {
    match trust {
        Trust::Builtin => None,
        Trust::Operator | Trust::Remote => {
            let whole = json!([spec.description, spec.input_schema]);
            Some(Hash::of(canonical(&whole)))
        }
    }
}

/// The program and the subcommand, and which options it has; or all of its words.
fn command(command: &Command) -> Option<(Value, String)> {
    let plain = command.opaque.is_none()
        && command.words.iter().all(command_line::Word::is_literal)
        && command.redirections.iter().all(harmless)
        && command
            .assignments
            .iter()
            .all(|set| is_harmless_variable(&set.name));
    // Two lines that look alike may be different ones: of such, each is approved by itself.
    let shows = |word: &command_line::Word| !word.text.contains(is_invisible);
    if !plain || command.words.is_empty() || !command.words.iter().all(shows) {
        return None;
    }
    let words: Vec<&str> = command
        .words
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    Some(subcommand(&words).unwrap_or_else(|| {
        let told: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        (json!({ "words": words }), told.join(" "))
    }))
}

fn subcommand(words: &[&str]) -> Option<(Value, String)> {
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
    let options: BTreeSet<&str> = words
        .iter()
        .copied()
        .filter(|word| word.starts_with('-'))
        .collect();
    let shown = words[..=*levels].iter().chain(&options);
    let mut told: Vec<_> = shown.map(|word| quoted(word)).collect();
    told.push("…".into());
    Some((
        json!({ "program": words[0], "subcommand": said, "options": options }),
        told.join(" "),
    ))
}

fn harmless(stream: &Redirection) -> bool {
    stream.flow == Flow::Duplicate
        || stream.target.is_literal() && stream.target.text == "/dev/null"
}

/// What a call with other arguments is about: its subject, where its addresses lead, and to whom.
fn arguments(call: &CallFacts<'_>) -> (Value, String) {
    let mut places = BTreeSet::new();
    collect_places(call.args, &mut places);
    let mut targets = Vec::new();
    collect_targets("", call.args, &mut targets);
    targets.sort_by_cached_key(|(name, value)| (name.clone(), canonical(value)));
    let subject = call
        .facts
        .subject
        .as_deref()
        .filter(|subject| !subject.is_empty())
        .map(|subject| place(subject).unwrap_or_else(|| subject.to_owned()));
    let mut told: Vec<String> = subject.iter().cloned().collect();
    told.extend(places.iter().cloned());
    told.extend(
        targets
            .iter()
            .map(|(name, value)| format!("{}={}", name.trim_start_matches('/'), canonical(value))),
    );
    let told = if told.is_empty() {
        "any arguments of the same names".to_owned()
    } else {
        told.join(" ")
    };
    (
        json!({ "places": places, "subject": subject, "targets": targets }),
        told,
    )
}

/// The names of all members, as pointers without the places in lists.
fn collect_names(at: &str, value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_names(at, item, names)),
        Value::Object(members) => {
            for (name, member) in members {
                let at = format!("{at}/{name}");
                collect_names(&at, member, names);
                names.insert(at);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The members that say to whom or where, with all that is in them.
fn collect_targets(at: &str, value: &Value, targets: &mut Vec<(String, Value)>) {
    match value {
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect_targets(at, item, targets)),
        Value::Object(members) => {
            for (name, member) in members {
                let at = format!("{at}/{name}");
                if says_where(name) {
                    targets.push((at, member.clone()));
                } else {
                    collect_targets(&at, member, targets);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn says_where(name: &str) -> bool {
    let folded: String = name
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    folded.ends_with("id") || folded.ends_with("ids") || SAY_WHERE.contains(&folded.as_str())
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
