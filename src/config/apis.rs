//! What the keys of an API say together.

use serde_json::Value;

use super::load::Layers;
use super::problem::Problem;

/// Names what an API cannot do without, and what means nothing.
pub(super) fn check(layers: &Layers, problems: &mut Vec<Problem>) {
    for (name, api, at) in layers.tables("plugin_api.apis") {
        let has = |key: &str| api.get(key).is_some_and(|value| !value.is_null());
        let mut wrong = |message: String| {
            problems.push(Problem {
                at: at.clone(),
                message,
            });
        };
        if !outfitter_builtin::valid_api_name(name) {
            wrong(format!(
                "`plugin_api.apis` has a name that is not 1 to 30 of A-Z a-z 0-9 - and single _ \
                 inside: {name:?}"
            ));
        }
        let message = match (has("openapi"), has("url"), has("schema")) {
            (true, _, true) => "cannot have both `openapi` and `schema`",
            (true, _, false) if has("method") => "has a `method`, which `openapi` says",
            (true, _, false) | (false, true, true) => "",
            (false, true, false) => "needs `schema` beside its `url`, or `openapi`",
            (false, false, true) => "needs `url` beside its `schema`",
            (false, false, false) => "needs `openapi`, or `url` and `schema`",
        };
        if !message.is_empty() {
            wrong(format!("`plugin_api.apis.{name}` {message}"));
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
            wrong(format!(
                "`plugin_api.apis.{name}.url` must end with its path and hold no credentials; there \
                 are `query` and `headers`"
            ));
        }
    }
}
