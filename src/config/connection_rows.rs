//! What a table by name cannot do without: servers, programs, channels, and what names them.

use serde_json::{Map, Value};

use super::layers::Layers;
use super::near::did_you_mean;
use super::problem::{Problem, Problems};
use super::source::Source;

/// Names what is missing, and what means nothing.
pub(super) fn check(layers: &Layers, problems: &mut Problems) {
    for (name, server, at) in layers.tables("mcp.servers") {
        one_server(layers, name, server, at, problems);
    }
    for (name, program, at) in layers.tables("commands") {
        let path = format!("commands.{name}");
        if !is_program_name(name) {
            let message = format!(
                "`commands` has a name that is not of a-z 0-9 _ -, a letter first: {name:?}"
            );
            named(at, &path, message, problems);
        }
        if program.get("program").is_none() {
            problems.needs(at, &path, "program", "`program`");
        }
        environment(layers, "commands", name, program, problems);
    }
    for (name, channel, at) in layers.tables("channels") {
        one_channel(layers, name, channel, at, problems);
    }
    if let Some(polish) = layers.winner("send.polish_model")
        && let Some(text) = polish.value.as_str()
    {
        let providers = || {
            outfitter_model::PROVIDERS
                .iter()
                .map(|provider| provider.name)
        };
        let why = match text.split_once('/') {
            Some((provider, name)) if !name.trim().is_empty() => {
                outfitter_model::provider_defaults(provider)
                    .is_none()
                    .then(|| {
                        let meant = did_you_mean(provider, providers());
                        format!("names no provider: {provider:?}{meant}")
                    })
            }
            Some(_) | None => Some(format!("must be PROVIDER/NAME: {text:?}")),
        };
        if let Some(why) = why {
            problems.say(&polish.source, "send.polish_model", why);
        }
    }
    if let Some(source) = layers.winner("contacts.source")
        && let Some(name) = source.value.as_str()
        && !layers.tables("commands").any(|(known, _, _)| known == name)
        && (layers.winner("commands").is_some() || !problems.has("commands"))
    {
        let programs: Vec<&str> = layers
            .tables("commands")
            .map(|(name, ..)| name.as_str())
            .collect();
        let meant = did_you_mean(name, programs);
        let why = format!("names no program of `commands`: {name:?}{meant}");
        problems.say(&source.source, "contacts.source", why);
    }
}

/// Says what is wrong with the name of a table.
fn named(at: &Source, key: &str, message: String, problems: &mut Problems) {
    problems.push(Problem {
        at: at.clone(),
        key: key.to_owned(),
        message,
    });
}

fn one_server(
    layers: &Layers,
    name: &str,
    server: &Map<String, Value>,
    at: &Source,
    problems: &mut Problems,
) {
    let path = format!("mcp.servers.{name}");
    let place = |key: &str| match layers.winner("mcp.servers") {
        Some(set) => set.place(&format!("{name}.{key}")),
        None => at,
    };
    let broken =
        problems.has(&format!("{path}.command")) || problems.has(&format!("{path}.builtin"));
    match (server.get("command"), server.get("builtin")) {
        _ if broken => {}
        (Some(_), None) => {}
        (None, Some(Value::String(word))) if crate::helpers::server(word).is_some() => {}
        (None, Some(word)) => {
            let why = format!(
                "names no built-in server with {word}, there is {}",
                crate::helpers::SERVERS
            );
            problems.say(place("builtin"), format!("{path}.builtin"), why);
        }
        (None, None) => problems.needs(at, &path, "command", "`command` or `builtin`"),
        (Some(_), Some(_)) => {
            let key = format!("{path}.builtin");
            let message = format!("`{path}` cannot have both `command` and `builtin`");
            named(place("builtin"), &key, message, problems);
        }
    }
    environment(layers, "mcp.servers", name, server, problems);
    if let Some(why) = no_server_name(name) {
        let message = format!("`mcp.servers` has a name that {why}: {name:?}");
        named(at, &path, message, problems);
    }
}

fn one_channel(
    layers: &Layers,
    name: &str,
    channel: &Map<String, Value>,
    at: &Source,
    problems: &mut Problems,
) {
    let path = format!("channels.{name}");
    if problems.has(&format!("{path}.kind")) {
        return;
    }
    let place = match layers.winner("channels") {
        Some(set) => set.place(&format!("{name}.url")),
        None => at,
    };
    let url = channel.get("url").and_then(Value::as_str);
    let mut wrong = |why: &str| problems.say(place, format!("{path}.url"), why);
    match (channel.get("kind").and_then(Value::as_str), url) {
        (None | Some("webhook"), None) => problems.needs(at, &path, "url", "`url`"),
        (None | Some("webhook"), Some(url)) => {
            // It may hold a secret and is not shown.
            let fits = url::Url::parse(url).is_ok_and(|parsed| {
                matches!(parsed.scheme(), "http" | "https") && parsed.has_host()
            });
            if !fits || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
                wrong("must be a URL of http or https without spaces");
            }
        }
        (Some("inbox"), Some(_)) => {
            let message = format!("`{path}` is an inbox, which has no `url`");
            named(place, &format!("{path}.url"), message, problems);
        }
        (Some("file"), Some(file)) => {
            if file.trim().is_empty() || file.contains('\0') {
                wrong("must be the path of a file");
            } else if file.ends_with('/') {
                wrong("must be the path of a file, not of a folder");
            }
        }
        (Some(_), _) => {}
    }
}

/// Names of variables that no program can be given.
fn environment(
    layers: &Layers,
    key: &str,
    name: &str,
    table: &Map<String, Value>,
    problems: &mut Problems,
) {
    let Some(set) = layers.winner(key) else {
        return;
    };
    for (variable, text) in table
        .get("env")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let text = text.as_str().unwrap_or_default();
        let why = match () {
            () if variable.is_empty() || variable.contains(['=', '\0']) => {
                "is no name of a variable: it must not be empty or have a `=`"
            }
            () if text.contains('\0') => "must not have a character that is zero",
            () => continue,
        };
        let within = format!("{name}.env.{variable}");
        problems.say(set.place(&within), format!("{key}.{within}"), why);
    }
}

/// Why the tools of a server cannot be called `NAME__tool`.
fn no_server_name(name: &str) -> Option<&'static str> {
    /// Other sources of tools.
    const TAKEN: [&str; 6] = [
        "builtin",
        "linked",
        "application",
        "skills",
        "commands",
        outfitter_builtin::PLUGIN_APIS,
    ];
    if TAKEN.contains(&name) {
        return Some("is taken");
    }
    let fits = outfitter_tools::valid_prefix(name).is_ok();
    (!fits).then_some("is not 1 to 30 of A-Z a-z 0-9 - and single _ inside")
}

fn is_program_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= 64
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}
