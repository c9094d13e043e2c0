//! Questions and approvals: asked at one entrance, answered at another, after a restart too.

use rstest::rstest;
use serde_json::{Value, json};

use crate::scripted::{ADMIN, scripted};
use crate::served::{Serving, ends, of, outputs, words};
use crate::world::World;

/// A world whose commands are not isolated, so that a person must approve them, with this model.
pub(crate) fn world(turns: &Value, more: &str) -> World {
    scripted(
        turns,
        &format!("{ADMIN}{more}\n[sandbox]\nbackend = \"passthrough\"\n"),
    )
}

pub(crate) fn question(id: &str, schema: &Value) -> Value {
    let arguments = json!({"question": format!("what of {id}?"), "schema": schema});
    json!({"id": id, "name": "ask_user", "arguments": arguments})
}

pub(crate) fn touch(id: &str) -> Value {
    let command = format!("echo {id} >> done.txt");
    json!({"id": id, "name": "execute_shell_command", "arguments": {"command": command}})
}

pub(crate) fn turns(calls: &[Value]) -> Value {
    json!([{"tool_calls": calls}, {"text": "all done"}])
}

/// The ids of what waits, by the calls that wait.
#[track_caller]
pub(crate) fn waits(lines: &[Value], kind: &str, call: &str) -> String {
    let asked = of(lines, kind).into_iter();
    let mut asked = asked.filter(|line| line["tool_call_id"] == call);
    let line = asked.next().unwrap_or_else(|| panic!("{lines:#?}"));
    line[&format!("{kind}_id")].as_str().unwrap().to_owned()
}

#[track_caller]
fn answers(lines: &[Value], call: &str) -> Value {
    let outputs = outputs(lines);
    let output = outputs.iter().find(|output| output["tool_call_id"] == call);
    output.unwrap_or_else(|| panic!("{lines:#?}"))["result"]["answer"].clone()
}

#[test]
fn two_open_questions_do_not_mix() {
    let integer = json!({"type": "integer"});
    let calls = [question("one", &integer), question("two", &integer)];
    let world = world(&turns(&calls), "");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let lines = at.run("s").lines();
    ends(&lines, "waiting");
    let (one, two) = (
        waits(&lines, "question", "one"),
        waits(&lines, "question", "two"),
    );
    assert_ne!(one, two);

    // The second first: the run goes on with it, and waits for the other.
    let after = at.answer(&two, &json!(2));
    ends(&after, "waiting");
    assert_eq!(answers(&after, "two"), 2);
    assert_eq!(outputs(&after).len(), 1, "{after:#?}");
    let open = at.get("/v1/sessions/s").is(200).json();
    assert_eq!(open["waiting"], json!([one]));
    let last = at.answer(&one, &json!(1));
    ends(&last, "success");
    assert_eq!(answers(&last, "one"), 1);
    assert_eq!(last.last().unwrap()["output"]["answer"], "all done");
    serving.stop();
}

#[test]
fn an_answer_is_held_to_what_was_asked_and_taken_once() {
    let world = world(
        &turns(&[question("one", &json!({"enum": ["yes", "no"]}))]),
        "",
    );
    let serving = Serving::start(&world);
    let at = &serving.at;
    let id = waits(&at.run("s").lines(), "question", "one");
    let path = format!("/v1/questions/{id}/answer");
    let answer = |path: &str, answer: Value| at.post(path, &json!({"answer": answer}));

    answer(&path, json!("maybe")).is_problem(422, "invalid_arguments");
    answer(&path, json!(7)).is_problem(422, "invalid_arguments");
    at.post(&path, &json!({}))
        .is_problem(400, "invalid_arguments");
    let nothing = "/v1/questions/int_nothing/answer";
    answer(nothing, json!("yes")).is_problem(404, "not_found");
    // A question is not approved.
    let approval = at.post(
        &format!("/v1/approvals/{id}"),
        &json!({"decision": "approve"}),
    );
    approval.is_problem(404, "not_found");
    let open = at.get("/v1/sessions/s").json();
    assert_eq!(open["waiting"], json!([id]), "a refused answer is none");

    let lines = at.answer(&id, &json!("yes"));
    ends(&lines, "success");
    answer(&path, json!("yes")).is_problem(409, "conflict");
    answer(&path, json!("no")).is_problem(409, "conflict");
    serving.stop();
}

