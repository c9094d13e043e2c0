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
        "jobs::a_command_ran_in_what_had_taken_the_place_of_its_workspace",
        "there a directory is known by its path alone, to commands and to file tools",
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
        "killed::what_had_left_the_tree_of_a_killed_supervisor_lived_on",
        "there is no supervisor there, and nothing of ours to kill but the watcher",
    ),
    (
        "killed::one_that_was_asked_to_end_and_lost_its_supervisor_by_then_had_two_ends",
        "there is no supervisor",
    ),
    (
        "killed::a_stopped_process_that_starts_commands_kept_all_of_them_waiting",
        "the server there starts them",
    ),
    (
        "killed::a_command_does_not_start_when_its_time_is_over",
        "it is given its time and seven seconds to start, half a minute at most; its time begins with it",
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

/// Every backend, as the tests name it.
const BACKENDS: [&str; 5] = ["Local", "Partial", "Bwrap", "Passthrough", "Ssh"];

/// With which backends the tests of a file need not run, and why. Of those over SSH the other table
/// says more.
const NOT_OF_A_FILE: &[(&str, &[&str], &str)] = &[
    (
        "programs",
        &["Passthrough", "Ssh"],
        "what works without a sandbox is what they compare with",
    ),
    (
        "toolchains",
        &["Passthrough", "Ssh"],
        "nothing is kept from being read there",
    ),
    (
        "attacks",
        &["Passthrough", "Ssh"],
        "nothing holds a command back there",
    ),
    (
        "bubblewrap",
        &BACKENDS,
        "each opens bubblewrap by itself, and is of that alone",
    ),
    ("conformance", &BACKENDS, "it is about the tests"),
    (
        "credentials",
        &["Passthrough", "Ssh"],
        "nothing is hidden there",
    ),
    (
        "inside",
        &BACKENDS,
        "each opens what it is about by itself: the view of `local`, or several",
    ),
    (
        "opening",
        &BACKENDS,
        "each opens what it is about by itself",
    ),
    (
        "startup",
        &["Partial", "Passthrough", "Ssh"],
        "it takes mounts to keep a file as it is",
    ),
    (
        "reach",
        &["Partial", "Passthrough", "Ssh"],
        "it takes a network of its own",
    ),
    ("limits", &["Ssh"], "no limit of ours holds there"),
    ("told", &["Ssh"], "the other table says why"),
    ("jobs", &["Ssh"], "the other table says why"),
    ("survivors", &["Ssh"], "the other table says why"),
    ("killed", &["Ssh"], "the other table says why"),
];

/// With which backends one test does not run besides, and why.
const NOT_OF_A_TEST: &[(&str, &[&str], &str)] = &[
    (
        "jobs::a_closed_session_has_no_process_left",
        &["Local", "Partial", "Bwrap", "Passthrough"],
        "it runs with `local`: closing is the same code for all of this machine",
    ),
    (
        "jobs::jobs_are_listed_the_last_started_first_and_the_oldest_ended_are_forgotten",
        &["Local", "Partial", "Bwrap", "Passthrough"],
        "it runs with one: the list is the same code for all",
    ),
    (
        "jobs::too_many_running_jobs_are_refused_with_what_to_do",
        &["Local", "Partial", "Bwrap", "Passthrough"],
        "it runs with one: the bound is the same code for all",
    ),
    (
        "jobs::a_job_was_deaf_once_it_had_printed_as_much_as_is_kept",
        &["Local", "Partial", "Bwrap", "Passthrough"],
        "it runs with one: spools are the same code for all",
    ),
    (
        "jobs::output_is_kept_where_no_command_reaches_it",
        &["Passthrough"],
        "nothing holds a command back there",
    ),
    (
        "credentials::no_credential_can_be_read_by_a_command",
        &["Partial"],
        "a home that holds them is refused as a workspace there; the others of the file run with it",
    ),
    (
        "programs::python_locks_work_with_a_mount_namespace",
        &["Local", "Partial", "Bwrap"],
        "it opens `local` by itself, which has a shared memory of its own by its mounts",
    ),
    (
        "limits::memory_held_by_a_file_ends_the_command_and_not_its_supervisor",
        &["Partial", "Passthrough"],
        "the file is in the memory of a `/dev/shm` of the command's own",
    ),
    (
        "limits::a_process_that_goes_on_at_the_signal_of_the_limit_is_killed",
        &["Partial", "Bwrap"],
        "the same limit of one process, whatever holds it besides",
    ),
    (
        "limits::both_limits_hold_by_version_2_where_it_has_their_controllers",
        &["Partial", "Passthrough"],
        "the same groups by the same code",
    ),
    (
        "limits::words_of_a_limit_were_believed_where_a_control_group_counts",
        &["Passthrough"],
        "no group counts the processes of commands that nobody confines",
    ),
    (
        "limits::a_limit_of_processes_that_only_the_program_was_told_was_not_named",
        &["Passthrough"],
        "processes of root are not counted there, which is held by nothing",
    ),
    (
        "reach::a_command_reached_the_server_that_runs_it",
        &["Local", "Bwrap"],
        "it opens `local` by itself: the proxy is the same code for both",
    ),
    (
        "reach::where_it_cannot_be_kept_to_hosts_nothing_is_opened",
        &["Local", "Bwrap"],
        "it opens `local` by itself: bubblewrap has a network of its own wherever it works",
    ),
    (
        "reach::a_socket_in_a_directory_that_is_kept_was_connected_to",
        &["Local", "Bwrap"],
        "it opens `local` by itself: bubblewrap does not mount what is kept",
    ),
    (
        "startup::a_protected_file_that_is_exchanged_while_a_command_starts_opens_nothing",
        &["Local", "Bwrap"],
        "it opens bubblewrap by itself, which takes names",
    ),
    (
        "survivors::a_process_that_no_signal_reaches_was_told_as_killed",
        &["Partial", "Bwrap"],
        "the same supervisor; what bubblewrap holds it does not count, as `docs/sandbox.md` says",
    ),
    (
        "told::after_a_restart_jobs_are_lost_with_what_they_printed_and_not_forgotten",
        &["Partial"],
        "what is remembered does not depend on the level",
    ),
    (
        "told::a_job_whose_output_is_gone_is_known_by_its_name",
        &["Local", "Partial", "Bwrap", "Passthrough"],
        "it runs with one: records are the same code for all",
    ),
    (
        "told::only_the_last_output_is_left_for_a_later_program",
        &["Local", "Partial", "Bwrap", "Passthrough"],
        "it runs with one: spools are the same code for all",
    ),
    (
        "told::a_refused_path_is_told_with_the_key_that_would_allow_it",
        &["Passthrough"],
        "nothing is refused there",
    ),
    (
        "told::a_path_that_is_not_shown_was_told_as_absent",
        &["Passthrough"],
        "everything is shown there",
    ),
];

/// The tests of a file, each with the backends that its parameters name.
fn tests_of(source: &str) -> Vec<(String, BTreeSet<&'static str>)> {
    let mut found: Vec<(String, BTreeSet<&str>)> = Vec::new();
    let (mut is_test, mut among, mut of_the_table) = (false, false, false);
    for line in source.lines().map(str::trim_start) {
        let marks = ["#[test]", "#[tokio::test", "#[rstest]"];
        if marks.iter().any(|mark| line.starts_with(mark)) {
            is_test = true;
            among = false;
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
            let all = std::mem::take(&mut of_the_table).then_some(BACKENDS);
            let with: BTreeSet<&str> = all.into_iter().flatten().collect();
            found.push((name, with));
            among = true;
        }
        // Among its parameters.
        if among {
            let named = BACKENDS
                .iter()
                .filter(|backend| line.contains(&format!("Backend::{backend}")));
            found.last_mut().unwrap().1.extend(named);
        }
        if line.ends_with('{') {
            among = false;
        }
    }
    found
}

#[test]
fn every_test_runs_with_each_or_says_why_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/commands");
    let (mut alone, mut each) = (BTreeSet::new(), 0);
    let mut files = BTreeSet::new();
    let (mut wrong, mut of_tests) = (Vec::new(), BTreeSet::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if file == "kit" {
            continue;
        }
        let tests = tests_of(&fs::read_to_string(&path).unwrap());
        if !OF_CONFINEMENT.contains(&file.as_str()) {
            let over_ssh = |backends: &BTreeSet<&str>| backends.contains("Ssh");
            each += tests.iter().filter(|(_, with)| over_ssh(with)).count();
            let ones = tests.iter().filter(|(_, with)| !over_ssh(with));
            alone.extend(ones.map(|(name, _)| format!("{file}::{name}")));
        }
        for (name, with) in tests {
            let name = format!("{file}::{name}");
            let mut told = with;
            for (known, without, _) in NOT_OF_A_FILE {
                if *known == file {
                    told.extend(*without);
                }
            }
            for (known, without, _) in NOT_OF_A_TEST {
                if *known == name {
                    assert!(
                        told.is_disjoint(&without.iter().copied().collect()),
                        "{name}"
                    );
                    told.extend(*without);
                    of_tests.insert(*known);
                }
            }
            if told.len() < BACKENDS.len() {
                wrong.push((name, told));
            }
        }
        files.insert(file);
    }
    assert!(
        wrong.is_empty(),
        "neither run with all nor told why: {wrong:#?}"
    );
    assert_eq!(
        of_tests.len(),
        NOT_OF_A_TEST.len(),
        "one is not there: {of_tests:?}"
    );
    assert!(NOT_OF_A_FILE.iter().all(|(file, ..)| files.contains(*file)));
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
