//! Sessions, artifacts, and what there is.

use serde_json::{Value, json};

use crate::client::{delete, get, post};
use crate::harness::World;

#[tokio::test]
async fn sessions_are_listed_shown_and_deleted() {
    let served = World::new().serve().await;
    for session in ["a", "b"] {
        let body = json!({ "session_id": session, "input": "call echo {}" });
        post("/v1/runs", &body).send(served.at).await;
    }
    let listed = get("/v1/sessions?limit=1").send(served.at).await.json();
    assert_eq!(listed["sessions"][0]["id"], "b");
    let next = listed["next"].as_str().unwrap();
    let listed = get(format!("/v1/sessions?after={next}"))
        .send(served.at)
        .await
        .json();
    assert_eq!(listed["sessions"][0]["id"], "a");
    assert_eq!(listed["next"], Value::Null);

    let shown = get("/v1/sessions/a").send(served.at).await.json();
    assert_eq!(shown["audit_status"]["tools_expanded"], false);
    let suggested = shown["audit_status"]["suggested_tools"].as_array().unwrap();
    assert!(suggested.contains(&json!("echo")), "{suggested:?}");
    let told = get("/v1/sessions/a/messages").send(served.at).await.json();
    let roles: Vec<&str> = told["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(told["next"], Value::Null);

    let page = get("/v1/sessions/a/messages?limit=3").send(served.at).await;
    let next = page.json()["next"].as_str().unwrap().to_owned();
    let rest = get(format!("/v1/sessions/a/messages?after={next}"));
    let rest = rest.send(served.at).await.json();
    assert_eq!(rest["messages"], json!([told["messages"][3]]));
    get("/v1/sessions/a/messages?after=nobody")
        .send(served.at)
        .await
        .is_problem(404, "not_found");

    assert_eq!(delete("/v1/sessions/a").send(served.at).await.status, 204);
    for path in ["/v1/sessions/a", "/v1/sessions/a/messages"] {
        get(path).send(served.at).await.is_problem(404, "not_found");
    }
    delete("/v1/sessions/a")
        .send(served.at)
        .await
        .is_problem(404, "not_found");
    served.stop().await;
}

#[tokio::test]
async fn a_session_at_work_is_not_deleted() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a", "input": "call hangs {}" });
    let mut client = post("/v1/runs", &body).open(served.at).await;
    client.until("tool_call").await;
    delete("/v1/sessions/a")
        .send(served.at)
        .await
        .is_problem(409, "busy");
    served.stop().await;
}

#[tokio::test]
async fn an_artifact_is_read_piece_by_piece_and_never_as_a_page() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a", "arguments": {} });
    let output = post("/v1/tools/large/call", &body)
        .send(served.at)
        .await
        .json();
    let id = output["artifacts"][0].as_str().unwrap();
    let mut whole = String::new();
    loop {
        let path = format!("/v1/artifacts/{id}?offset={}&limit=30000", whole.len());
        let piece = get(path).send(served.at).await;
        assert_eq!(piece.status, 200);
        assert_eq!(piece.headers["content-disposition"], "attachment");
        assert_eq!(piece.headers["outfitter-total-bytes"], "100000");
        whole.push_str(&piece.text());
        if !piece.headers.contains_key("outfitter-next-offset") {
            break;
        }
    }
    assert_eq!(whole, "word ".repeat(20_000));
    let direct = get(format!("/v1/artifacts/{id}?session_id=a"))
        .send(served.at)
        .await;
    assert_eq!(direct.status, 200);
    for path in ["art_nonsense".to_owned(), format!("{id}?session_id=b")] {
        let answer = get(format!("/v1/artifacts/{path}")).send(served.at).await;
        answer.is_problem(404, "not_found");
    }
    served.stop().await;
}

#[tokio::test]
async fn what_there_is_is_listed_and_what_is_not_is_an_empty_list() {
    let served = World::new().serve().await;
    let of = async |path: &str| get(path).send(served.at).await.json();
    assert_eq!(of("/v1/skills").await[0]["name"], "calendar");
    assert_eq!(of("/v1/mcp/servers").await, json!([]));
    assert_eq!(of("/v1/diagnostics").await[0]["code"], "skipped");
    assert_eq!(get("/healthz").send(served.at).await.status, 200);
    assert_eq!(get("/readyz").send(served.at).await.status, 200);
    get("/v1/nonsense")
        .send(served.at)
        .await
        .is_problem(404, "not_found");
    delete("/v1/tools")
        .send(served.at)
        .await
        .is_problem(405, "usage");
    served.stop().await;
}
