//! What others wrote: allowed licences, banned crates, and a reason for each direct dependency.
//! The lists are those of `deny.toml`, so that `cargo deny check` and these tests cannot disagree.

use std::collections::{BTreeMap, BTreeSet};

use crate::licence;
use crate::workspace::{METADATA, members, read, toml};

fn names(list: &toml::Value) -> Vec<&str> {
    let list = list.as_array().unwrap();
    list.iter()
        .map(|entry| match entry {
            toml::Value::String(name) => name.as_str(),
            other => other["crate"].as_str().unwrap(),
        })
        .collect()
}

#[test]
fn every_package_has_an_allowed_licence() {
    let deny = toml("deny.toml");
    let allow = names(&deny["licenses"]["allow"]);
    assert!(allow.contains(&"MIT") && !allow.iter().any(|name| name.contains("GPL")));
    let refused: Vec<String> = METADATA
        .packages
        .iter()
        .filter(|package| {
            let expression = package.license.as_deref().unwrap_or_default();
            !licence::met(expression, &|name| allow.contains(&name))
        })
        .map(|package| format!("{} {:?}", package.name, package.license))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// The only crates that a banned one may stand below.
fn wrappers<'a>(deny: &'a toml::Table, name: &str) -> Vec<&'a str> {
    let entries = deny["bans"]["deny"].as_array().unwrap().iter();
    let mut of_crate = entries.filter(|entry| entry["crate"].as_str() == Some(name));
    let wrappers = of_crate.find_map(|entry| entry.get("wrappers"));
    wrappers.map(names).unwrap_or_default()
}

/// Whether a package is needed by some of these and by nothing else.
fn only_below(packages: &[toml::Value], name: &str, wrappers: &[&str]) -> bool {
    let mut users = packages.iter().filter(|package| {
        let needed = package.get("dependencies").and_then(toml::Value::as_array);
        needed
            .into_iter()
            .flatten()
            .any(|needed| needed.as_str().and_then(|needed| needed.split(' ').next()) == Some(name))
    });
    !wrappers.is_empty() && users.all(|user| wrappers.contains(&user["name"].as_str().unwrap()))
}

/// On every platform: the lock file has them all.
#[test]
fn no_banned_crate_is_in_the_lock_file() {
    let deny = toml("deny.toml");
    let banned = names(&deny["bans"]["deny"]);
    for expected in ["openssl", "native-tls", "aws-lc-sys", "serde_yaml"] {
        assert!(
            banned.contains(&expected),
            "deny.toml does not ban {expected}"
        );
    }
    for entry in deny["bans"]["deny"].as_array().unwrap() {
        assert!(entry.get("reason").is_some(), "no reason for {entry}");
    }
    let lock = toml("Cargo.lock");
    let packages = lock["package"].as_array().unwrap();
    let met: Vec<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().unwrap())
        .filter(|name| banned.contains(name) && !only_below(packages, name, &wrappers(&deny, name)))
        .collect();
    assert!(met.is_empty(), "banned: {met:?}");
}

#[test]
fn everything_comes_from_the_registry_or_from_here() {
    let lock = toml("Cargo.lock");
    for package in lock["package"].as_array().unwrap() {
        let name = &package["name"];
        let Some(source) = package.get("source") else {
            let ours = members()
                .iter()
                .any(|member| name.as_str() == Some(&member.name));
            assert!(ours, "{name}");
            continue;
        };
        assert!(source.as_str().unwrap().starts_with("registry+"), "{name}");
        assert!(package.get("checksum").is_some(), "{name} has no checksum");
    }
}

/// The rows of `docs/dependencies.md`: name and reason.
fn reasons() -> BTreeMap<String, String> {
    let page = read("docs/dependencies.md");
    let mut rows = BTreeMap::new();
    for line in page.lines() {
        let Some((name, reason)) = line
            .strip_prefix("| `")
            .and_then(|row| row.split_once("` |"))
        else {
            continue;
        };
        let reason = reason.trim().trim_end_matches('|').trim().to_owned();
        let before = rows.insert(name.to_owned(), reason);
        assert!(before.is_none(), "docs/dependencies.md has {name} twice");
    }
    rows
}

#[test]
fn every_direct_dependency_has_a_reason() {
    let manifest = toml("Cargo.toml");
    let table = manifest["workspace"]["dependencies"].as_table().unwrap();
    let theirs: BTreeSet<&str> = table
        .iter()
        .filter(|(_, entry)| entry.get("path").is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    let reasons = reasons();
    let named: BTreeSet<&str> = reasons.keys().map(String::as_str).collect();
    let without: Vec<_> = theirs.difference(&named).collect();
    let gone: Vec<_> = named.difference(&theirs).collect();
    assert!(
        without.is_empty(),
        "no row in docs/dependencies.md: {without:?}"
    );
    assert!(gone.is_empty(), "rows without a dependency: {gone:?}");
    for (name, reason) in &reasons {
        assert!(reason.len() >= 20, "the reason for {name} says nothing");
    }
}

/// A crate that is named and not used costs everybody a build. The name of a dependency has to
/// stand somewhere in the sources of the package that asks for it.
#[test]
fn every_dependency_of_a_crate_is_used_there() {
    let mut unused = Vec::new();
    for package in members() {
        let folder = crate::workspace::folder(package);
        let inner = |path: &&std::path::PathBuf| {
            path.starts_with(folder)
                && members().iter().all(|other| {
                    let other = crate::workspace::folder(other);
                    !other.starts_with(folder) || other == folder || !path.starts_with(other)
                })
        };
        let sources = crate::workspace::rust_sources();
        let text: String = sources.iter().filter(inner).map(read).collect();
        let words: BTreeSet<&str> = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        for dependency in &package.dependencies {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
            if !words.contains(&*name.replace('-', "_")) {
                unused.push(format!("{}: {name}", package.name));
            }
        }
    }
    assert!(
        unused.is_empty(),
        "named and not used:\n{}",
        unused.join("\n")
    );
}

#[test]
fn what_the_workspace_names_somebody_takes() {
    let root = toml("Cargo.toml");
    let named = root["workspace"]["dependencies"].as_table();
    let taken: Vec<&str> = members()
        .iter()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| dependency.name.as_str())
        .collect();
    let idle: Vec<&String> = named
        .into_iter()
        .flat_map(toml::Table::keys)
        .filter(|name| !taken.contains(&name.as_str()))
        .collect();
    assert!(idle.is_empty(), "nobody takes {idle:?}");
}
