//! Forms, from outside: asked here and answered there.

use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::{Value, json};

use crate::scripted::scripted;
use crate::served::{Serving, ends, of, outputs, words};
use crate::world::HANGS;

fn form(wait_seconds: u64, kind: &str) -> Value {
    let arguments = json!({
        "title": "A trip", "kind": kind, "wait_seconds": wait_seconds,
        "questions": [
            {"id": "where", "type": "text", "label": "Where to?", "required": true},
            {"id": "how", "type": "single", "label": "How?", "options": ["rail", "road"], "default": "rail"},
            {"id": "days", "type": "number", "label": "How long?"},
        ],
    });
    json!([
        {"tool_calls": [{"id": "form", "name": "questionnaire", "arguments": arguments}]},
        {"text": "all done"},
    ])
}

fn submitted() -> Value {
    json!({
        "status": "submitted", "auto_submit": false,
        "answers": {"where": "the sea", "how": "road", "days": 2.5},
    })
}

fn filled() -> Value {
    json!({"where": "the sea", "how": "road", "days": 2.5})
}

#[rstest]
fn a_form_is_one_question_and_its_answer_is_held_to_it(
    #[values("general", "plan_information", "plan_confirmation")] kind: &str,
) {
    let world = scripted(&form(300, kind), "");
    let serving = Serving::start(&world);
    let at = &serving.at;
    let lines = at.run("s").lines();
    ends(&lines, "waiting");
    let asked = of(&lines, "question");
    assert_eq!(asked.len(), 1, "{lines:#?}");
    let asked = asked[0];
    assert_eq!(asked["question"], "A trip");
    assert_eq!(asked["questionnaire"]["kind"], kind);
    let ids: Vec<&Value> = asked["questionnaire"]["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|question| &question["id"])
        .collect();
    assert_eq!(ids, ["where", "how", "days"]);
    assert_eq!(asked["schema"]["required"], json!(["where"]));
    let id = asked["question_id"].as_str().unwrap();

    let path = format!("/v1/questions/{id}/answer");
    for wrong in [
        json!({}),
        json!({"where": ""}),
        json!({"where": "x", "how": "air"}),
        json!({"where": "x", "days": "2"}),
        json!({"where": "x", "who": "me"}),
        json!("the sea"),
        Value::Null,
    ] {
        at.post(&path, &json!({ "answer": wrong }))
            .is_problem(422, "invalid_arguments");
    }
    let open = at.get("/v1/sessions/s").json();
    assert_eq!(open["waiting"], json!([id]), "a refused answer is none");

    let lines = at.answer(id, &filled());
    ends(&lines, "success");
    let output = outputs(&lines)[0];
    assert_eq!(output["status"], "success");
    assert_eq!(output["result"], submitted());
    serving.stop();
}

#[test]
fn a_form_is_an_interrupt_of_agui_and_goes_on_with_its_answers() {
    let world = scripted(&form(300, "general"), "");
    let serving = Serving::start(&world);
    let mut input = words("m1");
    input["protocolVersion"] = json!("1.0");
    let told = serving.at.agui("t", "r1", &input).sse();
    let interrupts = told.last().unwrap()["outcome"]["interrupts"].clone();
    assert_eq!(interrupts.as_array().map(Vec::len), Some(1), "{told:#?}");
    assert_eq!(interrupts[0]["toolCallId"], "form");
    assert_eq!(
        interrupts[0]["responseSchema"]["required"],
        json!(["where"])
    );
    let resume = |run: &str, payload: Value| {
        let entry =
            json!({"interruptId": interrupts[0]["id"], "status": "resolved", "payload": payload});
        let input = json!({"protocolVersion": "1.0", "resume": [entry]});
        serving.at.agui("t", run, &input).sse()
    };
    let wrong = resume("r2", json!({"where": 7}));
    assert_eq!(
        wrong.last().unwrap()["code"],
        "invalid_arguments",
        "{wrong:#?}"
    );
    let told = resume("r3", filled());
    let last = told.last().unwrap();
    assert_eq!(last["outcome"]["type"], "success", "{told:#?}");
    let result = told
        .iter()
        .find(|event| event["type"] == "TOOL_CALL_RESULT");
    let content = result.unwrap()["content"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(content).unwrap(), submitted());
    serving.stop();
}

#[test]
fn a_form_is_answered_with_json_at_the_terminal() {
    let world = scripted(&form(300, "general"), "");
    let ran = world
        .run(&["run", "--session", "s", "--json", "go"])
        .exits(1);
    let asked = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let asked: Vec<Value> = asked.filter(|line| line["type"] == "question").collect();
    let id = asked[0]["question_id"].as_str().unwrap().to_owned();
    for wrong in ["the sea", r#"{"how":"road"}"#, r#"["the sea"]"#] {
        let refused = world.run(&["sessions", "answer", &id, wrong]).exits(2);
        assert!(
            refused.stderr.contains("error: failed to answer"),
            "{}",
            refused.shown()
        );
    }
    let answer = filled().to_string();
    let ran = world
        .run(&["sessions", "answer", &id, &answer, "--json"])
        .exits(0);
    assert_eq!(ran.lines().outputs()[0]["result"], submitted());
}

/// Nobody answers: the defaults are told, and are no answer.
#[rstest]
#[case::at_once(0)]
#[case::after_a_while(1)]
fn a_form_that_nobody_answers_in_time_is_no_success(#[case] wait_seconds: u64) {
    let world = scripted(&form(wait_seconds, "plan_confirmation"), "");
    let mut ran = world.run(&["run", "--session", "s", "--json", "go"]);
    let limit = Instant::now() + HANGS;
    while ran.lines().outcome() == "waiting" {
        assert!(Instant::now() < limit, "it never expires: {}", ran.shown());
        std::thread::sleep(Duration::from_millis(100));
        ran = world.run(&["run", "--session", "s", "--json"]);
    }
    let lines = ran.lines();
    assert_eq!(
        lines.outcome(),
        "success",
        "the run goes on: {}",
        ran.shown()
    );
    let output = lines.outputs()[0].clone();
    assert_eq!(output["status"], "timeout", "{output}");
    assert_eq!(output["error"]["code"], "timeout");
    assert_eq!(
        output["result"],
        json!({"status": "timeout", "answers": {"how": "rail"}, "auto_submit": true})
    );
}
