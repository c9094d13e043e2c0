//! Approvals for longer than a call: given at one entrance, known at the others, listed and taken
//! back.

use serde_json::{Value, json};

use crate::scripted::{ADMIN, configured, scripted};
use crate::served::{Serving, ends, of, outputs, words};
use crate::terminal::Terminal;
use crate::world::{Ran, World};

/// A world whose commands are not isolated, with a model that runs one command in each turn.
fn world(more: &str) -> World {
    let turns: Vec<Value> = (0..8)
        .flat_map(|number| {
            let arguments = json!({"command": "touch done.txt"});
            let call = json!({"id": format!("call{number}"), "name": "execute_shell_command", "arguments": arguments});
            [json!({"tool_calls": [call]}), json!({"text": "all done"})]
        })
        .collect();
    scripted(&Value::from(turns), &unconfined(more))
}

fn unconfined(more: &str) -> String {
    format!("{ADMIN}{more}\n[sandbox]\nbackend = \"passthrough\"\n")
}

#[track_caller]
fn waits(lines: &[Value]) -> &Value {
    ends(lines, "waiting");
    of(lines, "approval")[0]
}

/// Whether the command of the last turn ran.
#[track_caller]
fn ran(lines: &[Value]) -> bool {
    ends(lines, "success");
    assert!(of(lines, "approval").is_empty(), "{lines:#?}");
    let last = outputs(lines).pop().unwrap().clone();
    match last["error"]["code"].as_str() {
        None => true,
        Some("needs_approval" | "not_permitted") => false,
        Some(other) => panic!("{other}"),
    }
}

fn unattended(world: &World, session: &str) -> Vec<Value> {
    lines(world.run(&["run", "--json", "--session", session, "go"]))
}

