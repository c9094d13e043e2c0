//! Values that follow from others, and values that must fit each other.

use outfitter_core::MAIN_AGENT;
use outfitter_tools::RuleArgs;
use serde_json::Value;

use super::catalogue::Catalogue;
use super::load::Layers;
use super::problem::Problem;
use super::source::Source;
use crate::env::{self, Environment, Name};

/// Which variable chooses which provider when nothing else does. The first that is set wins.
const CHOOSERS: [(Name, &str); 4] = [
    (env::ANTHROPIC_API_KEY, "anthropic"),
    (env::OPENAI_API_KEY, "openai"),
    (env::GEMINI_API_KEY, "gemini"),
    (env::OLLAMA_HOST, "ollama"),
];

/// Keys that say something of one provider only.
const OF_THE_PROVIDER: [&str; 8] = [
    "model.name",
    "model.base_url",
    "model.api_key_env",
    "model.script",
    "model.context_tokens",
    "model.tokenizer",
    "model.vision",
    "model.tool_mode",
];

/// Those of them that mean nothing while the provider is open.
const NEED_A_PROVIDER: [&str; 4] = [
    "model.name",
    "model.base_url",
    "model.api_key_env",
    "model.script",
];

/// Pairs of keys of which the first can be at most the second.
const ORDERED: [(&str, &str); 1] = [("model.retry_delay_ms", "model.max_retry_delay_ms")];

/// When a stronger layer chooses another provider than a weaker one, what the weaker one says of
/// its provider does not go to the other.
pub(super) fn follow_provider(layers: &mut Layers) {
    let [.., weaker, chosen] = layers.all("model.provider") else {
        return;
    };
    if weaker.value == chosen.value {
        return;
    }
    let rank = chosen.source.rank();
    for path in OF_THE_PROVIDER {
        layers.retain(path, |setting| setting.source.rank() >= rank);
    }
}

/// Fills in what the environment decides.
pub(super) fn fill_in(layers: &mut Layers, env: &Environment) {
    let silent = layers.winner("model.provider").is_none()
        && NEED_A_PROVIDER
            .iter()
            .all(|path| layers.winner(path).is_none());
    if silent && let Some((name, provider)) = CHOOSERS.iter().find(|(name, _)| env.has(*name)) {
        layers.fill(
            "model.provider",
            Value::from(*provider),
            Source::Found(format!("{name} is set")),
        );
    }

    let provider = layers
        .winner("model.provider")
        .and_then(|one| one.value.as_str());
    if let Some(usual) = provider.and_then(outfitter_model::provider_defaults)
        && !usual.model.is_empty()
    {
        let source = Source::Found(format!("default of {}", usual.name));
        layers.fill("model.name", usual.model.into(), source);
    }

    if let Some(home) = env.data_home() {
        let dir = home.join("outfitter");
        layers.fill("store.data_dir", path_value(&dir), Source::Default);
    }
    for (small, large) in ORDERED {
        let (Some(default), Some(most)) = (default_of(small), layers.winner(large)) else {
            continue;
        };
        let most = most.value.clone();
        if most.as_u64() < default.as_u64() {
            layers.fill(small, most, Source::Found(format!("{large} is less")));
        }
    }
}

/// Names each rule that means nothing, by its place; the first has 0.
fn rules(layers: &Layers, problems: &mut Vec<Problem>) {
    let Some(set) = layers.winner("permissions.rules") else {
        return;
    };
    for (at, row) in set.value.as_array().into_iter().flatten().enumerate() {
        for key in ["tool", "decision"] {
            if row.get(key).is_none() {
                problems.push(Problem {
                    at: set.source.clone(),
                    message: format!("`permissions.rules` has no `{key}` under {at}"),
                });
            }
        }
        for key in ["tool", "args", "tenant", "channel", "agent"] {
            let text = row.get(key).and_then(Value::as_str);
            if text.is_some_and(|text| text.trim().is_empty()) {
                problems.push(Problem {
                    at: set.source.clone(),
                    message: format!("`permissions.rules` has an empty `{key}` under {at}"),
                });
            }
        }
        let mut wrong = |message: String| {
            let at = set.source.clone();
            problems.push(Problem { at, message });
        };
        if let Some(Value::Object(table)) = row.get("args") {
            let table = table
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()));
            if let Err(why) = RuleArgs::Table(table.collect()).check() {
                wrong(format!(
                    "`permissions.rules` means nothing under {at}: {why}"
                ));
            }
        }
        // A rule for nobody would look like one for somebody.
        if let Some(agent) = row.get("agent").and_then(Value::as_str)
            && !agent.contains(['*', '?'])
            && !agent.trim().is_empty()
            && agent != MAIN_AGENT
        {
            wrong(format!(
                "`permissions.rules` names the agent {agent:?} under {at}, and there is only \
                 {MAIN_AGENT:?}"
            ));
        }
    }
}

