//! Answers that come at once, or while the run that asked is still under way.

use futures_util::future::join_all;
use rstest::rstest;
use serde_json::{Value, json};

use crate::client::{get, post};
use crate::harness::{Served, World, soon};

async fn end(served: &Served, session: &str) -> Vec<Value> {
    let path = format!("/v1/sessions/{session}/messages");
    soon(async || {
        let told = get(&*path).send(served.at).await.json();
        let messages = told["messages"].as_array().unwrap().clone();
        (messages.last().unwrap()["content"] == "done").then_some(messages)
    })
    .await
}

#[rstest]
#[case::approvals("risky", "approval", "/v1/approvals/", "", json!({ "decision": "approve" }))]
#[case::questions("ask", "question", "/v1/questions/", "/answer", json!({ "answer": "yes" }))]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_three_answers_sent_at_once_two_were_refused_and_kept_waiting(
    #[case] tool: &str,
    #[case] kind: &str,
    #[case] before: &str,
    #[case] after: &str,
    #[case] answer: Value,
) {
    let served = World::new().serve().await;
    for round in 0..20 {
        let session = format!("s{round}");
        let calls = [1, 2, 3].map(|n| format!("call {tool} {{\"n\":{n}}}"));
        let body = json!({ "session_id": session, "input": calls.join("\n") });
        let lines = post("/v1/runs", &body).send(served.at).await.lines();
        let ids = lines.iter().filter(|line| line["type"] == kind);
        let ids: Vec<&str> = ids
            .map(|line| line[format!("{kind}_id")].as_str().unwrap())
            .collect();
        assert_eq!(ids.len(), 3, "{lines:?}");

        let answers = ids.iter().map(|id| {
            let request = post(format!("{before}{id}{after}"), &answer);
            async { request.send(served.at).await }
        });
        for taken in join_all(answers).await {
            assert_eq!(taken.status, 202, "{}", taken.text());
            assert!(taken.json()["run_id"].is_string());
        }
        let messages = end(&served, &session).await;
        let results: Vec<&Value> = messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| &message["metadata"]["tool_agent_output"]["status"])
            .collect();
        assert_eq!(results, ["success", "success", "success"]);
        for id in ids {
            let again = post(format!("{before}{id}{after}"), &answer);
            again.send(served.at).await.is_problem(409, "conflict");
        }
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_could_not_be_answered_while_another_call_of_its_reply_went_on() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a", "input": "call ask {}\ncall hangs {}" });
    let mut stream = post("/v1/runs", &body).open(served.at).await;
    let session = || async { get("/v1/sessions/a").send(served.at).await.json() };
    let waits = soon(async || session().await["waiting"].as_array()?.first().cloned()).await;
    let id = waits.as_str().unwrap().to_owned();
    let path = format!("/v1/questions/{id}/answer");
    let unfit = post(&*path, &json!({ "answer": "maybe" })).send(served.at);
    unfit.await.is_problem(422, "invalid_arguments");
    let taken = post(&*path, &json!({ "answer": "yes" }))
        .send(served.at)
        .await;
    assert_eq!(taken.status, 202, "{}", taken.text());
    // It is in the log, and the run that is under way has told of it.
    assert_eq!(session().await["waiting"], json!([]));
    let run = taken.json()["run_id"].as_str().unwrap().to_owned();
    let twice = post(&*path, &json!({ "answer": "yes" })).send(served.at);
    twice.await.is_problem(409, "conflict");
    let cancel = post(format!("/v1/runs/{run}/cancel"), &json!({}));
    let cancelled = cancel.send(served.at).await;
    assert!(cancelled.status < 300, "{}", cancelled.text());
    let lines = stream.rest().await;
    let answered = |line: &&Value| line["type"] == "answered" && line["run_id"] == run.as_str();
    assert_eq!(lines.iter().filter(answered).count(), 1, "{lines:?}");
    served.stop().await;
}
