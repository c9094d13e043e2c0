//! Where the schema of a tool has an argument that a rule names, and what that can be.

use outfitter_core::{Pattern, canonical};
use serde_json::{Map, Value};

use super::argument::{self, Closely};

/// How many references and alternatives are followed for one argument.
const MAX_THROUGH: usize = 16;

/// How deep an example of arguments is.
const MAX_DEPTH: usize = 8;

/// What a schema has at the place of an argument.
#[derive(Debug, PartialEq)]
pub(super) enum Place<'s> {
    /// Nothing: calls have no such argument.
    Missing,
    /// Anything.
    Open,
    /// One of these.
    At(Vec<&'s Value>),
}

impl<'s> Place<'s> {
    /// Of a name or a pointer, as rules have it.
    pub(super) fn of(root: &'s Value, name: &str) -> Self {
        let mut here = expanded(root, root);
        for step in steps(name) {
            let mut next = Vec::new();
            for schema in &here {
                next.extend(below(root, schema, &step));
            }
            if next.is_empty() {
                return match here.iter().any(|schema| is_open(schema)) || undeclared(&here) {
                    true => Self::Open,
                    false => Self::Missing,
                };
            }
            here = next;
        }
        let items = here.iter().filter_map(|schema| schema.get("items"));
        let items: Vec<&Value> = items.flat_map(|items| expanded(root, items)).collect();
        here.extend(items);
        Self::At(here)
    }

    pub(super) fn is_missing(&self) -> bool {
        *self == Self::Missing
    }

    /// Whether it can be what is wanted.
    pub(super) fn takes(&self, wanted: &Value) -> bool {
        match (self, wanted) {
            (Self::Missing, _) => false,
            (Self::Open, _) => true,
            (Self::At(_), Value::Array(choices)) => choices.iter().any(|one| self.takes(one)),
            (Self::At(schemas), one) => schemas
                .iter()
                .filter(|schema| says_something(schema))
                .any(|schema| takes(schema, one)),
        }
    }

    /// The values that it can have, where they are counted.
    pub(super) fn words(&self) -> Vec<String> {
        let Self::At(schemas) = self else {
            return Vec::new();
        };
        let words = schemas.iter().filter_map(|schema| values(schema)).flatten();
        words
            .map(|word| {
                word.as_str()
                    .map_or_else(|| canonical(&word), str::to_owned)
            })
            .collect()
    }

    /// The names that an argument can have where this one would be.
    pub(super) fn siblings(root: &Value, name: &str) -> Vec<String> {
        let mut here = expanded(root, root);
        let mut steps = steps(name);
        steps.pop();
        for step in steps {
            here = here
                .iter()
                .flat_map(|schema| below(root, schema, &step))
                .collect();
        }
        let properties = here.iter().filter_map(|schema| schema.get("properties"));
        let names = properties.filter_map(Value::as_object).flat_map(Map::keys);
        names.cloned().collect()
    }
}

/// A value as people write it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Array(all) => {
            let all: Vec<String> = all.iter().map(shown).collect();
            all.join(" or ")
        }
        other => canonical(other),
    }
}

/// Arguments that a schema takes, as short as they can be; none where that is not clear.
pub(super) fn sample(root: &Value) -> Option<Value> {
    example(root, root, MAX_DEPTH).filter(Value::is_object)
}

fn example(root: &Value, schema: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let parts = expanded(root, schema);
    if let Some(values) = parts.iter().find_map(|part| values(part)) {
        return values.into_iter().next();
    }
    let typed = parts.iter().find(|part| part.get("type").is_some());
    let number = |key: &str| typed.and_then(|part| part.get(key)).cloned();
    let kind = typed.map(|part| types(part)).unwrap_or_default();
    let Some(kind) = kind.first() else {
        return parts
            .iter()
            .any(|part| part.get("properties").is_some())
            .then(|| members(root, &parts, depth))?;
    };
    match *kind {
        "string" => {
            let least = number("minLength").and_then(|least| least.as_u64());
            let long = least.unwrap_or(1).clamp(1, 64);
            Some(Value::from("x".repeat(usize::try_from(long).ok()?)))
        }
        "integer" | "number" => Some(number("minimum").unwrap_or_else(|| Value::from(1))),
        "boolean" => Some(Value::Bool(false)),
        "null" => Some(Value::Null),
        "array" => {
            let items = parts.iter().find_map(|part| part.get("items"));
            let least = number("minItems").and_then(|least| least.as_u64());
            let some = least.is_some_and(|least| least > 0);
            match (some, items) {
                (true, Some(items)) => Some(Value::from(vec![example(root, items, depth)?])),
                _ => Some(Value::Array(Vec::new())),
            }
        }
        "object" => members(root, &parts, depth),
        _ => None,
    }
}

