//! `POST /v1/runs`: a run as lines, and what a run is refused for.

use std::sync::atomic::Ordering;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::{get, post};
use crate::harness::{World, soon};
use crate::probes::CHOOSING;

fn types(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect()
}

/// Every run: numbers without gaps, one end, and it is last.
pub(crate) fn check_live(lines: &[Value]) {
    for (place, line) in (1..).zip(lines) {
        assert_eq!(line["seq"], place, "{line}");
    }
    let ends = types(lines)
        .iter()
        .filter(|kind| **kind == "run_finished")
        .count();
    assert_eq!(ends, 1, "{lines:#?}");
    assert_eq!(lines.last().unwrap()["type"], "run_finished");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    outfitter_codec::check_lines(outfitter_codec::Watched::Live, &text).unwrap();
}

#[tokio::test]
async fn a_prompt_is_answered_line_by_line_in_a_session_made_on_first_use() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a", "input": "hello" });
    let answer = post("/v1/runs", &body).send(served.at).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/x-ndjson");
    let lines = answer.lines();
    check_live(&lines);
    assert_eq!(lines[0]["session_id"], "a");
    assert_eq!(
        answer.headers["outfitter-run-id"],
        lines[0]["run_id"].as_str().unwrap()
    );
    let end = lines.last().unwrap();
    assert_eq!(end["outcome"], "success");
    assert_eq!(end["output"]["answer"], "you said: hello");

    let again = post("/v1/runs", &body).send(served.at).await.lines();
    assert_eq!(again.last().unwrap()["outcome"], "success");
    let messages = get("/v1/sessions/a/messages").send(served.at).await.json();
    assert_eq!(messages["messages"].as_array().unwrap().len(), 4);
    served.stop().await;
}

#[tokio::test]
async fn a_session_without_a_name_is_given_one() {
    let served = World::new().serve().await;
    let answer = post("/v1/runs", &json!({ "input": "hi" }))
        .send(served.at)
        .await;
    let session = answer.lines()[0]["session_id"].as_str().unwrap().to_owned();
    assert!(session.starts_with("ses_"), "{session}");
    assert_eq!(answer.headers["outfitter-session-id"], session);
    served.stop().await;
}

#[rstest]
#[case::not_json("{", 400)]
#[case::no_input(r#"{"session_id":"a"}"#, 400)]
#[case::empty_input(r#"{"input":" "}"#, 400)]
#[case::input_of_another_type(r#"{"input":1}"#, 400)]
#[case::a_workflow_of_another_type(r#"{"input":"x","workflow":1}"#, 400)]
#[case::a_key_of_a_later_version(r#"{"input":"x","budget":1}"#, 400)]
#[case::another(r#"{"input":"x","mode":"yolo"}"#, 400)]
#[case::a_session_id_that_is_none(r#"{"input":"x","session_id":"a/b"}"#, 400)]
#[tokio::test]
async fn a_body_that_does_not_fit_is_400_and_makes_no_session(
    #[case] body: &str,
    #[case] status: u16,
) {
    let served = World::new().serve().await;
    let ask = post("/v1/runs", &Value::Null).body(body);
    ask.send(served.at)
        .await
        .is_problem(status, "invalid_arguments");
    let sessions = get("/v1/sessions").send(served.at).await.json();
    assert_eq!(sessions["sessions"], json!([]));
    served.stop().await;
}

#[tokio::test]
async fn a_run_follows_the_workflow_that_it_names_and_says_so() {
    let served = World::new().serve().await;
    let body = json!({ "input": "go", "workflow": "release" });
    let lines = post("/v1/runs", &body).send(served.at).await.lines();
    check_live(&lines);
    assert_eq!(lines[0]["workflow"], "release");
    for none in [
        json!({ "input": "go" }),
        json!({ "input": "go", "workflow": "off" }),
    ] {
        let lines = post("/v1/runs", &none).send(served.at).await.lines();
        assert_eq!(lines[0].get("workflow"), None);
    }
    served.stop().await;
}

