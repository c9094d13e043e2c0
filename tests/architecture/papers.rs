//! The papers of the repository.

use crate::workspace::{read, root, toml};

#[test]
fn the_changelog_has_a_place_for_what_comes_next() {
    let page = read("CHANGELOG.md");
    assert!(page.lines().any(|line| line == "## Unreleased"));
}

#[test]
fn the_facts_for_engineers_fit_on_a_screen() {
    let lines = read("AGENTS.md").lines().count();
    assert!(lines <= 60, "AGENTS.md has {lines} lines");
}

#[test]
fn the_licences_are_there_in_full() {
    let workspace = toml("Cargo.toml");
    let licence = workspace["workspace"]["package"]["license"].as_str();
    assert_eq!(licence, Some("MIT OR Apache-2.0"));
    assert!(read("LICENSE-MIT").contains("Permission is hereby granted"));
    assert!(read("LICENSE-APACHE").contains("Version 2.0, January 2004"));
}

/// Links between the pages, so that a reader never lands nowhere.
#[test]
fn every_link_between_pages_has_an_end() {
    let pages = crate::workspace::files();
    let mut broken = Vec::new();
    for page in pages
        .iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
    {
        for target in links(&read(page)) {
            let outside = target.contains("://") || target.starts_with('#');
            let file = target.split('#').next().unwrap_or_default();
            if !outside && !page.parent().unwrap_or(root()).join(file).exists() {
                broken.push(format!("{}: {target}", crate::workspace::short(page)));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn links(page: &str) -> Vec<&str> {
    page.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
        .collect()
}

/// What comes later is unknown to the program now; the page says so in words a reader can use.
#[test]
fn what_is_not_there_yet_is_listed() {
    let page = read("docs/not-yet.md");
    for word in [
        "serve", "mcp", "skills", "tasks", "memory", "token", "trust",
    ] {
        let named = page.contains(&format!("`{word}"));
        assert!(named, "docs/not-yet.md does not name {word}");
    }
}