#[rstest]
#[case("approve", "success", "late\n")]
#[case("deny", "denied denied", "")]
fn a_call_runs_only_once_it_was_approved(
    #[case] decision: &str,
    #[case] expected: &str,
    #[case] written: &str,
) {
    let world = world(&turns(&[touch("late")]), "");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let lines = at.run("s").lines();
    ends(&lines, "waiting");
    let id = waits(&lines, "approval", "late");
    let file = world.data("files/local/local/s/done.txt");
    assert!(!file.exists(), "it ran before it was approved");

    let path = format!("/v1/approvals/{id}");
    at.post(&path, &json!({"decision": "perhaps"}))
        .is_problem(400, "invalid_arguments");
    // An approval is no question.
    at.post(
        &format!("/v1/questions/{id}/answer"),
        &json!({"answer": true}),
    )
    .is_problem(404, "not_found");
    let lines = at.decide(&id, decision);
    ends(&lines, "success");
    let outputs = outputs(&lines);
    let status = outputs[0]["status"].as_str().unwrap();
    let code = outputs[0]["error"]["code"].as_str();
    let got = code.map_or(status.to_owned(), |code| format!("{status} {code}"));
    assert_eq!(got, expected, "{}", outputs[0]);
    assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), written);
    at.post(&path, &json!({"decision": decision}))
        .is_problem(409, "conflict");
    serving.stop();
}

/// `[permissions] approval = "never"`: nobody is asked, and it does not run.
#[test]
fn never_means_that_nobody_is_asked() {
    let world = world(&turns(&[touch("late")]), "approval = \"never\"");
    let serving = Serving::start(&world);
    let lines = serving.at.run("s").lines();
    ends(&lines, "success");
    assert_eq!(outputs(&lines)[0]["error"]["code"], "needs_approval");
    assert!(of(&lines, "approval").is_empty());
    assert!(!world.data("files/local/local/s/done.txt").exists());
    serving.stop();
    let ran = world
        .run(&["run", "--json", "--approval", "never", "go"])
        .exits(0);
    assert_eq!(ran.lines().outputs()[0]["error"]["code"], "needs_approval");
    assert!(!world.work("done.txt").exists());
}

/// What a client of AG-UI may do to what waits: leave a part out, answer what is not there, answer
/// wrongly; and then answer all at once.
#[test]
fn a_resume_answers_everything_that_waits_or_nothing() {
    let calls = [question("one", &json!({"type": "integer"})), touch("late")];
    let world = world(&turns(&calls), "");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let mut input = words("m1");
    input["protocolVersion"] = json!("1.0");
    let told = at.agui("t", "r1", &input).sse();
    let last = told.last().unwrap();
    let interrupts = last["outcome"]["interrupts"].as_array().unwrap();
    let id = |call: &str| {
        let mut found = interrupts.iter().filter(|one| one["toolCallId"] == call);
        found.next().unwrap()["id"].clone()
    };
    let (one, late) = (id("one"), id("late"));
    let resume = |run: &str, entries: Value| {
        let mut input = words("m1");
        input["protocolVersion"] = json!("1.0");
        input["resume"] = entries;
        let told = at.agui("t", run, &input).sse();
        let ends = |event: &&Value| event["type"] == "RUN_FINISHED" || event["type"] == "RUN_ERROR";
        assert_eq!(told.iter().filter(ends).count(), 1, "{told:#?}");
        told
    };
    let code = |told: &[Value]| told.last().unwrap()["code"].clone();
    let answer = |id: &Value, payload: Value| json!({"interruptId": id, "status": "resolved", "payload": payload});
    let yes = json!({"approved": true});

    let partly = resume("r2", json!([answer(&one, json!(1))]));
    assert_eq!(code(&partly), "conflict", "{partly:#?}");
    let unknown = json!("int_nothing");
    let other = resume(
        "r3",
        json!([
            answer(&one, json!(1)),
            answer(&unknown, json!(1)),
            answer(&late, yes.clone())
        ]),
    );
    assert_eq!(code(&other), "not_found", "{other:#?}");
    let unfit = resume(
        "r4",
        json!([answer(&one, json!("x")), answer(&late, yes.clone())]),
    );
    assert_eq!(code(&unfit), "invalid_arguments", "{unfit:#?}");
    let open = at.get("/v1/sessions/t").json();
    assert_eq!(open["waiting"].as_array().unwrap().len(), 2, "{open}");
    assert!(!world.data("files/local/local/t/done.txt").exists());

    let both = json!([answer(&one, json!(1)), answer(&late, yes)]);
    let told = resume("r5", both.clone());
    assert_eq!(
        told.last().unwrap()["outcome"]["type"],
        "success",
        "{told:#?}"
    );
    let results = told
        .iter()
        .filter(|event| event["type"] == "TOOL_CALL_RESULT");
    assert_eq!(results.count(), 2, "{told:#?}");
    // Sent twice, as by a client whose connection broke: told again, done once.
    let again = resume("r6", both);
    assert_eq!(
        again.last().unwrap()["outcome"]["type"],
        "success",
        "{again:#?}"
    );
    let file = world.data("files/local/local/t/done.txt");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "late\n");
    serving.stop();
}

