//! One table from every entrance: who may call what, and what comes of it, is the same wherever a
//! call comes from. All that differs is who can be asked.

use std::collections::BTreeMap;

use outfitter::Mode::{self, Agent, Chat, Plan};
use outfitter::Role::{self, Admin, Guest, User};
use rstest::rstest;
use serde_json::{Value, json};

use crate::http::At;
use crate::mcp::{self, Mcp};
use crate::rows::Allowed::{All, None as Nothing, Some as Few};
use crate::rows::Backend::{Local, Passthrough};
use crate::rows::{Allowed, Artifacts, Case, Row, Somebody, rows, said, verdict};
use crate::served::{Serving, of, outputs, words};
use crate::ways::{WAYS, artifacts, named, script, world};
use crate::world::World;

/// What came of each row.
type Verdicts = BTreeMap<&'static str, String>;

#[rstest]
fn every_entrance_gives_the_same_verdict(
    #[values(Guest, User, Admin)] role: Role,
    #[values(All, Few, Nothing)] allowed: Allowed,
) {
    check(Case {
        role,
        allowed,
        backend: Local,
        mode: Agent,
    });
}

/// The mode narrows what role and allow-list leave, wherever it is said: by the configuration, by a
/// flag, by the request, or by the run that is gone on with.
#[rstest]
#[case(Plan, Guest, All)]
#[case(Plan, User, All)]
#[case(Plan, Admin, All)]
#[case(Plan, Admin, Few)]
#[case(Chat, Admin, All)]
#[case(Chat, Guest, Few)]
fn every_entrance_keeps_to_the_mode(
    #[case] mode: Mode,
    #[case] role: Role,
    #[case] allowed: Allowed,
) {
    check(Case {
        role,
        allowed,
        backend: Local,
        mode,
    });
}

#[rstest]
fn every_entrance_asks_before_it_runs_what_nothing_isolates(#[values(User, Admin)] role: Role) {
    check(Case {
        role,
        allowed: All,
        backend: Passthrough,
        mode: Agent,
    });
}

fn check(case: Case) {
    let world = world(case);
    let made = artifacts(&world);
    for way in WAYS {
        world.write(
            &format!("{way}.yaml"),
            script(&rows(&made[way]), way == "answered" || way == "resumed"),
        );
    }
    let mut wrong = Vec::new();
    let mut holds = |way: &str, somebody, got: Verdicts| {
        for row in rows(&made[way]) {
            let (got, expected) = (&got[row.id], verdict(&row, case, somebody));
            if *got != expected {
                wrong.push(format!("{way}: {}: {got}, and not {expected}", row.id));
            }
        }
    };

    let tools = format!("--tools={}", case.allowed.names().join(","));
    let got = by_run(&world, "run", &[], &made);
    holds("run", Somebody::MayComeBack, got);
    let got = by_run(&world, "run-tools", &[&tools], &made);
    holds("run-tools", Somebody::MayComeBack, got);
    let got = by_call(&world, "call", &[], &made);
    holds("call", Somebody::IsNot, got);
    if case.allowed == Few {
        let got = by_call(&world, "call-tools", &[&tools], &made);
        holds("call-tools", Somebody::IsNot, got);
    }

    if case.mode != Agent {
        let mode = format!("--mode={}", case.mode);
        let got = by_run(&world, "run-mode", &[&mode], &made);
        holds("run-mode", Somebody::MayComeBack, got);
        let got = by_call(&world, "call-mode", &[&mode], &made);
        holds("call-mode", Somebody::IsNot, got);
        let (lines, events) = by_asking_for_the_mode(&world, case.mode);
        let got = of_lines(&lines, &made["ndjson-mode"]);
        holds("ndjson-mode", Somebody::Attends, got);
        holds(
            "agui-mode",
            Somebody::Attends,
            of_agui(&events, &made["agui-mode"]),
        );
    }

    let serving = Serving::start_with(&world, &["--config", &named(&world, "ndjson")]);
    let at = &serving.at;
    let lines = at.run("ndjson").lines();
    holds(
        "ndjson",
        Somebody::Attends,
        of_lines(&lines, &made["ndjson"]),
    );
    let got = each(&made["http-call"], |row| {
        let whole = at.call("http-call", row.tool, &row.arguments);
        let output = whole.json();
        let code = output["error"]["code"].as_str();
        assert_eq!(whole.status, status(code), "{output}");
        of_output(&output)
    });
    holds("http-call", Somebody::IsNot, got);
    let got = by_mcp(at, &made["mcp"]);
    // A result over MCP has a code and no status.
    let with_status = got.into_iter().map(|(row, code)| match code {
        Some(code) => (row, said(&code)),
        None => (row, "success".to_owned()),
    });
    holds("mcp", Somebody::IsNot, with_status.collect());
    listings_agree(&world, at);
    serving.stop();

    let serving = Serving::start_with(&world, &["--config", &named(&world, "agui")]);
    let told = serving.at.agui("agui", "r1", &{
        let mut input = words("m1");
        input["protocolVersion"] = json!("1.0");
        input
    });
    holds(
        "agui",
        Somebody::Attends,
        of_agui(&told.sse(), &made["agui"]),
    );
    serving.stop();

    let got = by_naming(&world, case, &made["ndjson-tools"]);
    holds("ndjson-tools", Somebody::Attends, got);
    holds(
        "answered",
        Somebody::MayComeBack,
        by_answer(&world, &made["answered"]),
    );
    holds(
        "resumed",
        Somebody::Attends,
        by_resuming(&world, &made["resumed"]),
    );
    assert!(wrong.is_empty(), "{case:?}:\n{}", wrong.join("\n"));
}

