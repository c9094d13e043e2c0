//! `tools call`: always one document, an exit status by its code.

use rstest::rstest;
use serde_json::{Value, json};

use crate::lines::assert_fits;
use crate::world::{Ran, World};

/// Calls a tool and gives what the program did; stdout is one result document.
#[track_caller]
pub(crate) fn called(world: &World, name: &str, args: &str, more: &[&str]) -> (Ran, Value) {
    let base = ["tools", "call", name, "--json", "--args", args];
    let ran = world.run(&[&base, more].concat());
    let output = ran.json();
    assert_fits("tool-output.schema.json", &output);
    assert_eq!(output["tool_name"], name);
    let exit = match output["status"].as_str().unwrap() {
        "success" | "partial" | "running" => 0,
        _ => exit_of(output["error"]["code"].as_str().unwrap()),
    };
    assert_eq!(ran.code, Some(exit), "{}", ran.shown());
    (ran, output)
}

/// Calls a tool that succeeds, and gives its result.
#[track_caller]
pub(crate) fn result(world: &World, name: &str, args: &Value) -> Value {
    let (_, output) = called(world, name, &args.to_string(), &[]);
    assert_eq!(output["status"], "success", "{output:#}");
    output["result"].clone()
}

/// Calls a tool that fails, and gives its error.
#[track_caller]
pub(crate) fn error(world: &World, name: &str, args: &Value) -> Value {
    let (_, output) = called(world, name, &args.to_string(), &[]);
    assert!(output["error"].is_object(), "{output:#}");
    output["error"].clone()
}

/// The exit status of a code, as the contract has it.
fn exit_of(code: &str) -> i32 {
    match code {
        "unknown_tool" | "not_found" => 5,
        "not_presented" | "not_permitted" | "needs_approval" | "denied" => 4,
        "invalid_arguments" | "usage" => 2,
        "unauthenticated" => 3,
        "timeout" => 124,
        "cancelled" | "interrupted" => 130,
        "conflict" | "busy" | "rate_limited" | "unavailable" | "too_large" | "protocol_error"
        | "failed" | "limit" | "internal" => 1,
        other => panic!("the code {other:?} is not in the contract"),
    }
}

