//! Clients that are wrong, and what they are told.

use rstest::rstest;
use serde_json::{Value, json};

use crate::agui::{error, input, says, sound};
use crate::client::{get, post};
use crate::harness::World;

#[rstest]
#[case("/v1/sessions?limit=abc", "limit")]
#[case("/v1/sessions/s/messages?nope=1", "nope: unknown field")]
#[case("/v1/tools?session_id=..", "session_id")]
#[case("/v1/artifacts/a?offset=-1", "offset")]
#[case("/v1/runs/r/events?from_seq=x", "from_seq")]
#[tokio::test]
async fn what_is_wrong_with_a_query_was_told_in_the_words_of_a_library(
    #[case] path: &str,
    #[case] what: &str,
) {
    let served = World::new().serve().await;
    let refused = get(path).send(served.at).await;
    refused.is_problem(400, "invalid_arguments");
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    let said = detail.strip_prefix("failed to read the query: ").unwrap();
    assert!(said.starts_with(what), "{detail}");
    served.stop().await;
}

#[rstest]
#[case("{\"threadId\":", "failed to read the body as JSON: EOF")]
#[case("[]", "failed to read the body: it must be an object, not a list")]
#[case("{}", "failed to read the body: /")]
#[tokio::test]
async fn what_is_wrong_with_an_input_was_told_without_its_place_or_cause(
    #[case] body: &'static str,
    #[case] said: &str,
) {
    let served = World::new().serve().await;
    let refused = post("/agui", &Value::Null).body(body).send(served.at).await;
    refused.is_problem(400, "invalid_arguments");
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.starts_with(said), "{detail}");
    served.stop().await;
}

/// One name of 4 MB kept a thread at work for eight seconds, and was told to all who followed.
#[rstest]
#[case("available_tools", json!(["x".repeat(257)]))]
#[case("available_skills", json!(["*".repeat(257)]))]
#[case("workflow", json!("x".repeat(257)))]
#[case("agent_id", json!("x".repeat(257)))]
#[tokio::test]
async fn a_name_was_of_any_length(#[case] field: &str, #[case] value: Value) {
    let served = World::new().serve().await;
    let mut body = json!({ "session_id": "s", "input": "hi" });
    body[field] = value;
    let refused = post("/v1/runs", &body).send(served.at).await;
    refused.is_problem(400, "invalid_arguments");
    assert_eq!(refused.json()["detail"], "a name has at most 256 bytes");
    let made = get("/v1/sessions/s").send(served.at).await;
    made.is_problem(404, "not_found");
    served.stop().await;
}

#[tokio::test]
async fn over_ag_ui_names_were_of_any_length_and_number() {
    let served = World::new().serve().await;
    let mut body = input("t", "r1", says("hi"));
    body["forwardedProps"] = json!({ "outfitter": { "workflow": "x".repeat(257) } });
    assert_eq!(error(&sound(&served, &body).await), "invalid_arguments");
    let mut body = input("t", "r2", says("hi"));
    let tools = (0..1_000).map(|n| json!({ "name": format!("{n}{}", "x".repeat(1_000)) }));
    body["tools"] = tools.collect();
    let events = sound(&served, &body).await;
    let mut said = events
        .iter()
        .filter_map(|event| event["value"]["message"].as_str());
    let warning = said
        .find(|said| said.starts_with("tools that a client"))
        .unwrap();
    assert!(warning.ends_with(" and 980 more"), "{warning}");
    assert!(warning.len() < 2_000, "{warning}");
    served.stop().await;
}

/// Who followed the events went on asking: only the result of the call said that it was over.
#[tokio::test]
async fn a_question_that_new_words_called_off_was_never_told_to_be_over() {
    let served = World::new().serve().await;
    let asks = json!({ "session_id": "s", "input": "call ask {\"n\":1}\ncall risky {}" });
    let asked = post("/v1/runs", &asks).send(served.at).await.lines();
    let id = |event: &Value| {
        let id = ["question_id", "approval_id"].map(|name| event[name].clone());
        id.into_iter().find(Value::is_string)
    };
    let mut waiting: Vec<Value> = asked.iter().filter_map(id).collect();
    assert_eq!(waiting.len(), 2, "{asked:?}");
    let more = json!({ "session_id": "s", "input": "never mind" });
    let told = post("/v1/runs", &more).send(served.at).await.lines();
    let over = told.iter().filter(|event| event["type"] == "answered");
    let mut over: Vec<Value> = over.map(|event| event["interrupt_id"].clone()).collect();
    waiting.sort_by_key(Value::to_string);
    over.sort_by_key(Value::to_string);
    assert_eq!(over, waiting);
    let now = get("/v1/sessions/s").send(served.at).await.json();
    assert_eq!(now["waiting"], json!([]));
    served.stop().await;
}
