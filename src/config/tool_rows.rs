//! What `[tools]` says of names that no tool and no call can have.

use outfitter_core::ToolName;
use serde_json::Value;

use super::layers::Layers;
use super::problem::Problems;

/// Names each other name that nothing can be called by.
pub(super) fn check(layers: &Layers, problems: &mut Problems) {
    let Some(set) = layers.winner("tools.aliases") else {
        return;
    };
    for (alias, tool) in set.value.as_object().into_iter().flatten() {
        let tool = tool.as_str().unwrap_or_default();
        let why = if ToolName::new(alias.as_str()).is_err() {
            format!("is another name that cannot be: {alias:?} is not 1 to 64 of A-Z a-z 0-9 _ -")
        } else if tool.trim().is_empty() {
            "must be the name of a tool, not empty".to_owned()
        } else if tool == alias {
            "is the name of the tool itself; leave it out".to_owned()
        } else if set
            .value
            .get(tool)
            .and_then(Value::as_str)
            .is_some_and(|tool| !tool.is_empty())
        {
            format!("must be the name of a tool, and {tool:?} is another such name")
        } else {
            continue;
        };
        problems.say(set.place(alias), format!("tools.aliases.{alias}"), why);
    }
}
