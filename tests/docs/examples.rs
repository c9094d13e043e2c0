//! The examples of all pages.

use std::io::Write as _;

use crate::block::split;
use crate::check::{Report, check};
use crate::page::{Page, pages};

#[test]
fn every_example_is_what_happens() {
    let pages = pages();
    let reports: Vec<Report> = std::thread::scope(|scope| {
        let running: Vec<_> = pages
            .iter()
            .map(|page| scope.spawn(move || check(page)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let mut faults = Vec::new();
    let mut commands = 0;
    for report in reports {
        faults.extend(report.faults);
        commands += report.commands;
        for (what, line) in report.skipped {
            println!("SKIPPED({what}): {line}");
        }
        for line in report.not_run {
            say(&format!("NOT RUN: {line}\n"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    // A page whose examples are no longer found would pass silently.
    assert!(commands >= 30, "{commands} commands were run");
}

/// Says what nobody runs also where the test passes, so that it is never forgotten.
fn say(line: &str) {
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// What a block says, run as a page of its own.
fn faults(text: &str) -> Vec<String> {
    let page = Page {
        name: "page.md".to_owned(),
        text: text.to_owned(),
    };
    check(&page).faults
}

#[test]
fn the_test_itself_notices_what_is_wrong() {
    for (text, wrong) in [
        ("```console\n$ echo a\na\n```\n", false),
        ("```console\n$ echo a\nb\n```\n", true),
        ("```console\n$ false\n```\n", true),
        ("```console\n$ false\n[exit 1]\n```\n", false),
        ("```console\n$ outfitter config chek\n```\n", true),
        (
            "```console\n# not run by the tests: no reason\n$ false\n```\n",
            false,
        ),
        (
            "```sh x.sh\necho $1\n```\n```console\n$ sh x.sh 7\n7\n```\n",
            false,
        ),
        (
            "```console\n$ echo $OPENAI_API_KEY; echo $HOME | grep -c home\n\n1\n```\n",
            false,
        ),
        ("```toml\n[agent]\nmax_turns = 3\n```\n", false),
        ("```toml\n[agent]\nmax_truns = 3\n```\n", true),
        (
            "```toml outfitter.toml\n[agent]\nmax_turns = 0\n```\n",
            true,
        ),
        ("```json\n{}\n```\n", false),
        ("```json\n{\n```\n", true),
        ("```ndjson\n{}\n{}\n```\n", false),
        ("```rust\nfn main() {}\n```\n", true),
        ("```text\n$ outfitter\n```\n", true),
        ("```sh\noutfitter demo\n```\n", true),
        ("```\noutfitter demo\n```\n", true),
        ("so:\n\n    outfitter demo\n", true),
    ] {
        assert_eq!(!faults(text).is_empty(), wrong, "{text}");
    }
}

#[test]
fn the_two_commands_of_a_newcomer_stand_in_the_readme() {
    let readme = crate::page::page("README.md");
    let (blocks, _) = split(&readme.text);
    for command in ["$ cargo run --release -- demo", "$ cargo test --workspace"] {
        let found = blocks.iter().any(|block| block.text.contains(command));
        assert!(found, "README.md does not say {command:?}");
    }
}
