//! The manifests say the same things in the same way.

use crate::workspace::{folder, members, short, toml};

const PROCESS: &str = "outfitter-process";

/// A crate cannot change one lint of a table it inherits, so `process`, which has the unsafe code,
/// repeats the table.
#[test]
fn process_has_the_lints_of_the_workspace_and_unsafe_code() {
    let workspace = toml("Cargo.toml");
    let process = toml("crates/process/Cargo.toml");
    let mut expected = workspace["workspace"]["lints"].clone();
    assert_eq!(expected["rust"]["unsafe_code"].as_str(), Some("forbid"));
    expected["rust"]["unsafe_code"] = "allow".into();
    assert_eq!(process["lints"], expected);
}

#[test]
fn every_other_crate_inherits_the_lints() {
    for package in members()
        .iter()
        .filter(|package| **package.name != *PROCESS)
    {
        let manifest = toml(&package.manifest_path);
        let inherits = manifest["lints"].get("workspace");
        assert_eq!(inherits, Some(&true.into()), "{}", package.name);
        assert_eq!(manifest["lints"].as_table().unwrap().len(), 1);
    }
}

#[test]
fn every_crate_inherits_what_is_said_once() {
    for package in members() {
        let manifest = toml(&package.manifest_path);
        for key in ["version", "edition", "rust-version", "license", "publish"] {
            let inherits = manifest["package"][key].get("workspace");
            assert_eq!(inherits, Some(&true.into()), "{}: {key}", package.name);
        }
    }
}

#[test]
fn crates_are_named_after_their_folders() {
    for package in members() {
        let path = short(folder(package));
        if let Some(dir) = path.strip_prefix("crates/") {
            assert_eq!(*package.name, format!("outfitter-{dir}"));
        }
    }
}

/// Versions and features stand once, in the table of the workspace.
#[test]
fn every_dependency_is_taken_from_the_workspace_as_it_is() {
    for package in members() {
        let manifest = toml(&package.manifest_path);
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = manifest.get(kind) else {
                continue;
            };
            for (name, entry) in table.as_table().unwrap() {
                let plain = entry.get("workspace") == Some(&true.into())
                    && entry.as_table().is_some_and(|keys| {
                        keys.keys().all(|k| k == "workspace" || k == "optional")
                    });
                assert!(plain, "{}: {name} = {entry}", package.name);
            }
        }
    }
}

/// Every binary of tests is linked by itself, so one a crate is enough.
#[test]
fn every_crate_has_one_binary_of_tests_at_most() {
    for package in members() {
        let path = short(folder(package));
        let Some(dir) = path.strip_prefix("crates/") else {
            continue;
        };
        let tests: Vec<&str> = package
            .targets
            .iter()
            .filter(|target| target.is_test())
            .map(|target| &*target.name)
            .collect();
        assert!(tests.is_empty() || tests == [dir], "{path}: {tests:?}");
    }
}