/// Asked by one server, which is killed; answered by the next, by the terminal, or over AG-UI.
#[rstest]
fn an_answer_survives_the_server(#[values("http", "terminal", "agui")] way: &str) {
    let world = world(&turns(&[question("one", &json!({"type": "integer"}))]), "");
    let serving = Serving::start(&world);
    let id = waits(&serving.run("s").lines(), "question", "one");
    serving.kill();
    match way {
        "terminal" => {
            let wrong = world
                .run(&["sessions", "answer", &id, "x", "--json"])
                .exits(2);
            assert!(
                wrong.stderr.contains("error: failed to answer"),
                "{}",
                wrong.shown()
            );
            let ran = world
                .run(&["sessions", "answer", &id, "7", "--json"])
                .exits(0);
            assert_eq!(ran.lines().outputs()[0]["result"]["answer"], 7);
            world.run(&["sessions", "answer", &id, "7"]).exits(1);
            world
                .run(&["sessions", "answer", "int_nothing", "7"])
                .exits(5);
        }
        "http" => {
            let serving = Serving::start(&world);
            let lines = serving.at.answer(&id, &json!(7));
            ends(&lines, "success");
            assert_eq!(answers(&lines, "one"), 7);
            serving.stop();
        }
        _ => {
            let serving = Serving::start(&world);
            let resume = json!({"protocolVersion": "1.0", "resume": [
                {"interruptId": id, "status": "resolved", "payload": 7},
            ]});
            let told = serving.at.agui("s", "r1", &resume).sse();
            assert_eq!(
                told.last().unwrap()["outcome"]["type"],
                "success",
                "{told:#?}"
            );
            serving.stop();
        }
    }
    let shown = world
        .run(&["sessions", "show", "s", "--json"])
        .exits(0)
        .json();
    let last = shown["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"], "all done");
}

/// New words close what waits: the old question is not there any more.
#[test]
fn new_words_end_what_waits() {
    let world = world(
        &json!([{"tool_calls": [question("one", &json!({"type": "integer"}))]}, {"text": "never mind"}]),
        "",
    );
    let serving = Serving::start(&world);
    let at = &serving.at;
    let id = waits(&at.run("s").lines(), "question", "one");
    let lines = at.run("s").lines();
    ends(&lines, "success");
    assert_eq!(lines.last().unwrap()["output"]["answer"], "never mind");
    let open = at.get("/v1/sessions/s").json();
    assert_eq!(open["waiting"], json!([]));
    let late = at.post(&format!("/v1/questions/{id}/answer"), &json!({"answer": 7}));
    late.is_problem(409, "conflict");
    serving.stop();
}

