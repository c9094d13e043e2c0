//! Schemas that providers stumble over.

use serde_json::{Value, json};

/// A schema, values that fit it, and values that do not.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) schema: fn() -> Value,
    pub(super) fits: fn() -> Vec<Value>,
    pub(super) misfits: fn() -> Vec<Value>,
}

/// All of them.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "plain",
        schema: || {
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "a file"},
                    "limit": {"type": "integer", "minimum": 1, "format": "uint32"},
                    "ratio": {"type": "number", "exclusiveMinimum": 0},
                },
                "required": ["path"],
                "additionalProperties": false,
            })
        },
        fits: || {
            vec![
                json!({"path": "a"}),
                json!({"path": "a", "limit": 3, "ratio": 0.5}),
            ]
        },
        misfits: || {
            vec![
                json!({}),
                json!({"path": "a", "limit": 0}),
                json!({"path": "a", "x": 1}),
            ]
        },
    },
    Case {
        name: "no_parameters",
        schema: || json!({"type": "object", "properties": {}, "additionalProperties": false}),
        fits: || vec![json!({})],
        misfits: || vec![json!({"a": 1})],
    },
    Case {
        name: "root_any_of",
        schema: || {
            json!({
                "type": "object",
                "properties": {"verbose": {"type": "boolean"}},
                "anyOf": [
                    {"properties": {"url": {"type": "string"}}, "required": ["url"]},
                    {"properties": {"file": {"type": "string"}}, "required": ["file"]},
                ],
            })
        },
        fits: || vec![json!({"url": "u"}), json!({"file": "f", "verbose": true})],
        misfits: || vec![json!({}), json!({"verbose": true})],
    },
    Case {
        name: "root_one_of_tagged",
        schema: || {
            json!({
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "move"}, "to": {"type": "string"}},
                        "required": ["kind", "to"], "additionalProperties": false,
                    },
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "copy"}, "to": {"type": "string"}, "times": {"type": "integer"}},
                        "required": ["kind", "to"], "additionalProperties": false,
                    },
                ],
            })
        },
        fits: || {
            vec![
                json!({"kind": "move", "to": "a"}),
                json!({"kind": "copy", "to": "a", "times": 2}),
            ]
        },
        misfits: || {
            vec![
                json!({"kind": "move", "to": "a", "times": 2}),
                json!({"kind": "link", "to": "a"}),
            ]
        },
    },
    Case {
        name: "root_all_of_with_refs",
        schema: || {
            json!({
                "allOf": [{"$ref": "#/$defs/Page"}, {"$ref": "#/$defs/Query"}],
                "$defs": {
                    "Page": {"type": "object", "properties": {"page": {"type": "integer"}}},
                    "Query": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
                },
            })
        },
        fits: || vec![json!({"q": "x"}), json!({"q": "x", "page": 2})],
        misfits: || vec![json!({"page": 2}), json!({"q": 1})],
    },
    Case {
        name: "root_ref",
        schema: || {
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$ref": "#/definitions/Args",
                "definitions": {
                    "Args": {"type": "object", "properties": {"a": {"$ref": "#/definitions/B"}}, "required": ["a"]},
                    "B": {"type": "object", "properties": {"n": {"type": "integer"}}},
                },
            })
        },
        fits: || vec![json!({"a": {"n": 1}}), json!({"a": {}})],
        misfits: || vec![json!({}), json!({"a": {"n": "x"}})],
    },
    Case {
        name: "recursive_defs",
        schema: || {
            json!({
                "type": "object",
                "properties": {"tree": {"$ref": "#/$defs/Node"}},
                "required": ["tree"],
                "$defs": {
                    "Node": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                        },
                        "required": ["name"],
                    },
                },
            })
        },
        fits: || {
            vec![
                json!({"tree": {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}}),
            ]
        },
        misfits: || vec![json!({"tree": {"name": "a", "children": [{"children": []}]}})],
    },
    Case {
        name: "recursive_root",
        schema: || {
            json!({
                "type": "object",
                "properties": {"op": {"type": "string"}, "left": {"$ref": "#"}, "right": {"$ref": "#"}},
            })
        },
        fits: || vec![json!({"op": "+", "left": {"op": "-", "left": {}}, "right": {}})],
        misfits: || vec![json!({"left": {"op": 1}})],
    },
    Case {
        name: "nullable_fields",
        schema: || {
            json!({
                "type": "object",
                "properties": {
                    "a": {"type": ["string", "null"], "description": "maybe"},
                    "b": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null},
                    "c": {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "null"}]},
                    "d": {"type": ["string", "integer", "null"], "minLength": 1},
                    "e": {"enum": ["x", "y", null]},
                },
                "$defs": {"C": {"type": "object", "properties": {"k": {"type": "string"}}}},
            })
        },
        fits: || {
            vec![
                json!({"a": null, "b": null, "c": null, "d": null, "e": null}),
                json!({"a": "s", "b": 1, "c": {"k": "v"}, "d": 7, "e": "x"}),
            ]
        },
        misfits: || vec![json!({"a": 1}), json!({"d": ""}), json!({"e": "z"})],
    },
    Case {
        name: "constants_and_enums",
        schema: || {
            json!({
                "type": "object",
                "properties": {
                    "version": {"const": 2},
                    "mode": {"const": "fast"},
                    "level": {"type": "integer", "enum": [1, 2, 3]},
                    "mixed": {"enum": ["auto", 1, true]},
                    "colour": {"enum": ["red", "green"]},
                },
                "required": ["version"],
            })
        },
        fits: || {
            vec![json!({"version": 2, "mode": "fast", "level": 3, "mixed": true, "colour": "red"})]
        },
        misfits: || vec![json!({"version": 1}), json!({"version": 2, "level": 4})],
    },
    Case {
        name: "tuples",
        schema: || {
            json!({
                "type": "object",
                "properties": {
                    "point": {
                        "type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}],
                        "items": false, "minItems": 2,
                    },
                    "row": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": {"type": "boolean"}},
                },
            })
        },
        fits: || vec![json!({"point": [1, 2.5], "row": ["a", 1, true, false]})],
        misfits: || vec![json!({"point": [1, 2, 3]}), json!({"row": [1]})],
    },
    Case {
        name: "draft_07_tuples",
        schema: || {
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "properties": {
                    "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false},
                    "open": {"type": "array", "items": [{"type": "string"}]},
                },
            })
        },
        fits: || vec![json!({"pair": ["a", 1], "open": ["a", 1, null]})],
        misfits: || vec![json!({"pair": ["a", 1, 2]}), json!({"open": [1]})],
    },
    Case {
        name: "untyped_and_free",
        schema: || {
            json!({
                "type": "object",
                "properties": {
                    "anything": {},
                    "really": true,
                    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                    "shape": {"properties": {"w": {"type": "integer"}}},
                    "list": {"type": "array"},
                    "when": {"type": "string", "format": "date-time"},
                    "where": {"type": "string", "format": "uri"},
                },
                "required": ["anything"],
            })
        },
        fits: || {
            vec![json!({
                "anything": {"a": 1}, "really": [], "headers": {"x": "y"}, "shape": {"w": 1},
                "list": ["a"], "when": "2026-01-01T00:00:00Z", "where": "http://h",
            })]
        },
        misfits: || vec![json!({}), json!({"anything": 1, "headers": {"x": 1}})],
    },
    Case {
        name: "conditions",
        schema: || {
            json!({
                "type": "object",
                "properties": {"kind": {"type": "string"}},
                "if": {"properties": {"kind": {"const": "file"}}},
                "then": {"properties": {"path": {"type": "string"}}, "required": ["path"]},
                "else": {"properties": {"url": {"type": "string"}}},
                "not": {"required": ["forbidden"]},
            })
        },
        fits: || {
            vec![
                json!({"kind": "file", "path": "p"}),
                json!({"kind": "web", "url": "u"}),
            ]
        },
        misfits: || {
            vec![
                json!({"kind": "file"}),
                json!({"kind": "web", "forbidden": 1}),
            ]
        },
    },
    Case {
        name: "nested_unions",
        schema: || {
            json!({
                "type": "object",
                "properties": {
                    "target": {
                        "description": "what to open",
                        "oneOf": [
                            {"type": "string"},
                            {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
                        ],
                    },
                    "both": {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]},
                },
            })
        },
        fits: || {
            vec![
                json!({"target": "x", "both": {"a": "1", "b": "2"}}),
                json!({"target": {"id": 1}}),
            ]
        },
        misfits: || vec![json!({"target": 1}), json!({"both": {"b": 2}})],
    },
    Case {
        name: "odd_names_and_dead_references",
        schema: || {
            json!({
                "type": "object",
                "properties": {
                    "@type": {"type": "string"},
                    "with space": {"type": "string"},
                    "id": {"type": "string"},
                    "sub": {"type": "object", "properties": {"x": {"$ref": "#/properties/id"}}},
                    "anchor": {"$ref": "#here"},
                },
                "required": ["@type", "id"],
                "additionalProperties": false,
                "$defs": {"H": {"$anchor": "here", "type": "boolean"}},
            })
        },
        fits: || {
            vec![
                json!({"@type": "t", "id": "i", "with space": "w", "sub": {"x": "y"}, "anchor": true}),
            ]
        },
        misfits: || {
            vec![
                json!({"id": "i"}),
                json!({"@type": "t", "id": "i", "sub": {"x": 1}}),
            ]
        },
    },
];
