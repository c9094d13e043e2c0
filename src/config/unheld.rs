//! What `[sandbox] backend = "passthrough"` cannot hold: a promise in the configuration that nothing
//! would keep.

use serde_json::Value;

use super::layers::Layers;
use super::problem::Problems;

/// Why nothing of these is kept, and what keeps them.
const WHY: &str = "cannot be held by the backend `passthrough`, whose commands may do whatever you \
                   may; `local` and `bwrap` can hold it";

/// Names each key that would do nothing.
pub(super) fn check(layers: &Layers, problems: &mut Problems) {
    let backend = layers.winner("sandbox.backend");
    if backend.is_none_or(|backend| backend.value != "passthrough") {
        return;
    }
    let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    let unheld = [
        ("sandbox.network", Value::Bool(true)),
        ("sandbox.read", Value::Null),
        ("sandbox.write", Value::Null),
    ];
    for (key, harmless) in unheld {
        if let Some(set) = layers.winner(key)
            && set.value != harmless
            && (key == "sandbox.network" || !empty(&set.value))
        {
            problems.say(&set.source, key, WHY);
        }
    }
    if let Some(require) = layers.winner("sandbox.require")
        && require.value != "none"
    {
        let why = "asks for what the backend `passthrough` never gives; leave it out, or use `local` \
                   or `bwrap`";
        problems.say(&require.source, "sandbox.require", why);
    }
}
