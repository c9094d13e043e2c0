//! Values that follow from others, and values that must fit each other.

use serde_json::Value;

use super::catalogue::Catalogue;
use super::layers::Layers;
use super::problem::Problems;
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

/// How long `[web] user_agent` is at most.
const MAX_USER_AGENT: usize = 500;

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

/// Checks what must fit each other, after paths are resolved.
pub(super) fn check(layers: &mut Layers, env: &Environment, problems: &mut Problems) {
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
        if set.value.as_u64() > most.and_then(Value::as_u64) && !problems.has(large) {
            let most = most.map(ToString::to_string).unwrap_or_default();
            let why = format!("must not be more than `{large}`, which is {most}");
            problems.say(&set.source, small, why);
        }
    }

    super::connection_rows::check(layers, problems);
    super::apis::check(layers, env, problems);
    super::rule_rows::check(layers, problems);
    super::tool_rows::check(layers, problems);
    super::workflow_rows::check(layers, problems);
    super::remote::check(layers, problems);
    super::unheld::check(layers, problems);

    let provider = layers.winner("model.provider");
    let scripted = provider.is_some_and(|setting| setting.value == "scripted");
    match (layers.winner("model.script"), provider) {
        (Some(script), Some(_)) if !scripted => {
            let why = "is for the provider `scripted` only; leave it out";
            problems.say(&script.source, "model.script", why);
        }
        (None, Some(provider)) if scripted && !problems.has("model.script") => {
            let why = "is `scripted`, which needs `model.script`, the file with the turns";
            problems.say(&provider.source, "model.provider", why);
        }
        _ => {}
    }
    if provider.is_none()
        && !problems.has("model.provider")
        && let Some(orphan) = NEED_A_PROVIDER.iter().find_map(|path| layers.winner(path))
    {
        let why = "is set, but `model.provider` is not";
        problems.say(&orphan.source, orphan.path.clone(), why);
    }
    origins(layers, problems);
    let agent = layers.winner("web.user_agent");
    let text = agent.and_then(|agent| agent.value.as_str());
    if let (Some(agent), Some(text)) = (agent, text)
        && (text.len() > MAX_USER_AGENT || !text.bytes().all(|b| (b' '..=b'~').contains(&b)))
    {
        let why = format!("must be at most {MAX_USER_AGENT} visible characters of ASCII");
        problems.say(&agent.source, "web.user_agent", why);
    }
}

/// Names each origin that no page has.
fn origins(layers: &Layers, problems: &mut Problems) {
    let Some(set) = layers.winner("server.allowed_origins") else {
        return;
    };
    for (place, text) in set.value.as_array().into_iter().flatten().enumerate() {
        let text = text.as_str().unwrap_or_default();
        if !text.is_empty() && !is_origin(text) {
            let within = place.to_string();
            let why = "must be an origin, as https://example.com or http://localhost:3000, without \
                       a path and without the usual port";
            problems.say(
                set.place(&within),
                format!("server.allowed_origins.{place}"),
                why,
            );
        }
    }
}

/// Whether a browser may name a page so. Case and a slash at the end do not count.
fn is_origin(text: &str) -> bool {
    let plain = text.trim_end_matches('/').to_ascii_lowercase();
    let Some((scheme, host)) = plain.split_once("://") else {
        // What a page of no origin says.
        return plain == "null";
    };
    if matches!(scheme, "http" | "https") {
        let url = url::Url::parse(&plain);
        return url.is_ok_and(|url| url.origin().ascii_serialization() == plain);
    }
    // Of an extension of a browser, or an application around one.
    !scheme.is_empty() && !host.is_empty() && !host.contains(['/', '?', '#', '@', ' '])
}

fn default_of(path: &str) -> Option<&'static Value> {
    Catalogue::get().find(path).map(|key| &key.default)
}

fn path_value(path: &std::path::Path) -> Value {
    Value::from(path.to_string_lossy())
}
