//! Sessions, artifacts, and what there is.

use serde_json::{Value, json};

use crate::client::{delete, get, post};
use crate::gated::{Gated, Point};
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

/// Nothing at once, with a place to go on from: who followed it asked for ever.
#[tokio::test]
async fn a_limit_of_nothing_was_paged_for_ever() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "a", "arguments": {} });
    let large = post("/v1/tools/large/call", &body).send(served.at).await;
    let id = large.json()["artifacts"][0].as_str().unwrap().to_owned();
    for (path, most) in [
        ("/v1/sessions".to_owned(), 1_000),
        ("/v1/sessions/a/messages".to_owned(), 1_000),
        (format!("/v1/artifacts/{id}"), 16 * 1024 * 1024),
    ] {
        let with = |limit: &str| get(format!("{path}?limit={limit}")).send(served.at);
        for limit in ["0", &(most + 1).to_string(), "18446744073709551615"] {
            let refused = with(limit).await;
            refused.is_problem(400, "invalid_arguments");
            let detail = refused.json()["detail"].clone();
            assert_eq!(detail, format!("limit must be 1 to {most}"), "{path}");
        }
        for limit in ["-1", "x", "", "18446744073709551616"] {
            with(limit).await.is_problem(400, "invalid_arguments");
        }
        for limit in ["1", &most.to_string()] {
            assert_eq!(with(limit).await.status, 200, "{path} {limit}");
        }
    }
    // Behind the end there is nothing, and nothing to go on with.
    for offset in [100_000, u64::MAX] {
        let path = format!("/v1/artifacts/{id}?offset={offset}");
        let behind = get(path).send(served.at).await;
        assert_eq!((behind.status, behind.text().len()), (200, 0));
        assert!(!behind.headers.contains_key("outfitter-next-offset"));
    }
    served.stop().await;
}

/// What an id may be was said by some entrances and not by others.
#[tokio::test]
async fn an_id_that_no_session_can_have_was_refused_without_the_rule() {
    let served = World::new().serve().await;
    let long = "x".repeat(129);
    for id in [".", "..", "a/b", "a b", "caf\u{e9}", &long] {
        let said = |answer: &crate::client::Whole, status, code| {
            answer.is_problem(status, code);
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(
                detail.contains(outfitter_core::SessionId::RULE),
                "{id}: {detail}"
            );
        };
        let in_path: String = id.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for path in ["", "/messages"] {
            let path = format!("/v1/sessions/{in_path}{path}");
            said(&get(path).send(served.at).await, 404, "not_found");
        }
        let deleted = delete(format!("/v1/sessions/{in_path}"));
        said(&deleted.send(served.at).await, 404, "not_found");
        let body = json!({ "session_id": id, "input": "hi" });
        let answer = post("/v1/runs", &body).send(served.at).await;
        said(&answer, 400, "invalid_arguments");
        let body = json!({ "session_id": id, "arguments": {} });
        let answer = post("/v1/tools/echo/call", &body).send(served.at).await;
        said(&answer, 400, "invalid_arguments");
        let body = json!({ "threadId": id, "runId": "r", "messages": [] });
        let answer = post("/agui", &body).send(served.at).await;
        said(&answer, 400, "invalid_arguments");
        for query in ["after", "session_id"] {
            let of = match query {
                "after" => "/v1/sessions",
                _ => "/v1/artifacts/art_1",
            };
            let answer = get(format!("{of}?{query}={in_path}")).send(served.at).await;
            said(&answer, 400, "invalid_arguments");
        }
    }
    served.stop().await;
}

/// Calls were told to delete it once more, and whoever did that, that a run is under way.
#[tokio::test]
async fn a_session_that_is_being_deleted_was_taken_for_one_whose_deletion_had_failed() {
    let mut world = World::new();
    let log = Gated::new(world.log.clone());
    world.log = log.clone();
    let served = world.serve().await;
    let at = served.at;
    let body = json!({ "session_id": "s", "input": "hello" });
    post("/v1/runs", &body).send(at).await;
    log.close(Point::Delete);
    let mut deleting = tokio::task::JoinSet::new();
    deleting.spawn(async move { delete("/v1/sessions/s").send(at).await.status });
    log.come().await;
    let call = json!({ "session_id": "s", "arguments": {} });
    for asked in [
        delete("/v1/sessions/s"),
        post("/v1/runs", &body),
        post("/v1/tools/echo/call", &call),
    ] {
        let told = asked.send(at).await;
        assert_eq!(told.status, 409, "{}", told.text());
        for said in [
            "busy",
            "is being deleted now",
            "try again when that is done",
        ] {
            assert!(told.text().contains(said), "{said}: {}", told.text());
        }
    }
    let input = crate::agui::input("s", "r", crate::agui::says("hi"));
    let told = post("/agui", &input).send(at).await.text();
    assert!(told.contains("is being deleted now"), "{told}");
    log.let_go(Point::Delete);
    assert_eq!(deleting.join_next().await.unwrap().unwrap(), 204);
    let told = post("/v1/runs", &body).send(at).await;
    assert_eq!(told.status, 200, "{}", told.text());
    served.stop().await;
}
