//! No key is accepted and ignored.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::World;

/// A key that nothing reads would be accepted and ignored.
#[test]
fn every_key_is_read_outside_of_the_configuration() {
    let schema = World::new().run(&["config", "schema"]).json();
    let code = sources(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let mut unread = Vec::new();
    for (section, table) in schema["properties"].as_object().unwrap() {
        unread.extend(unread_of(section, table, &code));
    }
    assert_eq!(unread, Vec::<String>::new());
}

/// The keys of a table that nothing reads, those of tables by name in it too.
fn unread_of(path: &str, table: &Value, code: &[String]) -> Vec<String> {
    let mut unread = Vec::new();
    if let Some(each) = by_name(table) {
        unread.extend(unread_of(&format!("{path}.NAME"), each, code));
    }
    if table["items"]["properties"].is_object() {
        unread.extend(unread_of(path, &table["items"], code));
    }
    for (name, key) in table["properties"].as_object().into_iter().flatten() {
        let one_choice = key["oneOf"].as_array().is_some_and(|all| all.len() == 1);
        if key.get("const").is_some() || one_choice {
            continue; // There is nothing to choose.
        }
        let path = format!("{path}.{name}");
        if !is_read(name, code) {
            unread.push(path.clone());
        }
        if let Some(each) = by_name(key) {
            unread.extend(unread_of(&format!("{path}.NAME"), each, code));
        }
    }
    unread
}

fn by_name(table: &Value) -> Option<&Value> {
    let each = &table["additionalProperties"];
    each["properties"].is_object().then_some(each)
}

fn is_read(name: &str, code: &[String]) -> bool {
    let field = format!(".{name}");
    code.iter().any(|text| {
        text.match_indices(&field).any(|(at, _)| {
            let after = text[at + field.len()..].chars().next();
            after.is_none_or(|next| !next.is_alphanumeric() && next != '_' && next != '(')
        })
    })
}

#[test]
fn the_keys_of_tables_by_name_are_looked_at_too() {
    let schema = World::new().run(&["config", "schema"]).json();
    let unread = unread_of("mcp", &schema["properties"]["mcp"], &[]);
    for key in ["mcp.enabled", "mcp.servers", "mcp.servers.NAME.min_role"] {
        assert!(unread.iter().any(|one| one == key), "{unread:?}");
    }
    let unread = unread_of("commands", &schema["properties"]["commands"], &[]);
    assert!(
        unread.iter().any(|one| one == "commands.NAME.only"),
        "{unread:?}"
    );
}

/// The program's sources but for the configuration itself.
fn sources(dir: PathBuf) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("src/config") {
            texts.extend(sources(path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            texts.push(std::fs::read_to_string(path).unwrap());
        }
    }
    texts
}
