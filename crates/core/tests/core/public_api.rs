//! The public API of core, read from its sources. Third parties implement these types and traits,
//! so a change of them is never a side effect: it shows up in the snapshot. Accept it with
//! `INSTA_UPDATE=always cargo test -p outfitter-core --test core`, and read the diff.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::{Item, UseTree, Visibility};

use crate::render;

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn parse(file: &str) -> syn::File {
    let path = sources().join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
    syn::parse_file(&text).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// What `lib.rs` re-exports: names by module.
fn exported() -> BTreeMap<String, BTreeSet<String>> {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in parse("lib.rs").items {
        match item {
            Item::Use(item) if matches!(item.vis, Visibility::Public(_)) => {
                let UseTree::Path(path) = item.tree else {
                    panic!("`pub use` of something that is no module of this crate");
                };
                let names = modules.entry(path.ident.to_string()).or_default();
                leaves(&path.tree, names);
            }
            Item::Mod(item) if matches!(item.vis, Visibility::Public(_)) => {
                panic!("the module {} is public: re-export its names", item.ident);
            }
            _ => {}
        }
    }
    modules
}

/// What stands in a module and in the parts it is split into, which it re-exports.
fn items_of(module: &str) -> Vec<Item> {
    let (mut items, mut parts) = (Vec::new(), Vec::new());
    for item in parse(&format!("{module}.rs")).items {
        match item {
            Item::Mod(part) if part.content.is_none() => parts.push(part.ident),
            other => items.push(other),
        }
    }
    items.retain(|item| match item {
        Item::Use(item) => match &item.tree {
            UseTree::Path(path) => !parts.contains(&path.ident),
            _ => true,
        },
        _ => true,
    });
    for part in parts {
        let path = format!("{module}/{part}.rs");
        if sources().join(&path).exists() {
            items.extend(parse(&path).items);
        }
    }
    items
}

fn leaves(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Name(name) => {
            names.insert(name.ident.to_string());
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
        UseTree::Path(_) | UseTree::Rename(_) | UseTree::Glob(_) => {
            panic!("a re-export is a plain name, so that a reader can find it")
        }
    }
}

#[test]
fn the_public_api_is_what_the_snapshot_says() {
    let mut api = String::new();
    let mut missing = Vec::new();
    for (module, names) in exported() {
        let items = items_of(&module);
        let mut found = BTreeSet::new();
        api.push_str(&format!("\n// {module}\n"));
        for item in &items {
            if let Some(text) = render::item(item, &names, &mut found) {
                api.push_str(&text);
                api.push('\n');
            }
        }
        missing.extend(names.difference(&found).map(|n| format!("{module}::{n}")));
    }
    assert!(missing.is_empty(), "not found in the sources: {missing:?}");
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(api);
    });
}
