//! One suite for both: every test of files runs with those of this machine and with those of another
//! one, or stands here with the reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What is not tried over SFTP, by file and test, and why.
const NOT_OVER_SFTP: &[(&str, &str)] = &[
    (
        "bytes::any_range_of_any_bytes_reads_as_they_are",
        "hundreds of cases, each with a server; the ranges are those of `read`, which are tried",
    ),
    (
        "cancel::a_dropped_search_stops_and_leaves_the_runtime_free_to_end",
        "the same code; what it walks is made for a disk of this machine",
    ),
    (
        "conformance::every_test_runs_with_both_or_says_why_not",
        "it is about the tests",
    ),
    (
        "quota::a_deep_tree_hid_its_bytes_from_the_quota",
        "SFTP has no handles: it counts by paths, none longer than the server takes",
    ),
    (
        "denied::a_search_does_not_read_a_secret_through_a_hard_link",
        "SFTP shows no identity of a file: a second name for a secret is not known",
    ),
    (
        "denied::a_secret_that_is_a_link_protects_what_it_leads_to",
        "the same: what a secret that is a link leads to is not known by its other name",
    ),
    (
        "denied::twenty_spellings_are_twenty_denials_to_read_and_to_write",
        "the same, and one of the twenty is a hard link; the others are in `ssh::files`",
    ),
    (
        "denied::a_protected_directory_cannot_be_the_workspace",
        "the operator names the workspace there, and the account may be made for it",
    ),
    (
        "denied::what_exists_is_named_for_the_sandbox_of_commands",
        "no sandbox holds commands there",
    ),
    (
        "denied::rules_of_the_operator_hold_too",
        "denied paths are paths of this machine",
    ),
    (
        "escape::a_read_only_root_is_read_and_not_written",
        "what is laid in there is copied; it is read and not written in `ssh::packs`",
    ),
    (
        "escape::a_workspace_that_was_renamed_is_still_the_same",
        "SFTP knows names and no handle of a directory",
    ),
    (
        "escape::a_workspace_with_another_in_its_place_was_written_where_it_had_been_moved_to",
        "SFTP knows a directory by its path alone, and so do the commands there",
    ),
    (
        "escape::no_path_reaches_outside",
        "hundreds of cases, each with a server; a corpus is in `ssh::files`",
    ),
    (
        "escape::a_denial_is_what_the_tables_take_for_one",
        "it is about the tests",
    ),
    (
        "fuzz::no_path_leads_out_of_the_workspace",
        "thousands of cases, each with a server; a corpus is in `ssh::files`",
    ),
    (
        "odd::a_file_that_grows_is_read_to_an_end_and_never_taken_for_what_it_was",
        "it blocks its runtime, which would drive the connection",
    ),
    (
        "odd::attributes_stay_and_what_the_system_trusts_does_not",
        "SFTP shows no extended attributes; they are not kept, and the page says so",
    ),
    (
        "race::a_swapped_directory_never_lets_anything_outside",
        "it can be lost there: SFTP has no handle of a directory, and the page says so",
    ),
    (
        "race::a_file_swapped_for_a_link_is_never_written_through",
        "an append can be raced there for the same reason, and the page says so",
    ),
    (
        "ripgrep::the_matches_are_those_of_ripgrep",
        "the searcher is the same; it is compared once",
    ),
    (
        "startup::configuration_is_not_written_through_a_hard_link",
        "SFTP shows no identity of a file: a second name for configuration is not known",
    ),
    (
        "subjects::no_spelling_reaches_the_file_of_another",
        "in `ssh::files`, with the folders that sessions have there",
    ),
    (
        "subjects::no_directory_of_another_is_looked_into",
        "in `ssh::files`, with the folders that sessions have there",
    ),
];

/// The tests of a source, and whether each takes the machine as a parameter.
fn tests_of(source: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let mut is_test = false;
    let lines: Vec<&str> = source.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_start();
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        }
        let Some(rest) = line
            .strip_prefix("async fn ")
            .or_else(|| line.strip_prefix("fn "))
            .filter(|_| is_test)
        else {
            continue;
        };
        is_test = false;
        let name = rest.split('(').next().unwrap().to_owned();
        let head = lines[at..]
            .iter()
            .take_while(|line| !line.trim_end().ends_with('{'));
        let both = head
            .chain([line].iter())
            .any(|line| line.contains("machine: Machine"));
        found.push((name, both));
    }
    found
}

#[test]
fn every_test_runs_with_both_or_says_why_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/files");
    let mut alone = BTreeSet::new();
    let mut both = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        for (name, has_both) in tests_of(&fs::read_to_string(&path).unwrap()) {
            if has_both {
                both += 1;
            } else {
                alone.insert(format!("{file}::{name}"));
            }
        }
    }
    let told: BTreeSet<String> = NOT_OVER_SFTP
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let untold: Vec<_> = alone.difference(&told).collect();
    assert!(untold.is_empty(), "run with one machine only: {untold:?}");
    let gone: Vec<_> = told.difference(&alone).collect();
    assert!(gone.is_empty(), "no such test with one machine: {gone:?}");
    assert!(both > 80, "only {both} run with both");
    assert!(NOT_OVER_SFTP.iter().all(|(_, why)| why.len() > 15));
}
