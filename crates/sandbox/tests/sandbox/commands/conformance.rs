//! One suite for every backend: each test of what a sandbox promises of commands runs with each, or
//! stands here with the reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The files whose tests are of what holds a command back, which nothing does on another machine.
/// The account there is the boundary, and `docs/sandbox.md` says so.
const OF_CONFINEMENT: &[&str] = &[
    "attacks",
    "bubblewrap",
    "credentials",
    "inside",
    "limits",
    "programs",
    "reach",
    "startup",
    "toolchains",
];

/// What of the others is not tried there, and why.
const NOT_OVER_SSH: &[(&str, &str)] = &[
    (
        "conformance::every_test_runs_with_each_or_says_why_not",
        "it is about the tests",
    ),
    (
        "jobs::a_closed_session_has_no_process_left",
        "in `ssh::jobs`: that of a session and that of too many jobs",
    ),
    (
        "jobs::jobs_are_listed_the_last_started_first_and_the_oldest_ended_are_forgotten",
        "the same list and the same code; sixty-five commands there take long",
    ),
    (
        "jobs::too_many_running_jobs_are_refused_with_what_to_do",
        "in `ssh::jobs`, where fewer may run",
    ),
    (
        "jobs::output_is_kept_where_no_command_reaches_it",
        "it is kept on this machine, where no command of the other one is",
    ),
    (
        "jobs::a_job_was_deaf_once_it_had_printed_as_much_as_is_kept",
        "the same spools and the same code; 300 MB over a connection take long",
    ),
    (
        "opening::a_level_that_cannot_be_had_is_a_refusal_with_the_reason_and_a_hint",
        "in `ssh::refused`",
    ),
    (
        "opening::a_sandbox_says_what_it_is",
        "in `ssh::jobs`: its level is none and it does not isolate",
    ),
    (
        "opening::a_sandbox_that_holds_nothing_back_does_not_say_that_it_isolates",
        "in `ssh::jobs`: it never says that it isolates",
    ),
    (
        "survivors::a_process_that_no_signal_reaches_was_told_as_killed",
        "the same result and the same code; what the other machine says is read in `ssh::script`",
    ),
    (
        "told::a_job_whose_output_is_gone_is_known_by_its_name",
        "the same records and the same code, of files on this machine",
    ),
    (
        "told::a_refused_path_is_told_with_the_key_that_would_allow_it",
        "nothing is refused there that a key of ours would allow",
    ),
    (
        "told::a_path_that_is_not_shown_was_told_as_absent",
        "everything that the account has is shown there",
    ),
    (
        "told::only_the_last_output_is_left_for_a_later_program",
        "the same spools and the same code, of files on this machine",
    ),
];

fn tests_of(source: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let (mut is_test, mut each, mut of_the_table) = (false, false, false);
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
            each = false;
        }
        if line.starts_with("on_every_backend!") {
            (is_test, of_the_table) = (true, true);
        }
        let name = line
            .strip_prefix("async fn ")
            .or_else(|| line.strip_prefix("fn "));
        if let Some(name) = name.filter(|_| is_test) {
            is_test = false;
            let name = name.split('(').next().unwrap().to_owned();
            found.push((name, std::mem::take(&mut of_the_table)));
            each = true;
        }
        // Among its parameters.
        if each && line.contains("Backend::Ssh") {
            found.last_mut().unwrap().1 = true;
        }
        if line.ends_with('{') {
            each = false;
        }
    }
    found
}

#[test]
fn every_test_runs_with_each_or_says_why_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/commands");
    let (mut alone, mut each) = (BTreeSet::new(), 0);
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let tests = tests_of(&fs::read_to_string(&path).unwrap());
        if !OF_CONFINEMENT.contains(&file.as_str()) {
            each += tests.iter().filter(|(_, each)| *each).count();
            let ones = tests.into_iter().filter(|(_, each)| !each);
            alone.extend(ones.map(|(name, _)| format!("{file}::{name}")));
        }
        files.insert(file);
    }
    let told: BTreeSet<String> = NOT_OVER_SSH
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let untold: Vec<_> = alone.difference(&told).collect();
    assert!(untold.is_empty(), "not run with ssh: {untold:?}");
    let gone: Vec<_> = told.difference(&alone).collect();
    assert!(gone.is_empty(), "run with ssh, or not there: {gone:?}");
    assert!(each >= 10, "only {each} run with each backend");
    assert!(OF_CONFINEMENT.iter().all(|file| files.contains(*file)));
}
