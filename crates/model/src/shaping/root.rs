//! The root: an object with properties, whatever it was.

use serde_json::{Map, Value, json};

use super::merge::{both, either};
use super::refs::to_definition;
use super::rules::{NoParameters, Refs};
use super::walk::{Walk, describe};

/// Words that no provider takes at the root.
const NOT_AT_THE_ROOT: [&str; 9] = [
    "not",
    "if",
    "then",
    "else",
    "enum",
    "const",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
];

impl Walk<'_> {
    /// The whole schema; none where a tool without parameters has none.
    pub(super) fn root(&mut self) -> Option<Value> {
        let document = self.document;
        if !document.is_object() && *document != Value::Bool(true) {
            self.note("a schema that is no object");
        }
        // All of it is put in place, so that the properties are at the root.
        let mut root = self.resolved(document, 0);
        self.alternatives(&mut root);
        self.conditions(&mut root);
        self.object_type(&mut root);
        let nothing = root
            .get("properties")
            .and_then(Value::as_object)
            .is_none_or(Map::is_empty)
            && !root.contains_key("required");
        if nothing
            && self.rules.no_parameters == NoParameters::Nothing
            && !root.contains_key("description")
        {
            return None;
        }
        let mut shaped = match self.schema(&Value::Object(root)) {
            Value::Object(shaped) => shaped,
            _ => Map::new(),
        };
        shaped.insert("type".to_owned(), json!("object"));
        shaped.entry("properties").or_insert_with(|| json!({}));
        if self.rules.refs == Refs::Keep {
            self.definitions(&mut shaped);
        }
        Some(Value::Object(shaped))
    }

    /// `anyOf` and `oneOf`: the properties of all branches, and of what they require what all do.
    fn alternatives(&mut self, root: &mut Map<String, Value>) {
        for key in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = root.remove(key) else {
                continue;
            };
            let branches: Vec<Map<String, Value>> =
                branches.iter().map(|branch| self.branch(branch)).collect();
            if branches.is_empty() {
                continue;
            }
            self.note(format!("which of the properties of `{key}` go together"));
            let mut all = Map::new();
            for branch in &branches {
                let Some(Value::Object(properties)) = branch.get("properties") else {
                    continue;
                };
                for (name, schema) in properties {
                    let schema = match all.remove(name) {
                        Some(have) => either(have, schema.clone()),
                        None => schema.clone(),
                    };
                    all.insert(name.clone(), schema);
                }
            }
            let sets: Vec<Vec<Value>> = branches.iter().map(required).collect();
            let common: Vec<Value> = sets[0]
                .iter()
                .filter(|name| sets.iter().all(|set| set.contains(name)))
                .cloned()
                .collect();
            if sets.iter().any(|set| set.len() > common.len()) {
                describe(root, &format!("give {}", in_words(&sets)));
            }
            // What one branch closes is open for the others.
            let closed = |one: &Map<String, Value>| {
                one.get("additionalProperties") == Some(&Value::Bool(false))
            };
            if root.get("additionalProperties") == Some(&Value::Bool(false))
                && !root.contains_key("properties")
            {
                root.remove("additionalProperties");
            }
            let mut merged = json!({"properties": all, "required": common});
            if branches.iter().all(closed) && !root.contains_key("properties") {
                merged["additionalProperties"] = Value::Bool(false);
            }
            if let Value::Object(merged) = merged {
                both(root, merged);
            }
            if root
                .get("required")
                .and_then(Value::as_array)
                .is_some_and(Vec::is_empty)
            {
                root.remove("required");
            }
        }
    }

    /// A branch with its own branches put in place too.
    fn branch(&mut self, branch: &Value) -> Map<String, Value> {
        let mut branch = self.resolved(branch, 0);
        for key in ["anyOf", "oneOf"] {
            let Some(Value::Array(inner)) = branch.remove(key) else {
                continue;
            };
            for inner in &inner {
                let mut inner = self.resolved(inner, 1);
                inner.remove("required");
                inner.remove("additionalProperties");
                both(&mut branch, inner);
            }
            branch.remove("additionalProperties");
        }
        branch
    }

    /// Conditions: their properties may be given, and nothing more is said of them.
    fn conditions(&mut self, root: &mut Map<String, Value>) {
        for key in NOT_AT_THE_ROOT {
            let Some(inner) = root.remove(key) else {
                continue;
            };
            self.note(format!("`{key}` at the root"));
            if !matches!(key, "if" | "then" | "else") {
                continue;
            }
            let inner = self.resolved(&inner, 0);
            let Some(Value::Object(properties)) = inner.get("properties") else {
                continue;
            };
            let known = root.entry("properties").or_insert_with(|| json!({}));
            if let Value::Object(known) = known {
                for (name, schema) in properties {
                    // What a condition says of a property holds only under it.
                    known.entry(name.clone()).or_insert_with(|| {
                        if key == "if" {
                            json!({})
                        } else {
                            schema.clone()
                        }
                    });
                }
            }
        }
    }

    fn object_type(&mut self, root: &mut Map<String, Value>) {
        let objects = match root.get("type") {
            None => true,
            Some(Value::Array(kinds)) => kinds.contains(&json!("object")),
            Some(kind) => kind == "object",
        };
        if !objects {
            self.note("a root that is no object");
            root.clear();
        }
        root.insert("type".to_owned(), json!("object"));
    }

    /// The definitions that are referred to, also by each other.
    fn definitions(&mut self, shaped: &mut Map<String, Value>) {
        while let Some(name) = self
            .wanted
            .iter()
            .find(|name| !self.defs.contains_key(*name))
            .cloned()
        {
            let found = super::refs::target(self.document, &to_definition(&name))
                .or_else(|| self.document.get("definitions")?.get(&name));
            let found = found.cloned().unwrap_or(Value::Bool(true));
            let def = self.below(["$defs", &name], |walk| walk.schema(&found));
            self.defs.insert(name, def);
        }
        if !self.defs.is_empty() {
            let defs = std::mem::take(&mut self.defs);
            shaped.insert("$defs".to_owned(), defs.into_iter().collect());
        }
    }
}

fn required(branch: &Map<String, Value>) -> Vec<Value> {
    branch
        .get("required")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

/// Sets of names in words.
fn in_words(sets: &[Vec<Value>]) -> String {
    let mut words: Vec<String> = Vec::with_capacity(sets.len());
    for set in sets {
        let names: Vec<&str> = set.iter().filter_map(Value::as_str).collect();
        let one = match names.as_slice() {
            [] => "none of these".to_owned(),
            names => names.join(" and "),
        };
        if !words.contains(&one) {
            words.push(one);
        }
    }
    format!("either {}", words.join(", or "))
}