fn members(root: &Value, parts: &[&Value], depth: usize) -> Option<Value> {
    let mut object = Map::new();
    let required = parts.iter().filter_map(|part| part.get("required"));
    let required = required.filter_map(Value::as_array).flatten();
    for name in required.filter_map(Value::as_str) {
        let schema = parts
            .iter()
            .find_map(|part| part.get("properties")?.get(name))?;
        object.insert(name.to_owned(), example(root, schema, depth)?);
    }
    Some(Value::Object(object))
}

fn steps(name: &str) -> Vec<String> {
    let Some(pointer) = name.strip_prefix('/') else {
        return vec![name.to_owned()];
    };
    let plain = |step: &str| step.replace("~1", "/").replace("~0", "~");
    pointer.split('/').map(plain).collect()
}

/// A schema, and what it refers to or is made of.
fn expanded<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let mut found: Vec<&Value> = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if found.len() == MAX_THROUGH {
            break;
        }
        if found.iter().any(|one| std::ptr::eq(*one, schema)) {
            continue;
        }
        found.push(schema);
        let referred = schema.get("$ref").and_then(Value::as_str);
        open.extend(referred.and_then(|at| root.pointer(at.strip_prefix('#')?)));
        let lists = ["allOf", "anyOf", "oneOf"].into_iter();
        let lists = lists
            .filter_map(|key| schema.get(key)?.as_array())
            .flatten();
        open.extend(lists);
        open.extend(
            ["then", "else"]
                .into_iter()
                .filter_map(|key| schema.get(key)),
        );
        let dependent = schema.get("dependentSchemas").and_then(Value::as_object);
        open.extend(dependent.into_iter().flat_map(Map::values));
    }
    found
}

/// What a schema has under one step.
fn below<'s>(root: &'s Value, schema: &'s Value, step: &str) -> Vec<&'s Value> {
    let named = schema.get("properties").and_then(|all| all.get(step));
    let place = step.bytes().all(|b| b.is_ascii_digit());
    let item = schema.get("items").filter(|_| place);
    named
        .into_iter()
        .chain(item)
        .flat_map(|schema| expanded(root, schema))
        .collect()
}

/// Whether a schema says that there may be members of any name, or cannot be looked into.
fn is_open(schema: &Value) -> bool {
    let more = schema.get("additionalProperties");
    let more = more.is_some_and(|more| *more != Value::Bool(false));
    let elsewhere = schema.get("$ref").and_then(Value::as_str);
    more || schema.get("patternProperties").is_some()
        || *schema == Value::Bool(true)
        || elsewhere.is_some_and(|at| !at.starts_with('#'))
}