fn lines(ran: Ran) -> Vec<Value> {
    let text = ran.exits(0).stdout;
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn e06_always_over_http_outlives_the_server_is_listed_and_taken_back() {
    let world = world("");
    let serving = Serving::start(&world);
    let lines = serving.at.run("a").lines();
    let asked = waits(&lines);
    assert_eq!(asked["scopes"], json!(["once", "session", "always"]));
    let path = format!("/v1/approvals/{}", asked["approval_id"].as_str().unwrap());
    let forever = json!({"decision": "approve", "scope": "forever"});
    serving
        .at
        .post(&path, &forever)
        .is_problem(400, "invalid_arguments");
    let always = json!({"decision": "approve", "scope": "always"});
    let told = serving.at.post(&path, &always).is(202).json();
    assert!(ran(&serving.at.follow(told["run_id"].as_str().unwrap())));
    serving.at.post(&path, &always).is_problem(409, "conflict");

    let list = serving.at.get("/v1/approvals").is(200).json();
    let row = &list["approvals"][0];
    assert_eq!(list["approvals"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(row["what"], json!(["touch done.txt"]));
    assert_eq!(
        (&row["tool"], &row["place"]),
        (&json!("execute_shell_command"), &json!("passthrough own"))
    );
    assert_eq!(row["session_id"], "a");
    let lasts = row["expires"].as_u64().unwrap() - row["created"].as_u64().unwrap();
    assert_eq!(lasts, 30 * 24 * 60 * 60 * 1_000);
    serving.stop();

    let serving = Serving::start(&world);
    assert!(ran(&serving.at.run("b").lines()));
    // A rule that denies wins, from the next call on; without it the yes is there again.
    configured(
        &world,
        &unconfined("rules = [{ tool = \"*command\", args = \"touch *\", decision = \"deny\" }]"),
    );
    serving.reload(1);
    assert!(!ran(&serving.at.run("c").lines()));
    configured(&world, &unconfined("approval = \"never\""));
    serving.reload(2);
    assert!(!ran(&serving.at.run("d").lines()));
    configured(&world, &unconfined(""));
    serving.reload(3);
    assert!(ran(&serving.at.run("e").lines()));
    // A direct call asks nobody, and is made as well.
    let direct = json!({"command": "touch done.txt"});
    let output = serving
        .at
        .call("f", "execute_shell_command", &direct)
        .json();
    assert_eq!(output["status"], "success", "{output}");
    let other = json!({"command": "touch other.txt"});
    let output = serving.at.call("f", "execute_shell_command", &other).json();
    assert_eq!(output["error"]["code"], "needs_approval", "{output}");

    let path = format!("/v1/approvals/{}", row["id"].as_str().unwrap());
    serving.at.delete(&path).is(204);
    serving.at.delete(&path).is_problem(404, "not_found");
    serving
        .at
        .delete("/v1/approvals/..%2f")
        .is_problem(404, "not_found");
    assert_eq!(
        serving.at.get("/v1/approvals").json()["approvals"],
        json!([])
    );
    waits(&serving.at.run("b").lines());
    serving.stop();
}

#[test]
fn always_lasts_as_many_days_as_the_configuration_says() {
    const DAY: u64 = 24 * 60 * 60 * 1_000;
    let world = world("always_days = 3");
    let serving = Serving::start(&world);
    let always = |session: &str| {
        let id = waits(&serving.at.run(session).lines())["approval_id"].clone();
        let path = format!("/v1/approvals/{}", id.as_str().unwrap());
        let body = json!({"decision": "approve", "scope": "always"});
        let told = serving.at.post(&path, &body).is(202).json();
        assert!(ran(&serving.at.follow(told["run_id"].as_str().unwrap())));
        let list = serving.at.get("/v1/approvals").is(200).json();
        let row = list["approvals"][0].clone();
        let path = format!("/v1/approvals/{}", row["id"].as_str().unwrap());
        serving.at.delete(&path).is(204);
        row["expires"].as_u64().unwrap() - row["created"].as_u64().unwrap()
    };
    assert_eq!(always("a"), 3 * DAY);
    configured(&world, &unconfined("always_days = 7"));
    serving.reload(1);
    assert_eq!(always("b"), 7 * DAY);
    serving.stop();
}

#[test]
fn over_http_a_session_is_approved_for_itself_alone_and_always_only_by_administrators() {
    let world = world("");
    let serving = Serving::start(&world);
    let approve = |lines: &[Value], scope: &str| {
        let id = waits(lines)["approval_id"].as_str().unwrap().to_owned();
        let body = json!({"decision": "approve", "scope": scope});
        serving.at.post(&format!("/v1/approvals/{id}"), &body)
    };
    let told = approve(&serving.at.run("a").lines(), "session")
        .is(202)
        .json();
    assert!(ran(&serving.at.follow(told["run_id"].as_str().unwrap())));
    assert!(ran(&serving.at.run("a").lines()));
    let asked = serving.at.run("b").lines();
    waits(&asked);
    assert_eq!(
        serving.at.get("/v1/approvals").json()["approvals"],
        json!([])
    );
    // An administrator was asked, and a user answers.
    configured(&world, &unconfined(""));
    let toml = std::fs::read_to_string(world.work("outfitter.toml")).unwrap();
    world.config(&toml.replace("\"admin\"", "\"user\""));
    serving.reload(1);
    approve(&asked, "always").is_problem(403, "not_permitted");
    configured(&world, &unconfined(""));
    serving.reload(2);
    approve(&asked, "always").is(202);
    serving.stop();
}

#[test]
fn a_yes_over_agui_holds_as_long_as_it_says() {
    let world = world("");
    let serving = Serving::start(&world);
    let go = |thread: &str, run: &str, resume: Option<Value>| {
        let mut input = words(&format!("{thread}{run}"));
        input["protocolVersion"] = json!("1.0");
        if let Some((id, scope)) = resume
            .as_ref()
            .and_then(|one| one.as_array())
            .map(|one| (&one[0], &one[1]))
        {
            input["messages"] = json!([]);
            input["resume"] = json!([{"interruptId": id, "status": "resolved", "payload": {"approved": true, "scope": scope}}]);
        }
        let told = serving.at.agui(thread, run, &input).sse();
        told.last().unwrap().clone()
    };
    let asked = |last: &Value| {
        let interrupt = &last["outcome"]["interrupts"][0];
        assert_eq!(
            interrupt["responseSchema"]["properties"]["scope"]["enum"],
            json!(["once", "session", "always"]),
            "{last}"
        );
        interrupt["id"].clone()
    };
    let success = |last: &Value| assert_eq!(last["outcome"]["type"], "success", "{last}");
    let id = asked(&go("a", "1", None));
    success(&go("a", "2", Some(json!([id, "session"]))));
    success(&go("a", "3", None));
    let id = asked(&go("b", "1", None));
    success(&go("b", "2", Some(json!([id, "always"]))));
    // Sent twice it is told again, and with another scope it is another answer.
    success(&go("b", "3", Some(json!([id, "always"]))));
    let other = go("b", "4", Some(json!([id, "once"])));
    assert_eq!(other["type"], "RUN_ERROR", "{other}");
    success(&go("c", "1", None));
    assert_eq!(
        serving.at.get("/v1/approvals").json()["approvals"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    serving.stop();
}

#[test]
fn a_direct_call_in_no_session_did_not_know_what_was_approved_for_its_workspace() {
    let world = world("");
    let call = || {
        let args = ["--json", "tools", "call", "execute_shell_command", "--args"];
        let ran = world.run(&[&args[..], &["{\"command\": \"touch done.txt\"}"]].concat());
        let output: Value = serde_json::from_str(&ran.stdout).unwrap();
        output["error"]["code"].clone()
    };
    assert_eq!(call(), "needs_approval");
    let mut terminal = Terminal::start(&world, &["run", "--session", "one", "go"]);
    terminal.until("a: always");
    terminal.until("> ");
    terminal.types("a\n");
    terminal.until("all done");
    assert_eq!(terminal.exits(), 0);
    assert_eq!(call(), Value::Null);
    let sessions = world.run(&["--json", "sessions", "list"]).exits(0).stdout;
    let sessions: Value = serde_json::from_str(&sessions).unwrap();
    assert_eq!(
        sessions["sessions"].as_array().unwrap().len(),
        1,
        "{sessions}"
    );
}

/// Who is asked sees each character of what would be run, also one that has no width or turns the
/// line around.
#[test]
fn d05_an_approval_hid_a_part_of_the_command() {
    const HIDING: [char; 5] = ['\u{202e}', '\u{200b}', '\u{2066}', '\u{feff}', '\u{200d}'];
    let hidden: String = HIDING.iter().map(|hides| format!("x{hides}x ")).collect();
    let arguments = json!({"command": format!("echo {hidden}> done.txt")});
    let call = json!({"id": "c", "name": "execute_shell_command", "arguments": arguments});
    let turns = json!([{"tool_calls": [call]}, {"text": "all done"}]);
    let world = scripted(&turns, &unconfined(""));
    let mut terminal = Terminal::start(&world, &["run", "go"]);
    let asked = terminal.until("allow it?");
    for hides in HIDING {
        let shown = format!("<U+{:04X}>x", u32::from(hides));
        assert!(asked.contains(&shown), "{shown} is not in {asked:?}");
    }
    terminal.until("> ");
    terminal.types("n\n");
    let (code, rest) = terminal.ends();
    assert_eq!(code, 0);
    for screen in [asked, rest] {
        assert!(!screen.contains(HIDING), "{screen:?}");
    }
    assert!(!world.work("done.txt").exists());
}

/// At the terminal: `s` for the session, while somebody is there; `a` for the workspace, also where
/// nobody is; neither where nobody shall be asked.
#[test]
fn c10_at_the_terminal_a_session_needs_its_person_and_always_does_not() {
    let world = world("");
    let typed = |session: &str, answer: &str| {
        let mut terminal = Terminal::start(&world, &["run", "--session", session, "go"]);
        terminal.until("a: always");
        terminal.until("> ");
        terminal.types(answer);
        terminal.until("all done");
        assert_eq!(terminal.exits(), 0);
    };
    let unasked = |session: &str| {
        let mut terminal = Terminal::start(&world, &["run", "--session", session, "go"]);
        terminal.until("all done");
        assert_eq!(terminal.exits(), 0);
    };
    typed("one", "s\n");
    assert!(world.work("done.txt").exists());
    unasked("one");
    assert!(!ran(&unattended(&world, "one")));
    assert!(!ran(&unattended(&world, "two")));

    typed("two", "a\n");
    for session in ["one", "two", "three"] {
        assert!(ran(&unattended(&world, session)), "{session}");
    }
    unasked("four");
    let never = world.run(&[
        "run",
        "--json",
        "--approval",
        "never",
        "--session",
        "two",
        "go",
    ]);
    assert!(!ran(&lines(never)));
    // Elsewhere it is another call.
    std::fs::create_dir(world.root().join("elsewhere")).unwrap();
    let elsewhere = world.root().join("elsewhere").display().to_string();
    let there = world.run(&["run", "--json", "--workspace", &elsewhere, "go"]);
    assert!(!ran(&lines(there)));

    let list = world.run(&["approvals", "list"]).exits(0).stdout;
    assert!(
        list.contains("touch done.txt") && list.contains("execute_shell_command"),
        "{list}"
    );
    let list = world.run(&["approvals", "list", "--json"]).exits(0).json();
    let row = &list["approvals"][0];
    assert_eq!(
        row["place"],
        format!("passthrough {}", world.work("").display()).trim_end_matches('/')
    );
    assert_eq!(row["session_id"], "two");
    let id = row["id"].as_str().unwrap();
    let gone = world
        .run(&["approvals", "revoke", id, "--json"])
        .exits(0)
        .json();
    assert_eq!(gone, json!({"v": 1, "revoked": id}));
    let again = world.run(&["approvals", "revoke", id]).exits(5);
    assert!(
        again.stderr.contains("failed to find the approval"),
        "{}",
        again.stderr
    );
    assert_eq!(
        world.run(&["approvals", "list", "--json"]).json()["approvals"],
        json!([])
    );
    assert!(!ran(&unattended(&world, "two")));
}

#[test]
fn sessions_answer_takes_the_words_of_the_scopes() {
    let world = world("");
    let left_open = |session: &str| {
        let mut terminal = Terminal::start(&world, &["run", "--session", session, "go"]);
        terminal.until("a: always");
        terminal.until("> ");
        terminal.types("\n");
        let (code, screen) = terminal.ends();
        assert_eq!(code, 1);
        let (_, id) = screen.split_once("sessions answer ").unwrap();
        id.split_whitespace()
            .next()
            .unwrap()
            .trim_matches('`')
            .to_owned()
    };
    let id = left_open("one");
    let wrong = world.run(&["sessions", "answer", &id, "forever"]);
    assert_ne!(wrong.code, Some(0), "{}", wrong.shown());
    assert!(!world.work("done.txt").exists());
    world.run(&["sessions", "answer", &id, "always"]).exits(0);
    assert!(world.work("done.txt").exists());
    assert!(ran(&unattended(&world, "two")));
    world.run(&["sessions", "answer", &id, "always"]).exits(1);
    let list = world.run(&["approvals", "list", "--json"]).json();
    assert_eq!(list["approvals"].as_array().unwrap().len(), 1, "{list}");
}
