//! The page of the routes says what the routes do.

use std::collections::BTreeSet;

use outfitter_core::ApprovalScope;
use serde_json::{Value, json};

use crate::client::{Ask, get, post};
use crate::harness::World;

const PAGE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/protocols/http.md"
));
const ROUTES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/routes/mod.rs"));

/// The rows of the table of routes: what is asked, and what is answered.
fn rows() -> Vec<(String, String)> {
    let rows = PAGE.lines().filter(|line| {
        let methods = ["GET", "POST", "DELETE", "ANY"];
        methods
            .iter()
            .any(|method| line.starts_with(&format!("| `{method} ")))
    });
    rows.map(|row| {
        let row = row.replace("\\|", "or");
        let mut cells = row.trim_matches('|').splitn(2, " | ");
        let mut cell = || cells.next().unwrap().trim().to_owned();
        (cell(), cell())
    })
    .collect()
}

/// The row of a method and a path.
fn row(of: &str) -> (String, String) {
    let begins = format!("`{of}");
    let found = rows().into_iter().find(|(asked, _)| {
        let rest = asked.strip_prefix(&begins);
        rest.is_some_and(|rest| rest.starts_with(['`', '?']))
    });
    found.unwrap_or_else(|| panic!("no row {of}"))
}

/// The members of the first object in a text: those that are always there, and the others.
fn members(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let start = text.find('{').unwrap() + 1;
    let (mut depth, mut name, mut names) = (0, String::new(), Vec::new());
    for c in text[start..].chars() {
        match c {
            '{' | '[' => depth += 1,
            '}' if depth == 0 => break,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => names.push(std::mem::take(&mut name)),
            _ if depth == 0 => name.push(c),
            _ => {}
        }
    }
    names.push(name);
    let names = names
        .iter()
        .map(|name| name.split(':').next().unwrap().trim());
    let (optional, always): (Vec<&str>, Vec<&str>) = names.partition(|name| name.ends_with('?'));
    let all = |names: Vec<&str>| {
        let names = names.into_iter().map(|name| name.trim_end_matches('?'));
        names.map(str::to_owned).collect()
    };
    (all(always), all(optional))
}

#[test]
fn every_route_has_its_row() {
    let paths = ROUTES.split('"').filter(|text| text.starts_with('/'));
    let paths: BTreeSet<&str> = paths.filter(|path| !path.contains(' ')).collect();
    assert!(paths.len() > 15, "{paths:?}");
    for path in paths {
        let named = PAGE.contains(&format!("{path}`")) || PAGE.contains(&format!("{path}?"));
        assert!(named, "{path} is not on the page");
    }
}

#[tokio::test]
async fn every_row_is_a_route() {
    let served = World::new().serve().await;
    for (asked, _) in rows() {
        let asked = asked.split('`').nth(1).unwrap();
        let (method, paths) = asked.split_once(' ').unwrap();
        let method = match method {
            "GET" => "GET",
            "POST" => "POST",
            "DELETE" => "DELETE",
            _ => continue,
        };
        let path = paths.split(['?', ' ']).next().unwrap();
        let path = path
            .trim_end_matches(',')
            .replace("{id}", "x")
            .replace("{name}", "x");
        let told = Ask::new(method, path.clone()).send(served.at).await;
        assert_ne!(told.status, 405, "{method} {path}");
        let nothing = "there is nothing at this path";
        assert!(!told.text().contains(nothing), "{method} {path}");
    }
    served.stop().await;
}

