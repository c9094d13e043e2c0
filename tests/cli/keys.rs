//! No key is accepted and ignored.

use std::path::{Path, PathBuf};

use crate::world::World;

/// A key that nothing reads would be accepted and ignored.
#[test]
fn every_key_is_read_outside_of_the_configuration() {
    let schema = World::new().run(&["config", "schema"]).json();
    let code = sources(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let mut unread = Vec::new();
    for (section, table) in schema["properties"].as_object().unwrap() {
        for (name, key) in table["properties"].as_object().unwrap() {
            if key.get("const").is_some()
                || key["oneOf"].as_array().is_some_and(|all| all.len() == 1)
            {
                continue; // There is nothing to choose.
            }
            let field = format!(".{name}");
            let read = code.iter().any(|text| {
                text.match_indices(&field).any(|(at, _)| {
                    let after = text[at + field.len()..].chars().next();
                    after.is_none_or(|next| !next.is_alphanumeric() && next != '_' && next != '(')
                })
            });
            if !read {
                unread.push(format!("{section}.{name}"));
            }
        }
    }
    assert_eq!(unread, Vec::<String>::new());
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
