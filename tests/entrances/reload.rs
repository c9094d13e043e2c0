//! A server takes its configuration anew with SIGHUP: whole or not at all, at once, and in
//! sessions that are open.

use serde_json::{Value, json};

use crate::http::At;
use crate::mcp::{self, Mcp};
use crate::scripted::{ADMIN, configured, scripted};
use crate::served::{Serving, ends, of, outputs, words};
use crate::world::World;

fn world(script: &Value) -> World {
    scripted(script, ADMIN)
}

fn script() -> Value {
    json!([{"text": "done"}])
}

fn listed(at: &At) -> Vec<String> {
    let tools = at.get("/v1/tools").json();
    let names = tools.as_array().unwrap().iter();
    names
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn has(at: &At, tool: &str) -> bool {
    listed(at).iter().any(|name| name == tool)
}

fn code(at: &At, tool: &str, arguments: &Value) -> Option<String> {
    let output = at.call("s", tool, arguments).json();
    output["error"]["code"].as_str().map(ToOwned::to_owned)
}

#[test]
fn commands_are_switched_off_and_on_at_once() {
    let world = world(&script());
    let serving = Serving::start(&world);
    let at = &serving.at;
    let command = json!({"command": "true"});
    let client = Mcp::legacy(at);
    assert_eq!(code(at, "execute_shell_command", &command), None);
    assert!(client.tools().contains(&"execute_shell_command".to_owned()));

    configured(&world, &format!("{ADMIN}[shell]\nenabled = false\n"));
    let said = serving.reload(1);
    assert!(said.contains("at once: shell.enabled\n"), "{said}");
    assert!(!has(at, "execute_shell_command"));
    // In the session that was there before, from every entrance.
    let unknown = Some("unknown_tool".to_owned());
    assert_eq!(code(at, "execute_shell_command", &command), unknown);
    assert_eq!(
        mcp::code(&client.call("execute_shell_command", &command)),
        unknown
    );
    assert!(!client.tools().contains(&"execute_shell_command".to_owned()));

    configured(&world, ADMIN);
    serving.reload(2);
    assert_eq!(code(at, "execute_shell_command", &command), None);
    assert!(client.tools().contains(&"execute_shell_command".to_owned()));
    let said = serving.reload(3);
    assert!(said.contains("nothing has changed"), "{said}");
    serving.stop();
}

#[test]
fn what_is_wrong_is_said_and_everything_stays() {
    let world = world(&script());
    let serving = Serving::start(&world);
    let at = &serving.at;
    let before = listed(at);
    configured(
        &world,
        &format!(
            "{ADMIN}[shell]\nenabled = false\n\
             [tools]\navailable = [\"calculater\", \"grepp\"]\n\
             presets.current_time = {{ timezon = \"UTC\" }}\n\
             [skills]\navailable = [\"nothing\"]\n"
        ),
    );
    let said = serving.reload(1);
    for wrong in ["calculater", "grepp", "timezon", "nothing"] {
        assert!(said.contains(wrong), "{wrong} in {said}");
    }
    assert!(said.contains("everything stays as it was"), "{said}");
    assert_eq!(listed(at), before);
    assert!(has(at, "execute_shell_command"));

    // Also what is no configuration at all.
    for (time, toml, says) in [
        (2, "[shell]\nenabeld = false\n", "shell.enabled"),
        (
            3,
            "[shell]\nenabled = false\n[agent]\nmax_turns = 0\n",
            "agent.max_turns",
        ),
        (4, "][", "this is not TOML"),
    ] {
        configured(&world, toml);
        let said = serving.reload(time);
        assert!(said.contains(says), "{said}");
        assert_eq!(listed(at), before);
    }
    serving.stop();
}

#[test]
fn what_needs_a_restart_is_named_and_waits_for_it() {
    let world = world(&script());
    let serving = Serving::start(&world);
    let rest = format!(
        "{ADMIN}[agent]\nmax_turns = 3\n[server]\nheartbeat_seconds = 5\n\
         [mcp.servers.notes]\nbuiltin = \"notes\"\n"
    );
    configured(&world, &rest);
    for time in 1..=2 {
        let said = serving.reload(time);
        let restart = "after a restart: mcp.servers, server.heartbeat_seconds\n";
        assert!(said.contains(restart), "{said}");
        assert_eq!(
            said.contains("at once: agent.max_turns\n"),
            time == 1,
            "{said}"
        );
    }
    assert!(!has(&serving.at, "notes__add"));
    serving.stop();
    let serving = Serving::start(&world);
    assert!(has(&serving.at, "notes__add"));
    serving.stop();
}

/// Roles, allow-lists, modes, presets and limits, each way.
#[test]
fn permissions_and_limits_follow_both_ways() {
    let world = world(&script());
    let serving = Serving::start(&world);
    let at = &serving.at;
    let write = json!({"path": "a.txt", "content": "a"});
    let clock = json!({"timezone": "Asia/Tokyo"});
    let mut time = 0;
    let mut now = |rest: &str| {
        configured(&world, rest);
        time += 1;
        let said = serving.reload(time);
        assert!(said.starts_with("reloaded"), "{said}");
    };
    let refused = |code: &str| Some(code.to_owned());
    assert_eq!(code(at, "file_write", &write), None);

    now("[permissions]\nhttp_role = \"guest\"\n");
    assert_eq!(code(at, "file_write", &write), refused("not_permitted"));
    now(&format!("{ADMIN}[tools]\navailable = [\"calculator\"]\n"));
    assert_eq!(code(at, "file_write", &write), refused("unknown_tool"));
    assert_eq!(listed(at), ["calculator"]);
    now(&format!("{ADMIN}[agent]\nmode = \"plan\"\n"));
    assert_eq!(code(at, "file_write", &write), refused("not_permitted"));
    assert_eq!(code(at, "current_time", &clock), None);
    let started = at.run("mode").lines();
    assert_eq!(of(&started, "run_started")[0]["mode"], "plan");
    now(&format!(
        "{ADMIN}[tools.presets.current_time]\ntimezone = \"Asia/Tokyo\"\n"
    ));
    assert_eq!(code(at, "file_write", &write), None);
    assert_eq!(
        code(at, "current_time", &clock),
        refused("invalid_arguments")
    );
    let told = at.call("s", "current_time", &json!({})).is(200).json();
    assert_eq!(told["result"]["timezone"], "Asia/Tokyo", "{told}");
    assert_eq!(told["tool_call_args"], json!({}));
    now(&format!(
        "{ADMIN}[files]\nmax_read_bytes = 1024\n[tools]\nmax_result_tokens = 100\n"
    ));
    let long = at
        .call("s", "calculator", &json!({"expression": "9^999"}))
        .is(200)
        .json();
    assert!(
        long["truncated"].is_object() || long["artifacts"].is_array(),
        "{long}"
    );
    now(ADMIN);
    assert_eq!(code(at, "current_time", &clock), None);
    let whole = at
        .call("s", "calculator", &json!({"expression": "9^999"}))
        .is(200)
        .json();
    assert!(whole.get("artifacts").is_none(), "{whole}");
    serving.stop();
}

/// A run that is under way sees it with its next calls: what it was shown is not called any more.
#[test]
fn a_run_under_way_is_held_to_what_holds_now() {
    let waits = json!({"command": "touch begun; until [ -e go ]; do sleep 0.02; done"});
    let world = world(&json!([
        {"tool_calls": [{"id": "waits", "name": "execute_shell_command", "arguments": waits}]},
        {"tool_calls": [
            {"id": "late", "name": "execute_shell_command", "arguments": {"command": "echo late > late.txt"}},
            {"id": "written", "name": "file_write", "arguments": {"path": "b.txt", "content": "b"}},
            {"id": "read", "name": "list_dir", "arguments": {}},
        ]},
        {"text": "done"},
    ]));
    let serving = Serving::start(&world);
    let body = json!({"session_id": "s", "input": "go"});
    let mut reply = serving.at.open("POST", "/v1/runs", &[], Some(&body));
    let mut lines = reply.until("tool_call");
    let files = world.data("files/local/local/s");
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !files.join("begun").exists() {
        assert!(std::time::Instant::now() < limit, "it never began");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // The role goes, and commands with it.
    configured(
        &world,
        "[permissions]\nhttp_role = \"user\"\n[agent]\nmode = \"plan\"\n",
    );
    let said = serving.reload(1);
    assert!(said.contains("agent.mode, permissions.http_role"), "{said}");
    std::fs::write(files.join("go"), "").unwrap();
    while let Some(line) = reply.line() {
        lines.push(line);
    }
    ends(&lines, "success");
    let outputs = outputs(&lines);
    let of = |id: &str| {
        let output = outputs.iter().find(|output| output["tool_call_id"] == id);
        output.unwrap()["error"]["code"].clone()
    };
    assert_eq!(of("waits"), Value::Null);
    assert_eq!(of("late"), "not_permitted");
    assert_eq!(of("written"), "not_permitted");
    assert_eq!(of("read"), Value::Null);
    assert!(!files.join("late.txt").exists(), "it ran");
    serving.stop();
}

#[test]
fn another_model_answers_the_next_run() {
    let world = world(&json!([{"text": "old"}]));
    let serving = Serving::start(&world);
    let answer = |session: &str| {
        let lines = serving.at.run(session).lines();
        lines.last().unwrap()["output"]["answer"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(answer("one"), "old");
    world.write("other.yaml", "- text: new\n");
    world.config(&format!(
        "[model]\nprovider = \"scripted\"\nscript = {:?}\n{ADMIN}",
        world.work("other.yaml")
    ));
    let said = serving.reload(1);
    assert!(said.contains("at once: model.script\n"), "{said}");
    assert_eq!(answer("two"), "new");
    // One that is not there is refused, and the old one stays.
    world.config(&format!(
        "[model]\nprovider = \"scripted\"\nscript = {:?}\n{ADMIN}",
        world.work("none.yaml")
    ));
    let said = serving.reload(2);
    assert!(said.contains("everything stays as it was"), "{said}");
    assert_eq!(answer("three"), "new");
    serving.stop();
}

/// A mode that is none ends the stream of AG-UI before it does anything.
#[test]
fn a_mode_that_is_none_is_refused() {
    let world = world(&script());
    let serving = Serving::start(&world);
    let at = &serving.at;
    at.post("/v1/runs", &json!({"input": "go", "mode": "yolo"}))
        .is_problem(400, "invalid_arguments");
    let mut input = words("m1");
    input["forwardedProps"] = json!({"outfitter": {"mode": "yolo"}, "mode": "theirs"});
    let told = at.agui("t", "r1", &input).sse();
    assert_eq!(told.last().unwrap()["type"], "RUN_ERROR", "{told:#?}");
    input["forwardedProps"] = json!({"mode": "theirs"});
    let told = at.agui("t", "r2", &input).sse();
    assert_eq!(told.last().unwrap()["type"], "RUN_FINISHED", "{told:#?}");
    serving.stop();
}

#[test]
fn workflows_follow_at_once_and_a_turn_keeps_the_one_it_has() {
    let script = json!([
        {"tool_calls": [{"id": "q", "name": "ask_user", "arguments": {"question": "which?"}}]},
        {"text": "done"},
    ]);
    let world = world(&script);
    let with = |step: &str| {
        format!(
            "{ADMIN}[agent]\nworkflow = \"release\"\n[[workflows]]\nname = \"release\"\n\
             steps = [{step:?}]\n"
        )
    };
    configured(&world, &with("Tag it."));
    let serving = Serving::start(&world);
    let at = &serving.at;
    let events = serving.run("s").lines();
    assert_eq!(events[0]["workflow"], "release");
    let question = of(&events, "question")[0]["question_id"].clone();

    configured(&world, ADMIN);
    let said = serving.reload(1);
    assert!(
        said.contains("at once: agent.workflow, workflows\n"),
        "{said}"
    );
    let body = json!({"input": "go", "workflow": "release"});
    let gone = at.post("/v1/runs", &body).is(422).json();
    assert_eq!(gone["code"], "invalid_arguments");
    assert_eq!(serving.run("t").lines()[0].get("workflow"), None);
    // The turn that waited is told what it was told.
    let events = at.answer(question.as_str().unwrap(), &json!("this"));
    assert_eq!(events[0]["workflow"], "release");

    configured(&world, &with("Sign it."));
    serving.reload(2);
    assert_eq!(serving.run("u").lines()[0]["workflow"], "release");
    serving.stop();
}
