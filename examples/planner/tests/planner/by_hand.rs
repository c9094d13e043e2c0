//! As people use it, at a terminal.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{World, run};

#[test]
fn a_person_writes_and_reads_without_json() {
    let world = World::new();
    let ran = world.run_with(
        &[
            "calendar",
            "write",
            "--title",
            "Lunch with Bob",
            "--start=2026-12-01T12:00:00Z",
            "--location=Café",
        ],
        None,
        "",
    );
    assert_eq!((ran.exit, &*ran.stderr), (0, ""), "{ran:?}");
    let ran = world.run_with(&["calendar", "read", "--from=2026-12-01"], None, "");
    let line = ran.stdout.trim_end();
    assert!(line.starts_with("evt_"), "{ran:?}");
    assert!(
        line.ends_with("  2026-12-01T12:00:00Z  2026-12-01T13:00:00Z  Lunch with Bob (Café)"),
        "{line}"
    );
    let ran = world.run_with(&["calendar", "read", "--to=2026-12-01"], None, "");
    assert_eq!(ran.stdout, "no events\n");
}

#[test]
fn help_tells_of_every_flag() {
    let ran = run(&["--help"], &[], "");
    assert_eq!(ran.exit, 0);
    insta::assert_snapshot!(ran.stdout);
}

#[rstest]
#[case(&[], "there is no command: try --help")]
#[case(&["calendar"], "calendar needs a subcommand")]
#[case(&["calendar", "burn"], "there is no calendar burn: try --help")]
#[case(&["calendar", "read", "today"], "\"today\" is no flag")]
#[case(&["calendar", "read", "--when=now"], "there is no flag --when")]
#[case(&["calendar", "read", "--from"], "--from has no value")]
#[case(&["calendar", "read", "--limit=many"], "limit is no whole number: \"many\"")]
#[case(&["calendar", "read", "--limit=0"], "limit is not 1 to 200")]
#[case(&["calendar", "read", "--from=a", "--from=b"], "--from is there twice")]
#[case(&["calendar", "read", "--from=2026-13-01"], "from is neither a day nor an instant as RFC 3339 has them: \"2026-13-01\"")]
#[case(&["calendar", "read", "--from=2026-12-01T09:00"], "from is neither a day nor an instant as RFC 3339 has them: \"2026-12-01T09:00\"")]
#[case(&["calendar", "write", "--title=x"], "a new event needs a start")]
#[case(&["calendar", "write", "--start=2026-12-01"], "a new event needs a title")]
#[case(&["calendar", "write", "--title= ", "--start=2026-12-01"], "the title is empty")]
#[case(&["calendar", "write", "--title=x", "--start=2026-12-02", "--end=2026-12-01"], "it would end before it begins")]
#[case(&["calendar", "write", "--delete"], "delete needs the id of an event")]
#[case(&["calendar", "write", "--attendees=bob", "--title=x", "--start=2026-12-01"], "attendees is an array, which only --stdin can hold")]
fn what_cannot_be_understood_is_said_in_one_line(#[case] argv: &[&str], #[case] message: &str) {
    let world = World::new();
    let ran = world.run_with(argv, None, "");
    assert_eq!(ran.stderr, format!("error: {message}\n"));
    assert_eq!((ran.exit, &*ran.stdout), (2, ""));
}

#[test]
fn a_wrong_command_line_of_a_program_is_answered_with_a_document() {
    let world = World::new();
    let ran = world.run_with(&["calendar", "burn", "--json"], None, "");
    assert_eq!(ran.code(), ("usage".to_owned(), 2));
}

#[test]
fn without_a_directory_there_is_no_calendar() {
    let ran = run(&["calendar", "read"], &[], "");
    assert_eq!(ran.exit, 8);
    assert_eq!(
        ran.stderr,
        "error: there is no calendar: PLANNER_DIR is not set\n"
    );
}

#[test]
fn what_it_says_of_itself_is_what_the_flags_are() {
    let ran = run(&["describe", "--json"], &[], "");
    assert_eq!(ran.exit, 0);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&document["v"], &document["name"]),
        (&json!(1), &json!("planner"))
    );
    insta::assert_json_snapshot!(document["commands"]);
}

#[test]
fn the_exits_are_those_of_every_project_cli() {
    for code in outfitter_core::Code::ALL {
        if let Some(exit) = outfitter_commands::exit_of(code) {
            let ours = planner::exit_of(code);
            assert!(ours == exit || ours == 1, "{code}: {ours} is not {exit}");
        }
    }
}
