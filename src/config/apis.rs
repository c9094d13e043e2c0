//! What the keys of an API say together.

use serde_json::Value;

use super::layers::Layers;
use super::problem::{Problem, Problems};
use super::secret_like::looks_like_a_secret;
use super::variable_word::LastWord;
use crate::env::Environment;

/// Names what an API cannot do without, and what means nothing.
pub(super) fn check(layers: &Layers, env: &Environment, problems: &mut Problems) {
    let Some(set) = layers.winner("plugin_api.apis") else {
        return;
    };
    for (name, api, at) in layers.tables("plugin_api.apis") {
        let path = format!("plugin_api.apis.{name}");
        let place = |key: &str| set.place(&format!("{name}.{key}")).clone();
        let has = |key: &str| api.get(key).is_some_and(|value| !value.is_null());
        let broken = ["openapi", "url", "schema"]
            .iter()
            .any(|key| problems.has(&format!("{path}.{key}")));
        if !outfitter_builtin::valid_api_name(name) {
            let message = format!(
                "`plugin_api.apis` has a name that is not 1 to 30 of A-Z a-z 0-9 - and single _ \
                 inside: {name:?}"
            );
            problems.push(Problem {
                at: at.clone(),
                key: path.clone(),
                message,
            });
        }
        match (has("openapi"), has("url"), has("schema")) {
            _ if broken => {}
            (true, _, true) => problems.push(Problem {
                at: place("schema"),
                key: format!("{path}.schema"),
                message: format!("`{path}` cannot have both `openapi` and `schema`"),
            }),
            (true, _, false) if has("method") => problems.push(Problem {
                at: place("method"),
                key: format!("{path}.method"),
                message: format!("`{path}` has a `method`, which `openapi` says; leave it out"),
            }),
            (true, _, false) | (false, true, true) => {}
            (false, true, false) => {
                problems.needs(
                    at,
                    &path,
                    "schema",
                    "`schema` beside its `url`, or `openapi`",
                );
            }
            (false, false, true) => problems.needs(at, &path, "url", "`url` beside its `schema`"),
            (false, false, false) => {
                problems.needs(at, &path, "openapi", "`openapi`, or `url` and `schema`");
            }
        }
        let url = api.get("url").and_then(Value::as_str);
        let url = url.and_then(|url| url::Url::parse(url).ok());
        let unusable = |url: &url::Url| {
            !url.username().is_empty()
                || url.password().is_some()
                || url.query().is_some()
                || url.fragment().is_some()
        };
        if url.as_ref().is_some_and(unusable) {
            let why = "must end with its path and hold no credentials; there are `query` and \
                       `headers`";
            problems.say(&place("url"), format!("{path}.url"), why);
        }
        for table in ["headers", "query"] {
            let texts = api.get(table).and_then(Value::as_object);
            for (header, text) in texts.into_iter().flatten() {
                let within = format!("{name}.{table}.{header}");
                let key = format!("plugin_api.apis.{within}");
                let why = text
                    .as_str()
                    .and_then(|text| no_sent(table, header, text, env));
                if let Some(why) = why {
                    problems.say(set.place(&within), key, why);
                }
            }
        }
    }
}

/// Why this cannot be sent. What it is may be a secret and is not said.
fn no_sent(table: &str, name: &str, text: &str, env: &Environment) -> Option<&'static str> {
    if name.is_empty() {
        return Some("has no name");
    }
    let named = match LastWord::of(text) {
        LastWord::Variable { name, .. } | LastWord::Other(name) => Some(name),
        LastWord::Plain => None,
    };
    if named.is_some_and(|name| looks_like_a_secret(name, env)) {
        return Some(
            "must have the name of an environment variable after `env:`, not what it holds",
        );
    }
    if table != "headers" {
        return None;
    }
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if !name.bytes().all(token) {
        return Some("is no name of a header: letters, digits and -, without spaces");
    }
    let controls = text.chars().any(|c| c.is_control() && c != '\t');
    controls.then_some("must be one line without control characters")
}
