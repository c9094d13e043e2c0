//! The environment variables that set keys.

use std::collections::BTreeMap;

use outfitter_core::SessionId;

use super::catalogue::{Catalogue, Key};
use super::file::Setting;
use super::problem::{Problem, Problems};
use super::source::Source;
use crate::env::{self, Environment, Name};

/// The names from other systems whose values are simply those of a key.
const ALIASES: [(Name, &str); 7] = [
    (env::AGENT_SKILLS, "skills.load"),
    (env::AGENT_SKILLS_DIR, "skills.dirs"),
    (env::AGENT_TOOLS, "tools.available"),
    (env::SAGE_TOOL_PROGRESS_ENABLED, "progress.enabled"),
    (
        env::SAGE_TOOL_PROGRESS_FLUSH_INTERVAL_MS,
        "progress.flush_interval_ms",
    ),
    (env::SAGE_TOOL_PROGRESS_FLUSH_BYTES, "progress.flush_bytes"),
    (env::SAGE_MAX_TOOL_RESULT_TOKENS, "tools.max_result_tokens"),
];

/// What the names from other systems set.
pub(super) fn aliases(env: &Environment, problems: &mut Problems) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (name, path) in ALIASES {
        let source = Source::Alias(name.to_string());
        let Some(text) = text_of(env, name, &source, problems) else {
            continue;
        };
        if let Some(key) = Catalogue::get().find(path) {
            settings.push(setting(key, text, source));
        }
    }
    settings.extend(memory(env, problems));
    settings
}

/// The two names of where conversations are kept, of which only one may be set.
fn memory(env: &Environment, problems: &mut Problems) -> Option<Setting> {
    let (file, database) = (env::AGENT_MEMORY_FILE, env::AGENT_MEMORY_DATABASE);
    if env.os(file).is_some() {
        let message = if env.os(database).is_some() {
            format!("only one of {file} and {database} may be set")
        } else {
            format!("conversations in a JSON file are not supported, use {database}")
        };
        problems.push(Problem::of(Source::Alias(file.to_string()), message));
        return None;
    }
    let source = Source::Alias(database.to_string());
    let path = text_of(env, database, &source, problems)?;
    let key = Catalogue::get().find("store.url")?;
    Some(setting(key, &format!("sqlite:{path}"), source))
}

/// The session that `AGENT_SESSION_ID` names.
pub(super) fn session(env: &Environment, problems: &mut Problems) -> Option<SessionId> {
    let source = Source::Alias(env::AGENT_SESSION_ID.to_string());
    let text = text_of(env, env::AGENT_SESSION_ID, &source, problems)?;
    match SessionId::new(text) {
        Ok(id) => Some(id),
        Err(error) => {
            problems.push(Problem::of(source, error.to_string()));
            None
        }
    }
}

/// What `OUTFITTER_SECTION__KEY` sets.
pub(super) fn variables(env: &Environment, problems: &mut Problems) -> Vec<Setting> {
    let catalogue = Catalogue::get();
    let mut settings = Vec::new();
    for (name, value) in env.keys() {
        let rest = &name[env::PREFIX.len()..];
        let source = Source::Variable(name.to_owned());
        if let Some(key) = catalogue.keys().iter().find(|key| key.variable() == name) {
            match value.to_str() {
                Some(text) => settings.push(setting(key, text, source)),
                None => problems.push(not_text(source)),
            }
        } else if let Some(why) = unknown(catalogue, rest) {
            problems.push(Problem::of(source, format!("unknown variable{why}")));
        }
    }
    settings
}

/// What to say of a name with our prefix that sets nothing. One without the double underscore is
/// somebody else's business, unless it is a key's name but for that.
fn unknown(catalogue: &Catalogue, rest: &str) -> Option<String> {
    let near = |key: &Key| format!(", the nearest is {}", key.variable());
    if rest.contains("__") {
        let path = rest.to_lowercase().replacen("__", ".", 1);
        let key = catalogue
            .nearest(&path)
            .and_then(|path| catalogue.find(path));
        return Some(key.map_or_else(|| format!("; {}", catalogue.there(&path)), near));
    }
    let mut keys = catalogue.keys().iter();
    let meant =
        keys.find(|key| rest.eq_ignore_ascii_case(&format!("{}_{}", key.section, key.name)));
    meant.map(near)
}

fn setting(key: &Key, text: &str, source: Source) -> Setting {
    Setting {
        path: key.path.clone(),
        value: key.kind.read(text),
        source,
        each: BTreeMap::new(),
    }
}

fn text_of<'a>(
    env: &'a Environment,
    name: Name,
    source: &Source,
    problems: &mut Problems,
) -> Option<&'a str> {
    let value = env.os(name)?;
    let text = value.to_str();
    if text.is_none() {
        problems.push(not_text(source.clone()));
    }
    text
}

fn not_text(at: Source) -> Problem {
    Problem::of(at, "must be UTF-8 text")
}
