//! What somebody met who used the program for the first time, in a world that is not as it should be.

use rstest::rstest;
use serde_json::{Value, json};

use crate::world::World;

fn rows(world: &World) -> Vec<Value> {
    let document = world.run(&["doctor", "--json"]).json();
    document["checks"].as_array().unwrap().clone()
}

fn row<'r>(rows: &'r [Value], what: &str) -> &'r Value {
    let mut found = rows.iter().filter(|row| row["what"] == what);
    found.next().unwrap_or_else(|| panic!("no {what}"))
}

/// What a file, a name or a path has in it cannot control the terminal of who looks at it.
#[rstest]
#[case::an_unknown_key("\"mo\\u001b[31mdel\" = 3\n", &["config", "check"])]
#[case::an_unknown_key_for_doctor("\"mo\\u001b[31mdel\" = 3\n", &["doctor"])]
#[case::a_program("[commands.c]\nprogram = \"/no/\\u001b[31mpe\"\n", &["config", "check"])]
#[case::a_program_for_doctor("[commands.c]\nprogram = \"/no/\\u001b[31mpe\"\n", &["doctor"])]
#[case::a_program_for_a_list("[commands.c]\nprogram = \"/no/\\u001b[31mpe\"\n", &["tools", "list"])]
#[case::a_server("[mcp.servers.s]\ncommand = \"/no/\\u001b[31mpe\"\n", &["tools", "list"])]
#[case::a_prompt("[agent]\nsystem_prompt = \"a \\u001b[31m b\"\n", &["config", "explain", "--prompt"])]
fn what_a_configuration_says_controlled_the_terminal(#[case] toml: &str, #[case] args: &[&str]) {
    let ran = World::with(toml).run(args);
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    assert!(shown.contains("␛[31m"), "{shown}");
}

#[test]
fn a_folder_with_a_line_break_in_its_name_broke_the_line_of_a_problem() {
    let world = World::new();
    world.write("new\nline/a.toml", "[agen]\n");
    let file = world.path("new\nline/a.toml");
    let ran = world.run(&["config", "check", "--config", file.to_str().unwrap()]);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.shown());
    assert!(
        ran.stdout.contains("new line/a.toml:1:2: unknown key"),
        "{}",
        ran.stdout
    );
}

/// It listed the models of all providers behind an empty hint.
#[test]
fn a_script_that_is_wrong_was_answered_with_the_models_of_all_providers() {
    let world = World::with("[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\n");
    world.write("here/script.yaml", "[]\n");
    let rows = rows(&world);
    let model = row(&rows, "model");
    assert_eq!(model["status"], "fail");
    assert!(
        model["finding"]
            .as_str()
            .unwrap()
            .contains("it has no turns"),
        "{model}"
    );
    assert_eq!(model.get("hint"), None, "{model}");
    let rows = self::rows(&World::new());
    let hint = row(&rows, "model")["hint"].as_str().unwrap();
    assert!(hint.contains("(defaults: anthropic/"), "{hint}");
}

/// A word of ours without its cause was all that was said.
#[test]
fn where_there_is_no_room_for_data_each_row_says_why_and_what_to_do() {
    let world = World::with("[store]\ndata_dir = \"/proc/self/nope\"\n");
    let rows = rows(&world);
    for what in ["store", "sandbox"] {
        let row = row(&rows, what);
        assert_eq!(row["status"], "fail", "{row}");
        assert!(row["hint"].as_str().unwrap().contains("data_dir"), "{row}");
    }
    let bwrap = row(&rows, "bwrap");
    if bwrap["finding"]
        .as_str()
        .unwrap()
        .contains("write the filter")
    {
        let finding = bwrap["finding"].as_str().unwrap();
        assert!(finding.contains("no such file or directory"), "{finding}");
    }
    let args = [
        "tools",
        "call",
        "calculator",
        "--args",
        r#"{"expression":"1"}"#,
    ];
    let ran = world.run(&args);
    assert!(
        ran.stderr.contains("hint: set [store] data_dir"),
        "{}",
        ran.shown()
    );
}