#[tokio::test]
async fn a_client_that_vanishes_while_it_is_chosen_ends_its_run() {
    let served = World::new().serve().await;
    let at = served.at;
    let body = json!({ "input": "go", "workflow": "model", "session_id": "s" });
    let mut asking = JoinSet::new();
    asking.spawn(async move { post("/v1/runs", &body).send(at).await });
    soon(async || CHOOSING.load(Ordering::SeqCst).then_some(())).await;
    drop(asking);
    // The session is free again, and has the run as one that was stopped.
    soon(async || {
        let next = json!({ "input": "and now?", "session_id": "s" });
        let answer = post("/v1/runs", &next).send(at).await;
        (answer.status == 200).then_some(())
    })
    .await;
    let messages = get("/v1/sessions/s/messages").send(at).await.json();
    let texts = messages["messages"].as_array().unwrap().iter();
    let texts: Vec<&str> = texts.map(|one| one["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["go", "and now?", "you said: and now?"]);
    served.stop().await;
}

#[tokio::test]
async fn a_workflow_that_is_not_there_is_422_and_makes_no_session() {
    let served = World::new().serve().await;
    let body = json!({ "input": "go", "workflow": "relaese", "session_id": "s" });
    let answer = post("/v1/runs", &body).send(served.at).await;
    answer.is_problem(422, "invalid_arguments");
    assert!(answer.json()["hint"].as_str().unwrap().contains("release"));
    let sessions = get("/v1/sessions").send(served.at).await.json();
    assert_eq!(sessions["sessions"], json!([]));
    served.stop().await;
}

#[tokio::test]
async fn an_agent_that_is_not_configured_is_not_found() {
    let served = World::new().serve().await;
    let body = json!({ "input": "x", "agent_id": "other" });
    let answer = post("/v1/runs", &body).send(served.at).await;
    answer.is_problem(404, "not_found");
    served.stop().await;
}

#[tokio::test]
async fn names_narrow_what_a_run_may_use_and_unknown_ones_are_dropped_with_a_warning() {
    let served = World::new().serve().await;
    let body = json!({
        "input": "call echo {\"n\":1}\ncall fails {}",
        "available_tools": ["echo", "nonsense"],
        "available_skills": ["calendar", "cooking"],
    });
    let lines = post("/v1/runs", &body).send(served.at).await.lines();
    check_live(&lines);
    assert_eq!(lines[0]["tools"], json!(["echo"]));
    let warnings: Vec<&Value> = lines
        .iter()
        .filter(|line| line["type"] == "warning")
        .collect();
    let texts: Vec<&str> = warnings
        .iter()
        .map(|line| line["message"].as_str().unwrap())
        .filter(|text| text.contains("available_"))
        .collect();
    assert!(
        texts[0].contains("nonsense") && texts[1].contains("cooking"),
        "{texts:?}"
    );
    let outputs: Vec<&Value> = lines
        .iter()
        .filter(|line| line["message"]["role"] == "tool")
        .map(|line| &line["message"]["metadata"]["tool_agent_output"])
        .collect();
    let of = |name: &str| {
        *outputs
            .iter()
            .find(|output| output["tool_name"] == name)
            .unwrap()
    };
    assert_eq!(of("echo")["status"], "success");
    assert_eq!(of("fails")["error"]["code"], "unknown_tool");
    served.stop().await;
}

#[tokio::test]
async fn a_session_at_work_is_busy_and_a_cancelled_run_ends_with_one_event() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a", "input": "call hangs {}" });
    let mut first = post("/v1/runs", &body).open(served.at).await;
    let begun = first.until("tool_call").await;
    let run = begun[0]["run_id"].as_str().unwrap().to_owned();

    let second = post("/v1/runs", &body).send(served.at).await;
    second.is_problem(409, "busy");
    let running = get(format!("/v1/runs/{run}")).send(served.at).await.json();
    assert_eq!(running["status"], "running");

    let cancel = post(format!("/v1/runs/{run}/cancel"), &json!({}))
        .send(served.at)
        .await;
    assert_eq!(cancel.status, 202);
    let rest = first.rest().await;
    check_live(&[begun, rest.clone()].concat());
    assert_eq!(rest.last().unwrap()["outcome"], "cancelled");
    let over = get(format!("/v1/runs/{run}")).send(served.at).await.json();
    assert_eq!(over["status"], "cancelled");
    let again = post(format!("/v1/runs/{run}/cancel"), &json!({}))
        .send(served.at)
        .await;
    assert_eq!(
        (again.status, &again.json()["cancelling"]),
        (200, &json!(false))
    );
    served.stop().await;
}

#[rstest]
#[case(true, "cancelled")]
#[case(false, "running")]
#[tokio::test]
async fn a_client_that_vanishes_ends_its_run_unless_told_otherwise(
    #[case] cancel_on_disconnect: bool,
    #[case] then: &str,
) {
    let mut world = World::new();
    world.config.cancel_on_disconnect = cancel_on_disconnect;
    let served = world.serve().await;
    let body = json!({ "input": "call hangs {}" });
    let mut client = post("/v1/runs", &body).open(served.at).await;
    let begun = client.until("tool_call").await;
    drop(client);
    let run = begun[0]["run_id"].as_str().unwrap();
    let at = served.at;
    if cancel_on_disconnect {
        soon(async || {
            let told = get(format!("/v1/runs/{run}")).send(at).await.json();
            (told["status"] != "running").then_some(())
        })
        .await;
    }
    let told = get(format!("/v1/runs/{run}")).send(at).await.json();
    assert_eq!(told["status"], then);
    // Nobody is left behind: the server can end.
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_holds_nothing_up_and_is_told_what_it_missed() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a", "input": "call floods {}" });
    let mut client = post("/v1/runs", &body).open(served.at).await;
    let begun = client.until("tool_call").await;
    let (at, run) = (served.at, begun[0]["run_id"].as_str().unwrap());
    soon(async || {
        let told = get(format!("/v1/runs/{run}")).send(at).await.json();
        (told["status"] == "success").then_some(())
    })
    .await;
    let lines = [begun.clone(), client.rest().await].concat();
    check_live(&lines);
    let progress = lines.iter().filter(|line| line["type"] == "tool_progress");
    let told: u64 = progress
        .map(|line| {
            let shown = line["text"].as_str().unwrap().len() as u64;
            shown + line["dropped_bytes"].as_u64().unwrap_or_default()
        })
        .sum();
    assert_eq!(told, 400 * 64 * 1024);
    served.stop().await;
}

#[tokio::test]
async fn a_tool_that_panics_and_a_call_that_is_refused_end_no_run() {
    let served = World::new().serve().await;
    let body = json!({ "input": "call panics {}\ncall nonsense {}\ncall admins_only {}" });
    let lines = post("/v1/runs", &body).send(served.at).await.lines();
    check_live(&lines);
    assert_eq!(lines.last().unwrap()["outcome"], "success");
    let mut codes: Vec<&str> = lines
        .iter()
        .filter_map(|line| {
            line["message"]["metadata"]["tool_agent_output"]["error"]["code"].as_str()
        })
        .collect();
    codes.sort_unstable();
    assert_eq!(codes, ["internal", "not_permitted", "unknown_tool"]);
    served.stop().await;
}
