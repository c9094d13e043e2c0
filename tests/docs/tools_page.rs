//! The part of `docs/tools.md` that is made of what the tools say of themselves.

use std::fmt::Write as _;

use serde_json::Value;

use crate::page::page;
use crate::world::World;

const BEGIN: &str = "<!-- begin: made of `outfitter tools list --json` -->\n";
const END: &str = "<!-- end -->\n";

#[test]
fn the_tools_of_the_page_are_those_that_the_program_has() {
    let list = World::new().json("outfitter tools list --json --role admin");
    let tools: String = list.as_array().unwrap().iter().map(section).collect();
    let page = page("docs/tools.md");
    let (before, rest) = page.text.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    let made = format!("\n{tools}");
    if written == made {
        return;
    }
    let right = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools.md");
    std::fs::write(&right, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
    panic!(
        "docs/tools.md is not what the tools say; if they are right, copy {} over it",
        right.display()
    );
}

fn section(tool: &Value) -> String {
    let name = text(tool, "name");
    let effects: Vec<&str> = tool["effects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|effect| effect.as_str().unwrap())
        .collect();
    let effects = match effects.as_slice() {
        [] => "none".to_owned(),
        some => some.join(", "),
    };
    let mut section = format!(
        "### {name}\n\n{}\n\nrole: {} · effects: {effects}\n\n",
        in_table(text(tool, "description")),
        text(tool, "min_role"),
    );
    section += "| parameter | type | default | what it means |\n|---|---|---|---|\n";
    let input = &tool["input_schema"];
    for (parameter, schema) in fields(input) {
        let default = match (&schema["default"], required(input, parameter)) {
            (_, true) => "required".to_owned(),
            (Value::Null, false) => String::new(),
            (value, false) => format!("`{value}`"),
        };
        row(&mut section, parameter, schema, Some(&default));
    }
    let output = &tool["output_schema"];
    if !output.is_null() {
        section += "\n| result | type | what it means |\n|---|---|---|\n";
        for (field, schema) in fields(output) {
            row(&mut section, field, schema, None);
        }
    }
    section + "\n"
}

fn row(section: &mut String, name: &str, schema: &Value, default: Option<&str>) {
    let default = default.map(|text| format!(" {text} |")).unwrap_or_default();
    let about = schema["description"].as_str().unwrap_or_default();
    let _ = writeln!(
        section,
        "| `{name}` | {} |{default} {} |",
        in_table(&kind(schema)),
        in_table(about)
    );
}

/// The type in a few words.
fn kind(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        return words.join(", ");
    }
    if let Some(value) = schema.get("const") {
        return value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
    }
    if let Some(kinds) = schema["anyOf"].as_array() {
        let kinds: Vec<String> = kinds.iter().map(kind).collect();
        return kinds.join(" or ");
    }
    match &schema["type"] {
        Value::Array(kinds) => {
            let kinds: Vec<&str> = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|kind| *kind != "null")
                .collect();
            kinds.join(" or ")
        }
        Value::String(kind) if kind == "array" => {
            format!("list of {}", self::kind(&schema["items"]))
        }
        Value::String(kind) if kind == "object" => {
            let names: Vec<String> = fields(schema)
                .map(|(name, field)| match field.get("const") {
                    Some(value) => format!("{name}: {value}"),
                    None if required(schema, name) => name.clone(),
                    None => format!("{name}?"),
                })
                .collect();
            match names.as_slice() {
                [] => "object".to_owned(),
                names => format!("{{ {} }}", names.join(", ")),
            }
        }
        Value::String(kind) => kind.clone(),
        Value::Null => "any".to_owned(),
        other => panic!("no words for the type {other} in {schema}"),
    }
}

fn fields(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn required(schema: &Value, name: &str) -> bool {
    schema["required"]
        .as_array()
        .is_some_and(|names| names.iter().any(|one| one == name))
}

fn text<'a>(tool: &'a Value, key: &str) -> &'a str {
    tool[key].as_str().unwrap()
}

/// Text that a table can hold and that reads as it is written: outside of code, what would be a
/// mark of the page's own language is escaped.
fn in_table(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| {
        let part = part.replace('|', "\\|").replace('\n', " ");
        match at % 2 {
            0 => part
                .replace('*', "\\*")
                .replace('[', "\\[")
                .replace('<', "&lt;"),
            _ => part,
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

#[test]
fn descriptions_read_as_they_are_written() {
    assert_eq!(
        in_table("`*` is one, **/*.rs <all>, [ab] a|b `<x>`"),
        "`*` is one, \\*\\*/\\*.rs &lt;all>, \\[ab] a\\|b `<x>`"
    );
}
