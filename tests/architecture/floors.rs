//! Which crate may know which. A crate knows lower floors only, so no two crates of one floor know
//! each other. Its tests may use crates of its own floor too, never a higher one.

use std::collections::BTreeMap;

use cargo_metadata::DependencyKind;

use crate::workspace::members;

const FLOORS: &[(u8, &[&str])] = &[
    (0, &["outfitter-core", "outfitter-macros"]),
    (1, &["outfitter-text", "outfitter-net", "outfitter-process"]),
    (
        2,
        &[
            "outfitter-model",
            "outfitter-store",
            "outfitter-auth",
            "outfitter-sandbox",
            "outfitter-tools",
            "outfitter-builtin",
            "outfitter-codec",
            "outfitter-mcp",
            "outfitter-commands",
            "outfitter-skills",
            // Linked into the program for its tour; knows none of us but in its tests.
            "mcp-notes",
        ],
    ),
    // The planner is linked into the program for its tour, too; it knows who signs for it.
    (3, &["outfitter-agent", "planner"]),
    (5, &["outfitter-server"]),
    (6, &["outfitter"]),
    // Examples stand outside the house and use it as anybody would.
    (7, &["custom-tool", "skill-packs"]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    /// What the crate is made of: normal and build dependencies.
    Use,
    Tests,
}

fn floors() -> BTreeMap<&'static str, u8> {
    FLOORS
        .iter()
        .flat_map(|(floor, names)| names.iter().map(|name| (*name, *floor)))
        .collect()
}

/// What is wrong with "`from` depends on `to`".
fn fault(from: &str, to: &str, kind: For) -> Option<String> {
    let floors = floors();
    let (Some(&here), Some(&there)) = (floors.get(from), floors.get(to)) else {
        return Some(format!("{from} or {to} has no floor"));
    };
    let sound = match kind {
        For::Use => there < here,
        For::Tests => there <= here,
    };
    (!sound).then(|| format!("{from} (floor {here}) must not know {to} (floor {there}): {kind:?}"))
}

#[test]
fn every_crate_knows_lower_floors_only() {
    let ours: Vec<&str> = members().iter().map(|package| &**package.name).collect();
    let mut faults = Vec::new();
    for package in members() {
        if !floors().contains_key(&**package.name) {
            faults.push(format!("{} has no floor", package.name));
        }
        for dependency in &package.dependencies {
            let kind = match dependency.kind {
                DependencyKind::Development => For::Tests,
                _ => For::Use,
            };
            if ours.contains(&&*dependency.name) {
                faults.extend(fault(&package.name, &dependency.name, kind));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_rule_itself_refuses_what_it_should() {
    for (from, to, kind, sound) in [
        ("outfitter-agent", "outfitter-tools", For::Use, true),
        ("outfitter-tools", "outfitter-core", For::Use, true),
        ("outfitter-tools", "outfitter-store", For::Use, false),
        ("outfitter-tools", "outfitter-store", For::Tests, true),
        ("outfitter-tools", "outfitter-agent", For::Tests, false),
        ("outfitter-core", "outfitter-text", For::Use, false),
        ("outfitter-net", "outfitter-text", For::Use, false),
        ("outfitter-tools", "outfitter-unheard-of", For::Use, false),
    ] {
        assert_eq!(fault(from, to, kind).is_none(), sound, "{from} -> {to}");
    }
}

#[test]
fn the_page_about_the_house_names_every_crate_of_it() {
    let page = crate::workspace::read("ARCHITECTURE.md");
    for (floor, names) in FLOORS.iter().filter(|(floor, _)| *floor < 6) {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| {floor} |")))
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for floor {floor}"));
        for name in *names {
            let short = format!("`{}`", name.trim_start_matches("outfitter-"));
            assert!(page.contains(&short), "{short} is not in ARCHITECTURE.md");
        }
        assert!(row.contains('`'), "the row of floor {floor} names no crate");
    }
}
