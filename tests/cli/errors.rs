//! How the program fails.

use rstest::rstest;
use serde_json::json;

use crate::world::World;

#[rstest]
#[case::misspelt_command(&["cofnig"])]
#[case::misspelt_subcommand(&["config", "chek"])]
#[case::misspelt_option(&["config", "check", "--jsno"])]
#[case::no_command(&[])]
#[case::no_subcommand(&["config"])]
#[case::a_value_is_missing(&["config", "check", "--config"])]
#[case::too_much(&["config", "check", "more"])]
fn a_wrong_command_line_is_one_line_and_a_hint(#[case] args: &[&str]) {
    let ran = World::new().run(args);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.stdout, "");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].starts_with("error: failed to read the command line: "),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("hint: "), "{lines:?}");
    insta::with_settings!({ snapshot_suffix => args.join("-") }, {
        insta::assert_snapshot!(ran.stderr);
    });
}

#[rstest]
#[case(&["config", "check", "--json", "more"])]
#[case(&["--json", "cofnig"])]
#[case(&["config", "explain", "--config", "none.toml", "--json"])]
fn with_json_an_error_is_a_document_on_stdout_too(#[case] args: &[&str]) {
    let ran = World::new().run(args);
    assert_eq!(ran.code, 2);
    let document = ran.json();
    let schema = include_str!("../../docs/protocols/error.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    jsonschema::validate(&schema, &document).unwrap();
    assert_eq!(document["error"]["code"], "usage");
    assert_eq!(document["error"]["retryable"], json!(false));
    assert!(
        ran.stderr.starts_with("error: failed to "),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stdout.lines().count(), 1);
}

#[test]
fn what_comes_after_two_dashes_is_no_option() {
    let ran = World::new().run(&["config", "check", "--", "--json"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.stdout, "");
}

#[rstest]
#[case(&["--help"])]
#[case(&["config", "--help"])]
#[case(&["config", "schema"])]
#[case(&["config", "explain"])]
#[case(&["config", "check"])]
fn a_stdout_that_nobody_reads_ends_the_program_quietly(#[case] args: &[&str]) {
    let ran = World::new().run_unread(args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_failure_stays_one_when_nobody_reads_stdout() {
    let ran = World::with("[a]\nb = 1\n").run_unread(&["config", "explain"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
}

#[rstest]
#[case(&["--version"])]
#[case(&["--help"])]
#[case(&["config", "--help"])]
fn help_is_data(#[case] args: &[&str]) {
    let ran = World::new().run(args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(!ran.stdout.is_empty());
    assert!(!ran.stdout.contains('\u{1b}'));
}

#[test]
fn what_does_not_exist_yet_is_not_in_the_help() {
    let help = World::new().run(&["--help"]).stdout;
    for word in ["mcp", "memory", "tasks", "worker", "token", "trust"] {
        let listed = help
            .lines()
            .any(|line| line.split_whitespace().next() == Some(word));
        assert!(!listed, "{word} is listed:\n{help}");
        assert_eq!(World::new().run(&[word]).code, 2, "{word}");
    }
}