/// Documents have the members that the page names, and no other.
#[tokio::test]
async fn documents_are_as_the_page_says() {
    let served = World::new().serve().await;
    let body = json!({ "session_id": "s", "input": "call echo {}" });
    let ran = post("/v1/runs", &body).send(served.at).await;
    let run = &ran.headers["outfitter-run-id"];
    for (row_of, path) in [
        ("GET /v1/runs/{id}", format!("/v1/runs/{run}")),
        ("GET /v1/approvals", "/v1/approvals".to_owned()),
        ("GET /v1/sessions", "/v1/sessions".to_owned()),
        ("GET /v1/sessions/{id}", "/v1/sessions/s".to_owned()),
        (
            "GET /v1/sessions/{id}/messages",
            "/v1/sessions/s/messages".to_owned(),
        ),
    ] {
        let (_, answered) = row(row_of);
        let (always, optional) = members(&answered);
        let told = get(path).send(served.at).await.json();
        let told: BTreeSet<String> = told.as_object().unwrap().keys().cloned().collect();
        assert!(always.is_subset(&told), "{row_of}: {always:?} {told:?}");
        let known: BTreeSet<String> = always.union(&optional).cloned().collect();
        assert!(told.is_subset(&known), "{row_of}: {known:?} {told:?}");
    }
    served.stop().await;
}

/// Bodies take the members that the page names, and no other.
#[tokio::test]
async fn bodies_are_as_the_page_says() {
    let served = World::new().serve().await;
    for (row_of, path) in [
        ("POST /v1/runs", "/v1/runs"),
        ("POST /v1/questions/{id}/answer", "/v1/questions/x/answer"),
        ("POST /v1/approvals/{id}", "/v1/approvals/x"),
        ("POST /v1/tools/{name}/call", "/v1/tools/echo/call"),
    ] {
        let (asked, _) = row(row_of);
        // What is between the braces that are no part of the path.
        let (_, body) = asked.split_once("` `").unwrap();
        let (always, optional) = members(body);
        for member in always.union(&optional) {
            let mut body = json!({});
            body[member] = json!([]);
            let told = post(path, &body).send(served.at).await.text();
            assert!(!told.contains("unknown field"), "{row_of} {member}: {told}");
        }
        let told = post(path, &json!({ "another": 1 })).send(served.at).await;
        assert_eq!(told.status, 400, "{row_of}: {}", told.text());
    }
    served.stop().await;
}

/// Only `once` was on the page.
#[tokio::test]
async fn every_word_of_an_approval_is_on_the_page_and_taken() {
    let (asked, _) = row("POST /v1/approvals/{id}");
    let said: Vec<&str> = asked.split('"').skip(1).step_by(2).collect();
    let (decisions, scopes): (Vec<&str>, Vec<&str>) = said
        .into_iter()
        .partition(|word| ApprovalScope::of(word).is_none());
    assert_eq!(decisions, ["approve", "deny"]);
    assert_eq!(scopes, ["once", "session", "always"]);
    let served = World::new().serve().await;
    for scope in scopes {
        let body = json!({ "decision": "approve", "scope": scope });
        let told = post("/v1/approvals/int_nothing", &body)
            .send(served.at)
            .await;
        told.is_problem(404, "not_found");
    }
    let body = json!({ "decision": "approve", "scope": "ever" });
    let told = post("/v1/approvals/int_nothing", &body)
        .send(served.at)
        .await;
    told.is_problem(400, "invalid_arguments");
    served.stop().await;
}

/// A body that is no object of the kind is said to be none, and the page says with which status.
#[tokio::test]
async fn what_is_wrong_is_answered_as_the_table_says() {
    let served = World::new().serve().await;
    let said = |what: &str| {
        let row = PAGE.lines().find(|line| line.contains(what));
        let row = row.unwrap_or_else(|| panic!("no row {what}"));
        row.trim_end_matches('|')
            .rsplit('|')
            .next()
            .unwrap()
            .trim()
            .to_owned()
    };
    let told = post("/v1/runs", &Value::Null).send(served.at).await;
    assert_eq!(
        said("does not parse or has a field that is not known"),
        told.status.to_string()
    );
    let told = post("/v1/runs", &json!({})).header("content-type", "text/plain");
    let told = told.send(served.at).await;
    assert_eq!(
        said("a body that is not `application/json`"),
        told.status.to_string()
    );
    served.stop().await;
}