fn each(artifacts: &Artifacts, call: impl Fn(&Row) -> String + Sync) -> Verdicts {
    let rows = rows(artifacts);
    rows.iter().map(|row| (row.id, call(row))).collect()
}

fn of_output(output: &Value) -> String {
    let status = output["status"]
        .as_str()
        .unwrap_or_else(|| panic!("{output}"));
    match output["error"]["code"].as_str() {
        Some(code) => format!("{status} {code}"),
        None => status.to_owned(),
    }
}

/// What the events of a run say of each call.
fn of_lines(lines: &[Value], artifacts: &Artifacts) -> Verdicts {
    let outputs = outputs(lines);
    each(artifacts, |row| {
        let output = outputs
            .iter()
            .find(|output| output["tool_call_id"] == row.id);
        let waits = ["approval", "question"].into_iter().find(|kind| {
            of(lines, kind)
                .iter()
                .any(|line| line["tool_call_id"] == row.id)
        });
        match (output, waits) {
            (Some(output), None) => of_output(output),
            (None, Some(kind)) => format!("waits {kind}"),
            (output, waits) => panic!("{}: {output:?} and {waits:?}: {lines:#?}", row.id),
        }
    })
}

fn of_agui(events: &[Value], artifacts: &Artifacts) -> Verdicts {
    let last = events.last().unwrap();
    assert_eq!(last["type"], "RUN_FINISHED", "{last}");
    let interrupts = last["outcome"]["interrupts"].as_array();
    each(artifacts, |row| {
        let result = events
            .iter()
            .find(|event| event["type"] == "TOOL_CALL_RESULT" && event["toolCallId"] == row.id);
        let waits = interrupts
            .into_iter()
            .flatten()
            .find(|interrupt| interrupt["toolCallId"] == row.id);
        match (result, waits) {
            (Some(result), None) => of_output(&result["metadata"]["outfitter"]),
            (None, Some(waits)) if waits["reason"] == "tool_call" => "waits approval".to_owned(),
            (None, Some(_)) => "waits question".to_owned(),
            (result, waits) => panic!("{}: {result:?} and {waits:?}", row.id),
        }
    })
}

/// `outfitter run`, where nobody is there.
fn by_run(
    world: &World,
    way: &'static str,
    more: &[&str],
    made: &BTreeMap<&'static str, Artifacts>,
) -> Verdicts {
    let config = named(world, way);
    let args = ["run", "go", "--json", "--session", way, "--config", &config];
    let ran = world.run(&[&args, more].concat());
    let lines = ran.stdout.lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    of_lines(&lines, &made[way])
}

/// `outfitter tools call`, once for each row.
fn by_call(
    world: &World,
    way: &'static str,
    more: &[&str],
    made: &BTreeMap<&'static str, Artifacts>,
) -> Verdicts {
    let config = named(world, way);
    each(&made[way], |row| {
        let arguments = row.arguments.to_string();
        let args = ["tools", "call", row.tool, "--args", &arguments, "--json"];
        let of = ["--session", way, "--config", &config];
        let ran = world.run(&[&args[..], &of, more].concat());
        let output = ran.json();
        let code = output["error"]["code"].as_str();
        assert_eq!(ran.code, Some(exit(code)), "{}", ran.shown());
        of_output(&output)
    })
}

/// Over HTTP, where the request names the tools.
fn by_naming(world: &World, case: Case, artifacts: &Artifacts) -> Verdicts {
    let config = named(world, "ndjson-tools");
    let serving = Serving::start_with(world, &["--config", &config]);
    let names = case.allowed.names();
    let body = json!({"session_id": "ndjson-tools", "input": "go", "available_tools": names});
    let lines = serving.at.post("/v1/runs", &body).is(200).lines();
    serving.stop();
    of_lines(&lines, artifacts)
}