#[rstest]
#[case::nothing_says_where_data_lives(
    &["sessions", "list"], &[("HOME", "")], 2,
    "error: failed to find a place for data: neither HOME nor [store] data_dir is set\n\
     hint: set HOME, or write [store] data_dir in outfitter.toml\n"
)]
#[case::a_workspace_that_is_not_there(
    &["tools", "call", "calculator", "--workspace", "/nope"], &[], 2,
    "error: failed to use the workspace /nope: it is not there\n\
     hint: --workspace names an existing directory\n"
)]
#[case::a_workspace_that_is_everything(
    &["tools", "call", "calculator", "--workspace", "/"], &[], 2,
    "error: failed to use the workspace /: a command could write everything, so nothing would hold \
     it back\n\
     hint: --workspace names a directory in it; it is the current one otherwise\n"
)]
#[case::a_file_of_arguments_that_is_not_there(
    &["tools", "call", "calculator", "--args", "@/nope.json"], &[], 2,
    "error: failed to read the arguments from /nope.json: no such file or directory (os error 2)\n"
)]
#[case::a_temporary_folder_that_is_not_there(
    &["demo"], &[("TMPDIR", "/nope")], 1, "error: failed to lay out the workspace: no such file or directory"
)]
#[case::a_question_that_nobody_asked(
    &["sessions", "answer", "int_nope", "x"], &[], 5,
    "error: failed to find the question int_nope\nhint: `outfitter sessions list` says which sessions wait"
)]
#[case::an_approval_that_nobody_gave(
    &["approvals", "revoke", "apr_nope"], &[], 5,
    "error: failed to find the approval apr_nope\nhint: `outfitter approvals list` lists them\n"
)]
fn an_error_said_its_cause_in_anothers_words_or_nothing_to_do(
    #[case] args: &[&str],
    #[case] variables: &[(&str, &str)],
    #[case] code: i32,
    #[case] said: &str,
) {
    let ran = World::new().run_with(args, variables);
    assert_eq!(ran.code, code, "{}", ran.shown());
    assert!(ran.stderr.contains(said), "{}", ran.shown());
}

/// The hint was to wait, which helps nothing.
#[test]
fn a_strange_lock_was_to_be_waited_for() {
    let world = World::new();
    let args = [
        "tools",
        "call",
        "calculator",
        "--session",
        "s",
        "--args",
        r#"{"expression":"1"}"#,
    ];
    assert_eq!(world.run(&args).code, 0);
    let locks = world.path("home/.local/share/outfitter");
    let lock = found(&locks, "s.lock").unwrap();
    std::fs::write(lock, "4711\n").unwrap();
    for args in [
        &["sessions", "delete", "s", "--json"][..],
        &["run", "--session", "s", "--json"],
    ] {
        let world = &world;
        if args[0] == "run" {
            world.write(
                "here/outfitter.toml",
                "[model]\nprovider = \"scripted\"\nscript = \"s.yaml\"\n",
            );
            world.write("here/s.yaml", "- text: hi\n");
        }
        let ran = world.run(args);
        assert_eq!(ran.code, 1, "{}", ran.shown());
        let error = &ran.json()["error"];
        assert_eq!(
            (&error["code"], &error["retryable"], &error["hint"]),
            (
                &json!("conflict"),
                &json!(false),
                &json!("`outfitter doctor` says where it is")
            ),
            "{error}"
        );
    }
}

fn found(dir: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?.flatten();
    let mut entries = entries.map(|entry| entry.path());
    entries.find_map(|path| match path.ends_with(name) {
        true => Some(path),
        false => found(&path, name),
    })
}

const DESCRIBED: &str = r#"{"v": 1, "name": "p", "commands": [{"command": "a", "subcommand": "b", "skill": "s", "summary": "Does.", "effects": ["read"], "args": {"type": "object"}, "result": {"type": "object"}}]}"#;

/// It was said to be left out, and listed on the next line.
#[test]
fn what_was_listed_was_said_to_be_left_out() {
    let world = World::new();
    let program = world.path("prog");
    world.write(
        "here/outfitter.toml",
        &format!("[commands.prog]\nprogram = {program:?}\nlazy = true\n"),
    );
    let broken = "#!/bin/sh\necho broken >&2\nexit 3\n";
    // One that was never asked, and cannot be, is no failure: nothing that begins needs it.
    world.program("prog", broken);
    let ran = world.run(&["tools", "list"]);
    assert!(
        ran.stderr.contains("warning: commands: prog is left out: "),
        "{}",
        ran.shown()
    );
    let rows = rows(&world);
    assert_eq!(row(&rows, "commands")["status"], "warn", "{rows:?}");
    world.program("prog", &format!("#!/bin/sh\necho '{DESCRIBED}'\n"));
    assert_eq!(world.run(&["tools", "list"]).stderr, "");
    world.program("prog", broken);
    let ran = world.run(&["tools", "list"]);
    assert!(ran.stdout.contains("project_cli"), "{}", ran.shown());
    assert_eq!(
        ran.stderr,
        "warning: commands: prog is listed as it was known, and its calls are unavailable: \
         describe ended with exit 3: broken\n"
    );
}