/// Checks what must fit each other, after paths are resolved.
pub(super) fn check(layers: &mut Layers, problems: &mut Vec<Problem>) {
    if let Some(dir) = layers.winner("store.data_dir")
        && let Some(dir) = dir.value.as_str()
    {
        let url = Value::from(format!("sqlite:{}", dir.trim_end_matches('/')) + "/outfitter.db");
        layers.fill("store.url", url, Source::Default);
    }

    for (small, large) in ORDERED {
        let Some(set) = layers.winner(small) else {
            continue;
        };
        let most = layers
            .winner(large)
            .map_or_else(|| default_of(large), |most| Some(&most.value));
        if set.value.as_u64() > most.and_then(Value::as_u64) {
            problems.push(Problem {
                at: set.source.clone(),
                message: format!("`{small}` must not be more than `{large}`"),
            });
        }
    }

    connections(layers, problems);
    super::apis::check(layers, problems);
    rules(layers, problems);
    super::workflow_rows::check(layers, problems);
    super::remote::check(layers, problems);
    super::unheld::check(layers, problems);

    let provider = layers.winner("model.provider");
    let scripted = provider.is_some_and(|setting| setting.value == "scripted");
    match (layers.winner("model.script"), provider) {
        (Some(script), Some(_)) if !scripted => problems.push(Problem {
            at: script.source.clone(),
            message: "`model.script` is for the provider `scripted` only".to_owned(),
        }),
        (None, Some(provider)) if scripted => problems.push(Problem {
            at: provider.source.clone(),
            message: "the provider `scripted` needs `model.script`".to_owned(),
        }),
        _ => {}
    }
    if provider.is_none()
        && let Some(orphan) = NEED_A_PROVIDER.iter().find_map(|path| layers.winner(path))
    {
        problems.push(Problem {
            at: orphan.source.clone(),
            message: format!("`{}` is set, but `model.provider` is not", orphan.path),
        });
    }
}

/// What a table by name cannot do without.
fn connections(layers: &Layers, problems: &mut Vec<Problem>) {
    let servers = layers.tables("mcp.servers");
    for (name, server, at) in servers {
        if let Some(why) = no_server_name(name) {
            problems.push(Problem {
                at: at.clone(),
                message: format!("`mcp.servers` has a name that {why}: {name:?}"),
            });
        }
        let message = match (server.get("command"), server.get("builtin")) {
            (Some(_), None) => continue,
            (None, Some(Value::String(word))) if crate::helpers::server(word).is_some() => continue,
            (None, Some(word)) => format!(
                "names no built-in server with {word}, there is {}",
                crate::helpers::SERVERS
            ),
            (None, None) => "needs `command` or `builtin`".to_owned(),
            (Some(_), Some(_)) => "cannot have both `command` and `builtin`".to_owned(),
        };
        problems.push(Problem {
            at: at.clone(),
            message: format!("`mcp.servers.{name}` {message}"),
        });
    }
    for (name, program, at) in layers.tables("commands") {
        if !is_program_name(name) {
            problems.push(Problem {
                at: at.clone(),
                message: format!(
                    "`commands` has a name that is not of a-z 0-9 _ -, a letter first: {name:?}"
                ),
            });
        }
        if program.get("program").is_none() {
            problems.push(Problem {
                at: at.clone(),
                message: format!("`commands.{name}` needs `program`"),
            });
        }
    }
    for (name, channel, at) in layers.tables("channels") {
        let message = match channel.get("kind").and_then(Value::as_str) {
            None | Some("webhook") if channel.get("url").is_none() => "needs `url`",
            Some("inbox") if channel.get("url").is_some() => "is an inbox, which has no `url`",
            Some(_) | None => continue,
        };
        problems.push(Problem {
            at: at.clone(),
            message: format!("`channels.{name}` {message}"),
        });
    }
    if let Some(polish) = layers.winner("send.polish_model")
        && let Some(text) = polish.value.as_str()
    {
        let message = match text.split_once('/') {
            Some((provider, name)) if !name.is_empty() => {
                outfitter_model::provider_defaults(provider)
                    .is_none()
                    .then(|| format!("`send.polish_model` names no provider: {provider:?}"))
            }
            Some(_) | None => Some(format!(
                "`send.polish_model` must be PROVIDER/NAME: {text:?}"
            )),
        };
        problems.extend(message.map(|message| Problem {
            at: polish.source.clone(),
            message,
        }));
    }
    if let Some(source) = layers.winner("contacts.source")
        && let Some(name) = source.value.as_str()
        && !layers.tables("commands").any(|(known, _, _)| known == name)
    {
        problems.push(Problem {
            at: source.source.clone(),
            message: format!("`contacts.source` names no program of `commands`: {name:?}"),
        });
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

fn default_of(path: &str) -> Option<&'static Value> {
    Catalogue::get().find(path).map(|key| &key.default)
}

fn path_value(path: &std::path::Path) -> Value {
    Value::from(path.to_string_lossy())
}
