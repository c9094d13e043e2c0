//! What belongs to one subject is not there for another.

use serde_json::{Value, json};

use crate::client::{Ask, delete, get, post};
use crate::harness::World;

const CANARY: &str = "canary-7f3a";

#[tokio::test]
async fn nothing_of_another_subject_is_found_shown_answered_or_cancelled() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "shared-name", "input": format!("call ask {{}}\n{CANARY}") });
    let asked = post("/v1/runs", &body)
        .by("alice")
        .send(served.at)
        .await
        .lines();
    let run = asked[0]["run_id"].as_str().unwrap().to_owned();
    let question = asked
        .iter()
        .find(|line| line["type"] == "question")
        .unwrap();
    let question = question["question_id"].as_str().unwrap().to_owned();
    let large = json!({ "session_id": CANARY });
    let large = post("/v1/tools/large/call", &large)
        .by("alice")
        .send(served.at)
        .await
        .json();
    let artifact = large["artifacts"][0].as_str().unwrap().to_owned();
    let hangs = json!({ "session_id": "busy", "input": "call hangs {}" });
    let mut hanging = post("/v1/runs", &hangs).by("alice").open(served.at).await;
    let hanging_run = hanging.until("tool_call").await[0]["run_id"]
        .as_str()
        .unwrap()
        .to_owned();

    let answer = json!({ "answer": "yes" });
    let tries: Vec<Ask> = vec![
        get(format!("/v1/runs/{run}")),
        get(format!("/v1/runs/{run}/events")),
        get(format!("/v1/runs/{hanging_run}/events")),
        post(format!("/v1/runs/{hanging_run}/cancel"), &json!({})),
        post(format!("/v1/questions/{question}/answer"), &answer),
        post(
            format!("/v1/approvals/{question}"),
            &json!({ "decision": "approve" }),
        ),
        get("/v1/sessions/shared-name"),
        get("/v1/sessions/shared-name/messages"),
        get("/v1/tools?session_id=shared-name"),
        delete("/v1/sessions/shared-name"),
        get(format!("/v1/artifacts/{artifact}")),
        get(format!("/v1/artifacts/{artifact}?session_id={CANARY}")),
    ];
    for ask in tries {
        let answer = ask.by("bob").send(served.at).await;
        answer.is_problem(404, "not_found");
        let text = answer.text();
        assert!(!text.contains(&format!("{CANARY} ")), "{text}");
    }
    let sessions = get("/v1/sessions").by("bob").send(served.at).await.json();
    assert_eq!(sessions["sessions"], json!([]));

    // The same name is another session for another subject, also while it is at work.
    for session in ["shared-name", "busy"] {
        let body = json!({ "session_id": session, "input": "hi" });
        let lines = post("/v1/runs", &body).by("bob").send(served.at).await;
        assert!(!lines.text().contains(CANARY));
        assert_eq!(lines.lines().last().unwrap()["outcome"], "success");
        let agui = json!({ "threadId": session, "runId": "r", "messages": [
            { "id": "1", "role": "user", "content": "hi again" } ] });
        let agui = post("/agui", &agui).by("bob").send(served.at).await;
        assert!(!agui.text().contains(CANARY));
    }

    // And it all still works for its owner.
    let answered = post(format!("/v1/questions/{question}/answer"), &answer);
    assert_eq!(answered.by("alice").send(served.at).await.status, 202);
    let owner: Value = get(format!("/v1/runs/{hanging_run}"))
        .by("alice")
        .send(served.at)
        .await
        .json();
    assert_eq!(owner["status"], "running");
    served.stop().await;
}