/// Over HTTP and AG-UI, where the request names the mode. Each run says which it has.
fn by_asking_for_the_mode(world: &World, mode: Mode) -> (Vec<Value>, Vec<Value>) {
    let word = mode.as_str();
    let serving = Serving::start_with(world, &["--config", &named(world, "ndjson-mode")]);
    let body = json!({"session_id": "ndjson-mode", "input": "go", "mode": word});
    let lines = serving.at.post("/v1/runs", &body).is(200).lines();
    assert_eq!(of(&lines, "run_started")[0]["mode"], word);
    serving.stop();
    let serving = Serving::start_with(world, &["--config", &named(world, "agui-mode")]);
    let mut input = words("m1");
    input["protocolVersion"] = json!("1.0");
    input["forwardedProps"] = json!({"outfitter": {"mode": word}});
    let events = serving.at.agui("agui-mode", "r1", &input).sse();
    serving.stop();
    (lines, events)
}

fn by_mcp(at: &At, artifacts: &Artifacts) -> BTreeMap<&'static str, Option<String>> {
    let client = Mcp::modern(at);
    let rows = rows(artifacts);
    let called = rows.iter().map(|row| {
        let result = client.call(row.tool, &row.arguments);
        (row.id, mcp::code(&result))
    });
    let called = called.collect();
    // In the older form a session is another one: what is of a session is not there.
    let client = Mcp::legacy(at);
    for row in rows.iter().filter(|row| row.id != "artifact_own") {
        let code = mcp::code(&client.call(row.tool, &row.arguments));
        let modern: &BTreeMap<_, _> = &called;
        assert_eq!(code, modern[row.id], "{} in a legacy session", row.id);
    }
    called
}

/// Killed while it waits, answered with `sessions answer`.
fn by_answer(world: &World, artifacts: &Artifacts) -> Verdicts {
    let question = killed_while_it_waits(world, "answered");
    let ran = world.run(&[
        "sessions",
        "answer",
        &question,
        "yes",
        "--json",
        "--config",
        &named(world, "answered"),
    ]);
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    of_lines(&lines, artifacts)
}

/// Killed while it waits, started again and answered over HTTP.
fn by_resuming(world: &World, artifacts: &Artifacts) -> Verdicts {
    let question = killed_while_it_waits(world, "resumed");
    let serving = Serving::start_with(world, &["--config", &named(world, "resumed")]);
    let lines = serving.at.answer(&question, &json!("yes"));
    serving.stop();
    of_lines(&lines, artifacts)
}

fn killed_while_it_waits(world: &World, session: &str) -> String {
    let before = Serving::start_with(world, &["--config", &named(world, "before")]);
    let lines = before.run(session).lines();
    let question = of(&lines, "question")[0]["question_id"].as_str().unwrap();
    let question = question.to_owned();
    before.kill();
    question
}

/// What may be called is listed alike wherever it is listed.
fn listings_agree(world: &World, at: &At) {
    let names = |listed: &Value| -> Vec<String> {
        let tools = listed.as_array().unwrap().iter();
        let mut names: Vec<String> = tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort_unstable();
        names
    };
    let over_http = at.get("/v1/tools").json();
    let here = world.run(&[
        "tools",
        "list",
        "--json",
        "--config",
        &named(world, "ndjson"),
    ]);
    assert_eq!(names(&over_http), names(&here.json()));
    for client in [Mcp::modern(at), Mcp::legacy(at)] {
        let mut tools = client.tools();
        tools.sort_unstable();
        // Who calls by name is told of no way to more, and of nothing that nobody can answer.
        let mut callable = names(&over_http);
        callable.retain(|name| {
            ![
                "ask_user",
                "questionnaire",
                "tool_expand_tools",
                "tool_search",
            ]
            .contains(&&**name)
        });
        assert_eq!(tools, callable);
    }
}

/// The exit status of a code: the table of the contract.
fn exit(code: Option<&str>) -> i32 {
    match code {
        None => 0,
        Some("unknown_tool" | "not_found") => 5,
        Some("not_presented" | "not_permitted" | "needs_approval" | "denied") => 4,
        Some("invalid_arguments") => 2,
        Some("failed" | "unavailable") => 1,
        Some(other) => panic!("no exit for {other}"),
    }
}

/// The status of a code: the table of the contract.
fn status(code: Option<&str>) -> u16 {
    match code {
        None | Some("failed") => 200,
        Some("unknown_tool" | "not_found") => 404,
        Some("not_presented") => 409,
        Some("invalid_arguments") => 422,
        Some("not_permitted" | "needs_approval" | "denied") => 403,
        Some("unavailable") => 503,
        Some(other) => panic!("no status for {other}"),
    }
}