/// Whether none of them says which members there are, while there may be some.
fn undeclared(schemas: &[&Value]) -> bool {
    let declares = |schema: &&Value| {
        schema.get("properties").is_some()
            || schema.get("additionalProperties") == Some(&Value::Bool(false))
    };
    let may_have = |schema: &&Value| {
        let types = types(schema);
        types.is_empty() || types.contains(&"object")
    };
    !schemas.iter().any(declares) && schemas.iter().any(may_have)
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether a schema says more than what others it is made of.
fn says_something(schema: &Value) -> bool {
    let made_of = ["$ref", "allOf", "anyOf", "oneOf"];
    let by_itself = ["type", "enum", "const"];
    by_itself.iter().any(|key| schema.get(key).is_some())
        || !made_of.iter().any(|key| schema.get(key).is_some())
}

/// The values that a schema counts.
fn values(schema: &Value) -> Option<Vec<Value>> {
    if let Some(one) = schema.get("const") {
        return Some(vec![one.clone()]);
    }
    let counted = schema.get("enum").and_then(Value::as_array);
    counted.cloned().filter(|all| !all.is_empty())
}

fn takes(schema: &Value, wanted: &Value) -> bool {
    if let Some(values) = values(schema) {
        let mut values = values.iter();
        return values.any(|value| argument::is(value, wanted, Closely::Loosely));
    }
    let types = types(schema);
    let any_of = |words: &[&str]| types.is_empty() || types.iter().any(|one| words.contains(one));
    match wanted {
        Value::Bool(_) => any_of(&["boolean"]),
        Value::Number(number) => {
            let whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
            let is_one = any_of(&["number"]) || whole && any_of(&["integer"]);
            is_one && in_range(schema, number)
        }
        Value::String(glob) => {
            let is = |word: &str| Pattern::new(glob.as_str()).matches(word);
            any_of(&["string", "integer", "number", "array", "object"])
                || any_of(&["boolean"]) && (is("true") || is("false"))
                || any_of(&["null"]) && is("null")
        }
        Value::Null | Value::Array(_) | Value::Object(_) => true,
    }
}

/// Whether a number is none that a schema rules out.
fn in_range(schema: &Value, number: &serde_json::Number) -> bool {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let Some(number) = number.as_f64() else {
        return true;
    };
    bound("minimum").is_none_or(|least| number >= least)
        && bound("exclusiveMinimum").is_none_or(|below| number > below)
        && bound("maximum").is_none_or(|most| number <= most)
        && bound("exclusiveMaximum").is_none_or(|above| number < above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "mode": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}]},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
                "to": {"type": "object", "properties": {"name": {"type": "string"}},
                       "additionalProperties": false},
                "loose": {"type": "object"},
                "sure": {"type": "boolean"},
                "line": {"type": "integer", "minimum": 1, "maximum": 100},
                "share": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            },
            "anyOf": [{"required": ["path"]}, {"required": ["to"]}],
            "required": ["mode"],
            "$defs": {"Mode": {"type": "string", "enum": ["create", "append"]}},
        })
    }

    #[rstest]
    #[case("path", json!("src/**"), true)]
    #[case("pth", json!("src/**"), false)]
    #[case("/to/name", json!("ann"), true)]
    #[case("/to/nmae", json!("ann"), false)]
    #[case("/loose/anything", json!(1), true)]
    #[case("mode", json!("create"), true)]
    #[case("mode", json!("CREATE"), true)]
    #[case("mode", json!("cre*"), true)]
    #[case("mode", json!("creat"), false)]
    #[case("mode", json!(["creat", "append"]), true)]
    #[case("tags", json!("b"), true)]
    #[case("/tags/0", json!("b"), true)]
    #[case("/tags/0", json!("c"), false)]
    #[case("sure", json!(true), true)]
    #[case("sure", json!("tru?"), true)]
    #[case("sure", json!("yes"), false)]
    #[case("sure", json!(1), false)]
    #[case("path", json!(true), false)]
    #[case("line", json!(1), true)]
    #[case("line", json!(-5), false)]
    #[case("line", json!(101), false)]
    #[case("line", json!(1.5), false)]
    #[case("line", json!([0, 2]), true)]
    #[case("line", json!("1*"), true)]
    #[case("share", json!(0.5), true)]
    #[case("share", json!(0), false)]
    #[case("share", json!(1), false)]
    fn an_argument_is_looked_for_where_it_would_be(
        #[case] name: &str,
        #[case] wanted: Value,
        #[case] met: bool,
    ) {
        assert_eq!(Place::of(&schema(), name).takes(&wanted), met);
    }

    #[rstest]
    #[case(json!({}), true)]
    #[case(json!({"type": "object"}), true)]
    #[case(json!({"type": "object", "properties": {}}), false)]
    #[case(json!({"type": "object", "properties": {}, "additionalProperties": true}), true)]
    #[case(json!({"type": "object", "additionalProperties": false}), false)]
    #[case(json!({"$ref": "https://elsewhere.example/schema"}), true)]
    fn what_a_schema_leaves_open_is_not_called_wrong(#[case] schema: Value, #[case] open: bool) {
        assert_eq!(Place::of(&schema, "x") == Place::Open, open);
        assert_eq!(Place::of(&schema, "x").is_missing(), !open);
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_left() {
        let schema = json!({"$ref": "#", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
        assert!(Place::of(&schema, "/a/a/b").is_missing());
        assert_eq!(sample(&schema), None);
    }

    #[test]
    fn an_example_has_what_is_required_also_by_alternatives() {
        let expected = json!({"mode": "create", "path": "x", "to": {}});
        assert_eq!(sample(&schema()), Some(expected));
    }
}