/// What was approved was meant for the files of the session, wherever the person stands.
#[test]
fn a_served_session_goes_on_in_its_own_workspace_whoever_continues_it() {
    let world = world(&turns(&[touch("one")]), "");
    let serving = Serving::start(&world);
    let lines = serving.at.run("s").lines();
    ends(&lines, "waiting");
    let id = waits(&lines, "approval", "one");
    serving.stop();

    let elsewhere = world.work("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let elsewhere = elsewhere.to_str().unwrap();
    let other = ["--workspace", elsewhere];
    let call = ["tools", "call", "list_dir", "--session", "s"];
    let answer = ["sessions", "answer", &id, "approve"];
    let refused = ["run", "--session", "s"];
    for command in [&call[..], &answer[..], &refused[..]] {
        let ran = world.run(&[command, &other[..]].concat()).exits(2);
        assert!(
            ran.stderr.contains("made by `outfitter serve`"),
            "{}",
            ran.stderr
        );
    }

    world.run(&answer).exits(0);
    assert!(
        !world.work("done.txt").exists(),
        "made where the person stands"
    );
    let made = world.data("files/local/local/s/done.txt");
    assert_eq!(std::fs::read_to_string(made).unwrap(), "one\n");
    let listed = world.run(&[&call[..], &["--json"]].concat()).exits(0);
    assert!(listed.stdout.contains("done.txt"), "{}", listed.stdout);
}

#[test]
fn a_word_that_an_approval_does_not_take_was_answered_with_a_schema() {
    let command = "echo x | tee done.txt > other.txt";
    let call =
        json!({"id": "c", "name": "execute_shell_command", "arguments": {"command": command}});
    let world = world(&turns(&[call]), "");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let lines = at.run("s").lines();
    let id = waits(&lines, "approval", "c");
    let path = format!("/v1/approvals/{id}");
    let told = at.post(&path, &json!({"decision": "approve", "scope": "always"}));
    told.is_problem(422, "invalid_arguments");
    let problem = told.json();
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.ends_with("a yes cannot hold for \"always\" here, only for once"),
        "{problem}"
    );
    assert_eq!(problem["path"], "/scope", "{problem}");
    assert_eq!(problem["expected"], json!({"enum": ["once"]}), "{problem}");
    let told = at.post(&path, &json!({"decision": "yes"}));
    told.is_problem(400, "invalid_arguments");
    let detail = told.json()["detail"].to_string();
    assert!(detail.contains("`approve` or `deny`"), "{detail}");
    // The thread is the session.
    let entry =
        |payload: Value| json!({"interruptId": id, "status": "resolved", "payload": payload});
    for (payload, path, says) in [
        (
            json!({"approved": true, "scope": "session"}),
            "/resume/0/payload/scope",
            "only for once",
        ),
        (
            json!({"approved": "y"}),
            "/resume/0/payload/approved",
            "must be true or false",
        ),
    ] {
        let resume = json!({"protocolVersion": "1.0", "resume": [entry(payload)]});
        let told = at.agui("s", "r1", &resume).sse();
        let last = told.last().unwrap();
        assert_eq!(last["code"], "invalid_arguments", "{told:#?}");
        let message = last["message"].to_string();
        assert!(message.contains(says), "{last}");
        let error = last.to_string();
        assert!(error.contains(path) || message.contains("here"), "{last}");
    }
    serving.stop();

    for word in [
        "maybe",
        "always",
        "session",
        "{\"approved\":true,\"scope\":\"always\"}",
    ] {
        let ran = world.run(&["sessions", "answer", &id, word]).exits(2);
        let hint = "hint: it can have y (yes, to this call), n (no)\n";
        assert!(ran.stderr.contains(hint), "{}", ran.shown());
        assert!(!ran.stderr.contains("anyOf"), "{}", ran.shown());
    }
    let ran = world.run(&["sessions", "answer", &id, "always"]).exits(2);
    assert!(
        ran.stderr
            .contains("a yes to it cannot hold for \"always\""),
        "{}",
        ran.shown()
    );
    let ran = world
        .run(&["sessions", "answer", &id, "y", "--json"])
        .exits(0);
    assert_eq!(ran.lines().outputs()[0]["status"], "success");
}

#[test]
fn a_word_that_a_question_does_not_take_names_those_that_it_takes() {
    let arguments = json!({"question": "which?", "choices": ["red", "blue"]});
    let call = json!({"id": "q", "name": "ask_user", "arguments": arguments});
    let world = world(&turns(&[call]), "");
    let ran = world
        .run(&["run", "--json", "--session", "s", "go"])
        .exits(1);
    let id = waits(
        &ran.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect::<Vec<Value>>(),
        "question",
        "q",
    );
    let ran = world.run(&["sessions", "answer", &id, "green"]).exits(2);
    assert!(
        ran.stderr.contains("hint: it can have \"red\", \"blue\"\n"),
        "{}",
        ran.shown()
    );
    world.run(&["sessions", "answer", &id, "blue"]).exits(0);
}
