//! Rules of `[permissions]` that mean nothing whatever tools there are.

use outfitter_core::MAIN_AGENT;
use outfitter_tools::RuleArgs;
use serde_json::Value;

use super::layers::Layers;
use super::problem::Problems;

const ROWS: &str = "permissions.rules";

/// Names each, by its place; the first has 0.
pub(super) fn check(layers: &Layers, problems: &mut Problems) {
    let Some(set) = layers.winner(ROWS) else {
        return;
    };
    for (place, row) in set.value.as_array().into_iter().flatten().enumerate() {
        let path = format!("{ROWS}.{place}");
        let at = |key: &str| set.place(&format!("{place}.{key}"));
        for key in ["tool", "decision"] {
            if row.get(key).is_none() {
                problems.needs(at(key), &path, key, format!("`{key}`"));
            }
        }
        for key in ["tool", "args", "tenant", "channel", "agent"] {
            let text = row.get(key).and_then(Value::as_str);
            if text.is_some_and(|text| text.trim().is_empty()) {
                let why = match key {
                    "tool" => "must not be empty; `*` means any",
                    _ => "must not be empty; leave it out for any",
                };
                problems.say(at(key), format!("{path}.{key}"), why);
            }
        }
        if let Some(Value::Object(table)) = row.get("args") {
            let args = |table: Vec<(String, Value)>| RuleArgs::Table(table.into_iter().collect());
            if table.is_empty()
                && let Err(why) = args(Vec::new()).check()
            {
                problems.say(
                    at("args"),
                    format!("{path}.args"),
                    format!("means nothing: {why}"),
                );
            }
            for (name, value) in table {
                if let Err(why) = args(vec![(name.clone(), value.clone())]).check() {
                    let within = format!("args.{name}");
                    let why = format!("means nothing: {why}");
                    problems.say(at(&within), format!("{path}.{within}"), why);
                }
            }
        }
        // A rule for nobody would look like one for somebody.
        if let Some(agent) = row.get("agent").and_then(Value::as_str)
            && !agent.contains(['*', '?'])
            && !agent.trim().is_empty()
            && agent != MAIN_AGENT
        {
            let why = format!("names the agent {agent:?}, and there is only {MAIN_AGENT:?}");
            problems.say(at("agent"), format!("{path}.agent"), why);
        }
    }
}
