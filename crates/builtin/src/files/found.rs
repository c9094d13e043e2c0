//! What `list_dir`, `glob` and `grep` share: where they look, how much they give at most, and how
//! they say what was left out.

use outfitter_core::{Outcome, Reply, Walked};
use serde_json::{Map, Value, json};

use super::path_schema;
use crate::args::to_usize;

/// The `path` of a call that gives none.
pub(super) fn here() -> String {
    ".".to_owned()
}

/// The schema of a `path` that is the workspace unless given.
pub(super) fn start_schema(what: &str) -> Value {
    let mut path = path_schema(what);
    path["default"] = here().into();
    path
}

/// The argument that bounds a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub(super) name: &'static str,
    pub(super) default: u64,
    pub(super) most: u64,
}

impl Bound {
    /// Its schema.
    pub(super) fn schema(self, what: &str) -> Value {
        json!({
            "type": "integer", "minimum": 1, "maximum": self.most, "default": self.default,
            "description": what,
        })
    }

    /// What a call that gives this, or nothing, gets at most.
    pub(super) fn of(self, given: Option<u64>) -> Limit {
        let most = given.unwrap_or(self.default).clamp(1, self.most);
        Limit {
            said: format!("{} {most}", self.name),
            most: to_usize(most),
        }
    }
}

/// A limit that holds for one result.
pub(super) struct Limit {
    /// Its name and value, for the notice of a cut.
    pub(super) said: String,
    pub(super) most: usize,
}

/// A result: what was found, how many in all where that is known, and what was left out.
pub(super) struct Found<'a> {
    pub(super) items: (&'static str, Vec<Value>),
    pub(super) count: Option<u64>,
    pub(super) walked: &'a Walked,
    pub(super) limit: &'a Limit,
}

impl Found<'_> {
    pub(super) fn reply(self) -> Reply {
        Outcome::json(Value::Object(self.result())).into()
    }

    pub(super) fn result(self) -> Map<String, Value> {
        let (name, items) = self.items;
        let reached = items.len() >= self.limit.most;
        let mut result = Map::new();
        result.insert(name.to_owned(), items.into());
        if let Some(count) = self.count {
            result.insert("count".to_owned(), count.into());
        }
        if self.walked.truncated {
            let notice = if reached {
                format!("cut at {}", self.limit.said)
            } else {
                "cut where a walk ends at the latest; ask for a smaller part".to_owned()
            };
            result.insert("truncated".to_owned(), Value::Bool(true));
            result.insert("notice".to_owned(), notice.into());
        }
        if !self.walked.skipped.is_empty() {
            result.insert("skipped".to_owned(), json!(self.walked.skipped));
        }
        result
    }
}

/// The schema of the result of a walk that gives these.
pub(super) fn schema(name: &str, items: Value, count: Option<&str>) -> Value {
    let mut properties = json!({
        "truncated": { "const": true, "description": "There when a limit cut the result." },
        "notice": { "type": "string", "description": "Which limit it was." },
        "skipped": {
            "type": "array", "items": { "type": "string" },
            "description": "What could not be read, and why.",
        },
    });
    properties[name] = items;
    let mut required = vec![name];
    if let Some(count) = count {
        properties["count"] = json!({ "type": "integer", "description": count });
        required.push("count");
    }
    crate::spec::object(&required, properties)
}
