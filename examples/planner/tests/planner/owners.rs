//! Each sees what is theirs, and proves who they are.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use outfitter_core::Role;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{At, World, ada, run, who};

async fn event(world: &World) -> Value {
    let ran = world
        .write(
            &ada(),
            json!({
                "title": "ada's secret", "start": "2026-12-01T09:00:00Z", "end": "2026-12-01T10:30:00Z",
                "attendees": ["bob", "--json"], "notes": "x".repeat(10_000),
            }),
        )
        .await;
    ran.result()["event"].clone()
}

#[tokio::test]
async fn an_event_is_made_changed_read_and_deleted() {
    let world = World::new();
    let made = event(&world).await;
    assert_eq!(
        (&made["revision"], &made["attendees"]),
        (&json!(1), &json!(["bob", "--json"]))
    );
    let id = made["id"].as_str().unwrap();

    let moved = json!({ "id": id, "start": "2026-12-02T09:00:00Z", "if-revision": 1 });
    let result = world.write(&ada(), moved.clone()).await.result();
    assert_eq!(result["action"], "updated");
    assert_eq!(
        result["event"]["end"], "2026-12-02T10:30:00Z",
        "it keeps its length"
    );
    assert_eq!(result["event"]["title"], "ada's secret");

    let ran = world.write(&ada(), moved).await;
    assert_eq!(ran.code(), ("conflict".to_owned(), 6));
    assert_eq!(
        ran.document()["error"]["details"],
        json!({ "expected": 1, "got": 2 })
    );

    let read = world
        .read(&ada(), json!({ "query": "SECRET" }))
        .await
        .result();
    assert_eq!(
        (&read["count"], &read["events"][0]["revision"]),
        (&json!(1), &json!(2))
    );

    let result = world
        .write(&ada(), json!({ "id": id, "delete": true }))
        .await
        .result();
    assert_eq!(result["action"], "deleted");
    assert_eq!(world.read(&ada(), json!({})).await.result()["count"], 0);
}

#[tokio::test]
async fn another_persons_event_is_not_found_by_any_way() {
    let world = World::new();
    let id = event(&world).await["id"].clone();
    for other in [
        who("acme", "bob", Role::Admin),
        who("umbrella", "ada", Role::Admin),
        who("", "acme/ada", Role::Admin),
    ] {
        // A token that names nobody is none.
        let nobody = other.tenant.as_str().is_empty();
        let code = |found: &str, exit| match nobody {
            true => ("unauthenticated".to_owned(), 3),
            false => (found.to_owned(), exit),
        };
        for args in [
            json!({ "id": id, "delete": true }),
            json!({ "id": id, "title": "mine now" }),
            json!({ "id": id, "if-revision": 99 }),
        ] {
            let ran = world.write(&other, args).await;
            assert_eq!(ran.code(), code("not_found", 5));
            assert!(!ran.stdout.contains("secret"));
        }
        let ran = world.read(&other, json!({ "id": id })).await;
        assert_eq!(ran.code(), code("not_found", 5));
        if !nobody {
            let all = world.read(&other, json!({})).await;
            assert_eq!(all.result()["count"], 0);
        }
    }
    // What is not there at all is answered with the same words.
    let ran = world.read(&ada(), json!({ "id": "evt_0" })).await;
    assert_eq!(
        ran.document()["error"]["message"],
        "there is no event evt_0"
    );
    assert_eq!(world.read(&ada(), json!({})).await.result()["count"], 1);
}

#[tokio::test]
async fn no_argument_says_whose_calendar_it_is() {
    let world = World::new();
    event(&world).await;
    let bob = who("acme", "bob", Role::User);
    for name in ["owner", "subject", "tenant", "user_id", "token"] {
        let ran = world.read(&bob, json!({ name: "ada" })).await;
        assert_eq!(ran.code(), ("invalid_arguments".to_owned(), 2), "{name}");
    }
}

#[tokio::test]
async fn an_expired_credential_opens_nothing() {
    let now = outfitter_core::Clock::now(&outfitter_core::SystemClock).0;
    let world = World::issuing_at(Arc::new(At(now - 301_000)));
    let ran = world.read(&ada(), json!({})).await;
    assert_eq!(ran.code(), ("unauthenticated".to_owned(), 3));
    assert_eq!(
        ran.document()["error"]["message"],
        "failed to check the credential: it has expired"
    );
    assert!(!world.calendar().exists());
}

#[rstest]
#[case::none(None, "there is no credential to check: PROJECT_CLI_TOKEN is not set")]
#[case::empty(Some(""), "failed to check the credential: there is none")]
#[case::no_token(Some("ada"), "failed to check the credential: it is no signed token")]
fn a_program_without_a_credential_is_nobody(#[case] token: Option<&str>, #[case] message: &str) {
    let world = World::new();
    let ran = world.run_with(&["calendar", "read", "--json"], token, "");
    assert_eq!(ran.code(), ("unauthenticated".to_owned(), 3));
    assert_eq!(ran.document()["error"]["message"], message);
}