#[rstest]
#[case::unknown("no_such_tool", "{}", "unknown_tool")]
#[case::no_tool_at_all("", "{}", "unknown_tool")]
#[case::later("search_memory", "{}", "unknown_tool")]
#[case::other_case("FILE_READ", r#"{"path":"a"}"#, "unknown_tool")]
#[case::no_json("file_read", "{\"path\":", "invalid_arguments")]
#[case::no_object("file_read", "[]", "invalid_arguments")]
#[case::missing("file_read", "{}", "invalid_arguments")]
#[case::unknown_parameter("file_read", r#"{"path":"a","x":1}"#, "invalid_arguments")]
#[case::wrong_type("file_read", r#"{"path":1}"#, "invalid_arguments")]
#[case::not_there("file_read", r#"{"path":"none.txt"}"#, "not_found")]
#[case::no_identity("file_read", r#"{"path":"a","user_id":"x"}"#, "invalid_arguments")]
#[case::division("calculator", r#"{"expression":"1/0"}"#, "")]
#[case::artifact("read_artifact", r#"{"id":"art_x"}"#, "not_found")]
#[case::job("await_shell", r#"{"task_id":"job_x"}"#, "not_found")]
fn a_call_that_fails_is_one_document(#[case] name: &str, #[case] args: &str, #[case] code: &str) {
    let (ran, output) = called(&World::new(), name, args, &[]);
    assert!(output["error"].is_object(), "{output}");
    if !code.is_empty() {
        assert_eq!(output["error"]["code"], code, "{output}");
    }
    assert!(
        output.get("result").is_none(),
        "no result, no key: {output}"
    );
    assert!(
        ran.stderr.starts_with("error: failed to "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.lines().count() <= 2, "{}", ran.stderr);
}

#[test]
fn a_wrong_argument_says_where_and_what() {
    let error = error(
        &World::new(),
        "file_read",
        &json!({"path": "a", "start_line": "x"}),
    );
    assert_eq!(error["code"], "invalid_arguments", "{error}");
    assert_eq!(error["path"], "/start_line", "{error}");
    assert!(
        error["expected"].is_string() && error["got"].is_string(),
        "{error}"
    );
}

#[test]
fn arguments_come_from_a_file_and_from_stdin() {
    let world = World::new();
    world.write("call.json", r#"{"expression":"6*7"}"#);
    let base = ["tools", "call", "calculator", "--json", "--args"];
    let from_file = world.run(&[&base[..], &["@call.json"]].concat()).exits(0);
    assert_eq!(from_file.json()["result"]["value"], 42);
    let args = [&base[..], &["-"]].concat();
    let from_stdin = world
        .run_with_stdin(&args, br#"{"expression":"6*7"}"#)
        .exits(0);
    assert_eq!(from_stdin.json()["result"]["value"], 42);
    let missing = world.run(&[&base[..], &["@none.json"]].concat()).exits(2);
    assert_eq!(missing.json()["error"]["code"], "usage");
    // Bytes that are no text are a mistake, not a crash.
    let args = [&base[..], &["-"]].concat();
    let noise = world.run_with_stdin(&args, b"\xff\xfe\x00");
    assert_eq!(noise.code, Some(2), "{}", noise.shown());
}

#[test]
fn without_json_the_result_is_on_stdout_and_the_error_on_stderr() {
    let world = World::new();
    let right = world
        .run(&[
            "tools",
            "call",
            "calculator",
            "--args",
            r#"{"expression":"6*7"}"#,
        ])
        .exits(0);
    assert_eq!(right.json()["value"], 42);
    let wrong = world.run(&["tools", "call", "nope"]).exits(5);
    assert_eq!(wrong.stdout, "");
    assert!(
        wrong.stderr.contains("error: failed to "),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_guest_sees_and_finds_neither_files_nor_commands() {
    let world = World::new();
    world.write("a.txt", "a");
    let listed = world
        .run(&["tools", "list", "--json", "--role", "guest"])
        .exits(0);
    let tools = listed.json();
    assert_fits("tool-list.schema.json", &tools);
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for name in ["calculator", "current_time", "read_artifact"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for name in [
        "file_read",
        "file_write",
        "glob",
        "grep",
        "list_dir",
        "execute_shell_command",
    ] {
        assert!(!names.contains(&name), "{names:?}");
        let shown = world
            .run(&["tools", "show", name, "--role", "guest"])
            .exits(5);
        assert!(
            !shown.stderr.contains("did you mean file"),
            "{}",
            shown.stderr
        );
        let (_, output) = called(&world, name, r#"{"path":"a.txt"}"#, &["--role", "guest"]);
        assert_eq!(output["error"]["code"], "not_permitted", "{name}");
        assert_eq!(output["status"], "denied", "{name}");
    }
    // A name that is nearly one does not betray it either.
    let (_, near) = called(&world, "file_raed", "{}", &["--role", "guest"]);
    assert!(!near["error"].to_string().contains("file_read"), "{near}");
}

#[test]
fn a_user_has_files_and_no_commands() {
    let world = World::new();
    world.write("a.txt", "a");
    let user = ["--role", "user"];
    let (_, read) = called(&world, "file_read", r#"{"path":"a.txt"}"#, &user);
    assert_eq!(read["status"], "success");
    let (_, shell) = called(
        &world,
        "execute_shell_command",
        r#"{"command":"true"}"#,
        &user,
    );
    assert_eq!(shell["error"]["code"], "not_permitted");
}

#[test]
fn an_allow_list_is_all_there_is() {
    let world = World::new();
    world.write("a.txt", "a");
    let names = |world: &World, args: &[&str]| -> Vec<String> {
        let listed = world
            .run(&[&["tools", "list", "--json"], args].concat())
            .exits(0);
        let tools = listed.json();
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(&world, &["--tools", "grep,calculator"]),
        ["calculator", "grep"]
    );
    let files = ["file_read", "file_update", "file_write"];
    assert_eq!(names(&world, &["--tools", "file_*"]), files);
    assert!(names(&world, &["--tools", ""]).is_empty());
    assert!(names(&world, &["--tools", "zzz_*"]).is_empty());
    let none = World::new().with("AGENT_TOOLS", "");
    assert!(names(&none, &[]).is_empty());
    let none = World::new();
    none.config("[tools]\navailable = []\n");
    assert!(names(&none, &[]).is_empty());
    let (_, output) = called(&none, "calculator", r#"{"expression":"1"}"#, &[]);
    assert_eq!(output["error"]["code"], "unknown_tool");
    // A flag goes before the file.
    assert_eq!(names(&none, &["--tools", "grep"]), ["grep"]);
    let (_, output) = called(
        &world,
        "grep",
        r#"{"pattern":"a"}"#,
        &["--tools", "calculator"],
    );
    assert_eq!(output["error"]["code"], "unknown_tool");
    assert!(!output["error"].to_string().contains("grep\""), "{output}");
}

#[test]
fn an_unknown_name_is_a_mistake_with_a_suggestion() {
    let world = World::new();
    for args in [
        &["tools", "list", "--tools", "grepp"][..],
        &["run", "--tools", "grepp", "hi"],
        &["tools", "call", "grep", "--tools", "grepp"],
    ] {
        let ran = world.run(args).exits(2);
        assert_eq!(ran.stdout, "");
        assert!(
            ran.stderr.contains("grepp") && ran.stderr.contains("`grep`")
                || ran.stderr.contains("grep?"),
            "{}",
            ran.stderr
        );
    }
    world.config("[tools]\navailable = [\"file_raed\"]\n");
    let ran = world.run(&["tools", "list"]).exits(2);
    assert!(ran.stderr.contains("file_read"), "{}", ran.stderr);
    world.config("[tools]\naliases = { x = \"file_raed\" }\n");
    let ran = world.run(&["tools", "list"]).exits(2);
    assert!(ran.stderr.contains("file_read"), "{}", ran.stderr);
}

#[test]
fn an_alias_is_called_and_never_listed() {
    let world = World::new();
    let (_, written) = called(&world, "write", r#"{"path":"a.txt","content":"hi\n"}"#, &[]);
    assert_eq!(written["status"], "success", "{written}");
    let (_, read) = called(&world, "read", r#"{"path":"a.txt"}"#, &[]);
    assert!(
        read["result"]["content"].to_string().contains("hi"),
        "{read}"
    );
    let listed = world.run(&["tools", "list", "--json"]).exits(0).json();
    for tool in listed.as_array().unwrap() {
        assert!(tool["name"] != "read" && tool["name"] != "write");
    }
    // The alias of what is not allowed is as unknown as that.
    let (_, output) = called(&world, "read", r#"{"path":"a.txt"}"#, &["--tools", "grep"]);
    assert_eq!(output["error"]["code"], "unknown_tool", "{output}");
    let (_, output) = called(&world, "read", r#"{"path":"a.txt"}"#, &["--role", "guest"]);
    assert_eq!(output["error"]["code"], "not_permitted", "{output}");
}

#[test]
fn secrets_in_arguments_are_not_kept() {
    let world = World::new().with("OPENAI_API_KEY", crate::world::KEY);
    let args = json!({"expression": "1", "password": "hunter2-hunter2"}).to_string();
    let (ran, output) = called(&world, "calculator", &args, &["--session", "s"]);
    assert!(
        !output["tool_call_args"].to_string().contains("hunter2"),
        "{}",
        ran.shown()
    );
    for (path, bytes) in world.kept() {
        let found = bytes.windows(7).any(|at| at == b"hunter2");
        assert!(!found, "the password is in {}", path.display());
    }
}

#[test]
fn a_direct_call_of_a_session_is_in_its_log_and_in_no_request() {
    let provider = crate::provider::Provider::start(crate::wire::Wire::OpenAi);
    let world = provider.world();
    let args = r#"{"expression":"6*7"}"#;
    called(&world, "calculator", args, &["--session", "s"]);
    let replay = world.run(&["sessions", "replay", "s", "--json"]).exits(0);
    let lines = crate::lines::Lines::replayed(&replay.stdout);
    assert_eq!(lines.outputs()[0]["result"]["value"], 42);
    crate::replies::goes_on(&world, &provider, crate::wire::Wire::OpenAi, "s");
    let asked = provider.last_request();
    assert_eq!(asked["messages"].as_array().unwrap().len(), 2, "{asked:#}");
}

#[test]
fn without_a_session_nothing_is_left_behind() {
    let world = World::new();
    called(&world, "calculator", r#"{"expression":"1"}"#, &[]);
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    assert_eq!(listed["sessions"], json!([]));
    let dirs = ["scratch", "artifacts", "jobs"];
    for dir in dirs {
        let inside = std::fs::read_dir(world.data(dir)).map_or(0, Iterator::count);
        assert_eq!(inside, 0, "{dir} has something");
    }
}
