//! Questions and approvals over HTTP, and what waiting costs.

use rstest::rstest;
use serde_json::{Value, json};

use crate::client::{get, post};
use crate::harness::{Served, World, soon};
use crate::runs::check_live;

async fn waiting(served: &Served, session: &str, input: &str) -> Vec<Value> {
    let body = json!({ "session_id": session, "input": input });
    let lines = post("/v1/runs", &body).send(served.at).await.lines();
    check_live(&lines);
    assert_eq!(lines.last().unwrap()["outcome"], "waiting");
    lines
}

fn ids(lines: &[Value], kind: &str) -> Vec<String> {
    lines
        .iter()
        .filter(|line| line["type"] == kind)
        .map(|line| line[format!("{kind}_id")].as_str().unwrap().to_owned())
        .collect()
}

async fn followed(served: &Served, answer: &Value) -> Vec<Value> {
    let run = answer["run_id"].as_str().unwrap();
    get(format!("/v1/runs/{run}/events"))
        .send(served.at)
        .await
        .lines()
}

#[rstest]
#[tokio::test]
async fn two_questions_are_answered_one_by_one_also_after_a_restart(
    #[values(false, true)] in_file: bool,
) {
    let folder = tempfile::tempdir().unwrap();
    let world = if in_file {
        World::in_file(folder.path())
    } else {
        World::new()
    };
    let served = world.serve().await;
    let lines = waiting(&served, "a", "call ask {\"n\":1}\ncall ask {\"n\":2}").await;
    let questions = ids(&lines, "question");
    served.stop().await;

    let served = world.serve().await;
    let path = |id: &str| format!("/v1/questions/{id}/answer");
    let unfit = post(path(&questions[0]), &json!({ "answer": "maybe" }));
    unfit
        .send(served.at)
        .await
        .is_problem(422, "invalid_arguments");
    let first = post(path(&questions[1]), &json!({ "answer": "no" }))
        .send(served.at)
        .await;
    assert_eq!(first.status, 202, "{}", first.text());
    let still = followed(&served, &first.json()).await;
    assert_eq!(still.last().unwrap()["outcome"], "waiting");
    let again = post(path(&questions[1]), &json!({ "answer": "no" }))
        .send(served.at)
        .await;
    again.is_problem(409, "conflict");
    let second = post(path(&questions[0]), &json!({ "answer": "yes" }))
        .send(served.at)
        .await;
    let end = followed(&served, &second.json()).await;
    assert_eq!(end.last().unwrap()["output"]["answer"], "done");
    let results: Vec<&Value> = end
        .iter()
        .filter(|line| line["message"]["role"] == "tool")
        .map(|line| &line["message"]["metadata"]["tool_agent_output"]["result"])
        .collect();
    assert_eq!(results, [&json!({ "answer": "yes" })]);
    let settled = post(path(&questions[0]), &json!({ "answer": "yes" }))
        .send(served.at)
        .await;
    settled.is_problem(409, "conflict");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_reads_the_end_of_a_run_can_answer_at_once() {
    let served = World::new().serve().await;
    for round in 0..100 {
        let lines = waiting(&served, &format!("s{round}"), "call ask {}").await;
        let path = format!("/v1/questions/{}/answer", ids(&lines, "question")[0]);
        let answer = post(path, &json!({ "answer": "yes" }))
            .send(served.at)
            .await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        let end = followed(&served, &answer.json()).await;
        assert_eq!(end.last().unwrap()["outcome"], "success");
        // And whoever followed can say more at once.
        let body = json!({ "session_id": format!("s{round}"), "input": "more" });
        let more = post("/v1/runs", &body).send(served.at).await;
        assert_eq!(more.status, 200, "{}", more.text());
    }
    served.stop().await;
}

#[tokio::test]
async fn an_approval_lets_the_call_run_or_denies_it() {
    let served = World::new().serve().await;
    for (decision, status) in [("approve", "success"), ("deny", "denied")] {
        let lines = waiting(&served, decision, "call risky {}").await;
        let id = ids(&lines, "approval").remove(0);
        let path = format!("/v1/approvals/{id}");
        let wrong = post(&*path, &json!({ "decision": "perhaps" }))
            .send(served.at)
            .await;
        wrong.is_problem(400, "invalid_arguments");
        let refusal = json!({ "decision": "deny", "scope": "session" });
        let refusal = post(&*path, &refusal).send(served.at).await;
        refusal.is_problem(422, "invalid_arguments");
        let asked = post(
            format!("/v1/questions/{id}/answer"),
            &json!({ "answer": true }),
        );
        asked.send(served.at).await.is_problem(404, "not_found");

        let taken = json!({ "decision": decision, "scope": "once" });
        let taken = post(&*path, &taken).send(served.at).await;
        assert_eq!(taken.status, 202, "{}", taken.text());
        let end = followed(&served, &taken.json()).await;
        let output = end
            .iter()
            .find(|line| line["message"]["role"] == "tool")
            .unwrap();
        assert_eq!(
            output["message"]["metadata"]["tool_agent_output"]["status"],
            status
        );
    }
    served.stop().await;
}

#[tokio::test]
async fn a_question_that_is_not_there_is_not_found() {
    let served = World::new().serve().await;
    let answer = post("/v1/questions/int_nonsense/answer", &json!({ "answer": 1 }));
    answer.send(served.at).await.is_problem(404, "not_found");
    let empty = post("/v1/questions/int_nonsense/answer", &json!({}));
    empty
        .send(served.at)
        .await
        .is_problem(400, "invalid_arguments");
    served.stop().await;
}

#[tokio::test]
async fn what_nobody_answers_expires_by_itself_also_after_a_restart() {
    let world = World::new();
    let served = world.serve().await;
    waiting(&served, "here", "call ask {\"n\":0}").await;
    expires(&served, "here").await;
    waiting(&served, "there", "call ask {\"n\":0}").await;
    served.stop().await;
    let served = world.serve().await;
    expires(&served, "there").await;
    served.stop().await;
}

async fn expires(served: &Served, session: &str) {
    let path = format!("/v1/sessions/{session}/messages");
    let messages = soon(async || {
        let told = get(&*path).send(served.at).await.json();
        let messages = told["messages"].as_array().unwrap().clone();
        (messages.last().unwrap()["content"] == "done").then_some(messages)
    })
    .await;
    let result = messages
        .iter()
        .find(|message| message["role"] == "tool")
        .unwrap();
    assert_eq!(result["content"], "{\"answer\":\"no\"}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_sessions_that_wait_hold_no_task() {
    let served = World::new().serve().await;
    waiting(&served, "first", "call ask {}").await;
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let before = settled(tasks).await;
    for round in 0..100 {
        waiting(&served, &format!("s{round}"), "call ask {}").await;
    }
    let after = soon(async || {
        let now = tasks();
        (now <= before).then_some(now)
    })
    .await;
    assert!(after <= before, "{before} then {after}");
    let session = get("/v1/sessions/s7").send(served.at).await.json();
    assert_eq!(session["waiting"].as_array().unwrap().len(), 1);
    served.stop().await;
}

/// The number once connections that have ended are gone.
async fn settled(count: impl Fn() -> usize) -> usize {
    let mut last = count();
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let now = count();
        if now == last {
            return now;
        }
        last = now;
    }
}