#[tokio::test]
async fn a_credential_of_somebody_elses_issuer_opens_nothing() {
    let (world, other) = (World::new(), World::new());
    let token = other.token(&ada(), "calendar:read").await;
    let ran = world.run_with(&["calendar", "read", "--json"], Some(&token), "");
    assert_eq!(ran.code(), ("unauthenticated".to_owned(), 3));
    assert!(!ran.stdout.contains(&token) && !ran.stderr.contains(&token));
}

#[tokio::test]
async fn each_use_of_a_credential_is_in_the_log_by_its_id() {
    let world = World::new();
    let token = world.token(&ada(), "calendar:read").await;
    let ran = world.run_with(&["calendar", "read", "--json"], Some(&token), "");
    let line = ran.stderr.trim_end();
    let id = line
        .strip_prefix("planner: calendar:read for acme/ada, credential ")
        .unwrap_or_else(|| panic!("{line}"));
    assert_eq!(id.len(), 22);
    assert!(!ran.stderr.contains(&token));
    let ran = world.run_with(&["calendar", "read", "--json"], Some("forged"), "");
    assert_eq!(
        ran.stderr,
        "planner: calendar:read refused: failed to check the credential: it is no signed token\n"
    );
}

#[tokio::test]
async fn a_credential_for_another_program_opens_nothing() {
    let world = World::new();
    let token = world.token(&ada(), "calendar:read").await;
    let env = [
        ("PLANNER_DIR", world.calendar()),
        ("PROJECT_CLI_TOKEN", token.into()),
        ("PROJECT_CLI_JWKS_FILE", world.dir.path().join("jwks.json")),
        ("PROJECT_CLI_AUDIENCE", "billing".into()),
    ];
    let ran = run(&["calendar", "read", "--json"], &env, "");
    assert_eq!(ran.code(), ("unauthenticated".to_owned(), 3));
}

#[tokio::test]
async fn a_credential_to_read_does_not_write() {
    let world = World::new();
    let token = world.token(&ada(), "calendar:read").await;
    let argv = [
        "calendar",
        "write",
        "--json",
        "--title=x",
        "--start=2026-12-01",
    ];
    let ran = world.run_with(&argv, Some(&token), "");
    assert_eq!(ran.code(), ("not_permitted".to_owned(), 4));
}

#[tokio::test]
async fn a_guest_may_look_and_not_change() {
    let world = World::new();
    let guest = who("acme", "ada", Role::Guest);
    let ran = world
        .write(&guest, json!({ "title": "x", "start": "2026-12-01" }))
        .await;
    assert_eq!(ran.code(), ("not_permitted".to_owned(), 4));
    assert_eq!(world.read(&guest, json!({})).await.exit, 0);
}

#[tokio::test]
async fn a_person_with_a_credential_is_who_it_says_also_without_json() {
    let world = World::new();
    event(&world).await;
    let token = world.token(&ada(), "calendar:read").await;
    let ran = world.run_with(&["calendar", "read"], Some(&token), "");
    assert!(ran.stdout.contains("ada's secret"), "{ran:?}");
    let ran = world.run_with(&["calendar", "read"], Some("forged"), "");
    assert_eq!(ran.exit, 3, "never the local person");
    let ran = world.run_with(&["calendar", "read"], None, "");
    assert_eq!(ran.stdout, "no events\n");
}

#[tokio::test]
async fn the_calendar_is_ours_alone_on_the_disk() {
    let world = World::new();
    event(&world).await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.calendar()), 0o700);
    for entry in fs::read_dir(world.calendar()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn writers_at_once_lose_nothing() {
    let world = World::new();
    let token = world.token(&ada(), "calendar:write").await;
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (world, token) = (&world, &token);
            scope.spawn(move || {
                let title = format!("--title={n}");
                let argv = ["calendar", "write", "--json", &title, "--start=2026-12-01"];
                assert_eq!(world.run_with(&argv, Some(token), "").exit, 0);
            });
        }
    });
    assert_eq!(world.read(&ada(), json!({})).await.result()["count"], 8);
}

#[rstest]
#[case("{", "is no JSON")]
#[case("[]", "is not {\"args\":{…}}")]
#[case(r#"{"args":[]}"#, "is not {\"args\":{…}}")]
#[case(r#"{"args":{},"more":1}"#, "is not {\"args\":{…}}")]
#[case(r#"{"args":{"title":"y"}}"#, "title is a flag and input, too")]
fn input_that_is_none_is_refused(#[case] input: &str, #[case] why: &str) {
    let world = World::new();
    let argv = ["calendar", "write", "--json", "--title=x", "--stdin"];
    let ran = world.run_with(&argv, None, input);
    assert_eq!(ran.code(), ("usage".to_owned(), 2));
    let message = ran.document()["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(message.contains(why), "{message}");
}
