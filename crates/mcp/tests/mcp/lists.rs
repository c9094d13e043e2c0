//! What is offered of what a server lists.

use std::time::Duration;

use outfitter_core::{
    Attended, Effects, Grant, NameSet, Role, Selection, SessionFacts, SessionId, ToolContext,
    ToolSource as _,
};
use outfitter_mcp::{Enabled, Era, McpSource, ServerState, StdioServer};
use outfitter_tools::ToolRegistry;
use rstest::rstest;
use serde_json::json;

use crate::support::{Odd, faults, host, id, names, until};

#[tokio::test]
async fn a_server_that_prints_other_things_first_is_ready_all_the_same() {
    for mode in [
        "banner",
        "stderr",
        "string_ids",
        "no_version",
        "no_server_info",
    ] {
        let odd = Odd::ready(mode).await;
        assert_eq!(names(&odd.source), ["echo"], "{mode}");
        assert_eq!(odd.faults(), Vec::<String>::new(), "{mode}");
        let outcome = odd.call("echo", json!({"a": 1})).await.unwrap();
        assert_eq!(outcome.result, json!(r#"{"a": 1}"#), "{mode}");
    }
}

#[tokio::test]
async fn what_is_printed_is_kept_for_people() {
    let odd = Odd::ready("banner").await;
    assert!(odd.source.stderr().contains("Welcome to the odd server!"));
    let odd = Odd::ready("stderr").await;
    until(|| odd.source.stderr().len() == 16 * 1024).await;
}

#[tokio::test]
async fn a_bad_tool_costs_itself_and_says_why() {
    let odd = Odd::ready("bad_tools").await;
    let mut good: Vec<String> = (0..9).map(|n| format!("good{n}")).collect();
    good.push("odd".to_owned());
    assert_eq!(names(&odd.source), good);
    insta::assert_snapshot!(odd.faults().join("\n"));
    let status = odd.source.status();
    assert_eq!((status.status, status.tools), (ServerState::Degraded, 10));
}

#[tokio::test]
async fn all_pages_are_read_and_a_circle_of_pages_ends() {
    assert_eq!(names(&Odd::ready("pages").await.source).len(), 120);
    let odd = Odd::ready("cursor").await;
    assert_eq!(names(&odd.source), ["echo"]);
    assert!(
        odd.faults()
            .contains(&"tools/list: its pages go round in a circle".to_owned())
    );
    assert!(odd.count("tools/list") <= 2);
}

#[tokio::test]
async fn only_the_tools_that_the_operator_wants_are_offered() {
    let odd = Odd::start_with("pages", &[], |server| {
        server.tools = NameSet::of(["t1?", "t7"]);
    });
    odd.until_ready().await;
    assert_eq!(names(&odd.source).len(), 11);
}

#[tokio::test]
async fn names_that_no_provider_takes_become_names_that_all_take() {
    let odd = Odd::ready("names").await;
    let registry = ToolRegistry::default();
    let source = std::sync::Arc::new(odd.source);
    registry.add(source.clone()).unwrap();
    assert_eq!(registry.faults(), []);
    let view = registry
        .seal(Grant::full(Role::User), Selection::default())
        .view(&session());
    let presented: Vec<&str> = view
        .presented()
        .map(outfitter_core::ToolName::as_str)
        .collect();
    insta::assert_snapshot!(presented.join("\n"));
    for name in presented {
        assert!(name.len() <= 64 && name.starts_with("odd__"), "{name}");
    }
}

#[tokio::test]
async fn listing_never_waits_and_says_that_the_server_is_starting() {
    let odd = Odd::start("late");
    assert_eq!(odd.faults(), ["server: it is starting"]);
    assert_eq!(odd.source.status().status, ServerState::Starting);
    odd.until_ready().await;
    assert_eq!(odd.faults(), Vec::<String>::new());
}

#[tokio::test]
async fn a_tool_that_comes_later_is_offered_and_told_of() {
    use futures_util::StreamExt as _;
    let odd = Odd::ready("grows").await;
    let before = odd.source.snapshot();
    let mut changes = odd.source.changes();
    odd.call("echo", json!({})).await.unwrap();
    let generation = tokio::time::timeout(crate::support::LONG, changes.next()).await;
    assert!(generation.unwrap().unwrap() > before.generation);
    assert_eq!(names(&odd.source), ["echo", "grown"]);
    assert!(
        std::sync::Arc::ptr_eq(&before.tools[0], &odd.source.snapshot().tools[0]),
        "an unchanged tool is the same one"
    );
}

#[rstest]
#[case::not_there("no-such-program-anywhere", "no-such-program-anywhere was not started")]
#[case::ends_at_once("false", "it ended with code 1")]
#[tokio::test]
async fn a_server_that_does_not_start_is_a_fault_with_a_reason(
    #[case] program: &str,
    #[case] why: &str,
) {
    let source = McpSource::start(StdioServer::new(id("odd"), program, "/"), host()).unwrap();
    until(|| source.status().status == ServerState::Down).await;
    let faults = faults(&source);
    assert!(faults[0].contains(why), "{faults:?}");
    assert_eq!(names(&source), Vec::<String>::new());
}

#[tokio::test]
async fn a_program_that_is_not_found_is_told_with_the_path_that_was_searched() {
    let server = StdioServer::new(id("odd"), "no-such-program", "/");
    let source = McpSource::start(server, host()).unwrap();
    until(|| source.status().status == ServerState::Down).await;
    assert!(
        source
            .status()
            .last_error
            .unwrap()
            .ends_with("searched was /usr/local/bin:/usr/bin:/bin")
    );
}

#[tokio::test]
async fn what_a_server_printed_last_is_in_the_reason() {
    let odd = Odd::start("crash");
    until(|| odd.source.status().status == ServerState::Down).await;
    let error = odd.source.status().last_error.unwrap();
    assert!(
        error.contains("code 5") && error.contains("cannot find the licence"),
        "{error}"
    );
}

#[tokio::test]
async fn what_a_server_prints_of_its_environment_is_not_shown() {
    let odd = Odd::start_with("tells", &[], |server| {
        server.env = vec![("KEY".into(), "sentinel-secret".into())];
    });
    until(|| odd.source.status().status == ServerState::Down).await;
    let error = odd.source.status().last_error.unwrap();
    assert!(error.contains("the key is [redacted]"), "{error}");
    assert!(!format!("{:?} {}", odd.faults(), odd.source.stderr()).contains("sentinel-secret"));
}

#[tokio::test]
async fn a_list_that_is_no_list_is_a_fault() {
    let odd = Odd::ready("odd_list").await;
    assert_eq!(
        odd.faults(),
        ["tools/list: a page of it has no list of tools"]
    );
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let odd = Odd::start_with("deaf", &[], |server| {
        server.connect_timeout = Duration::from_secs(3);
    });
    until(|| odd.source.status().status == ServerState::Down).await;
    assert_eq!(
        odd.source.status().last_error.unwrap(),
        "it was not ready after 3 s"
    );
}

#[rstest]
#[case("future", r#"revision "2099-01-01""#)]
#[case("modern_in_legacy", r#"revision "2026-07-28""#)]
#[tokio::test]
async fn a_revision_that_has_no_handshake_or_is_unknown_is_refused(
    #[case] mode: &str,
    #[case] why: &str,
) {
    let odd = Odd::start(mode);
    until(|| odd.source.status().status == ServerState::Down).await;
    let error = odd.source.status().last_error.unwrap();
    assert!(error.contains(why), "{error}");
}

#[tokio::test]
async fn a_legacy_server_is_offered_a_revision_with_a_handshake() {
    let odd = Odd::ready("plain").await;
    let told = odd.told();
    let initialize = told
        .iter()
        .find(|message| message["method"] == "initialize")
        .unwrap();
    assert_eq!(initialize["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(odd.source.status().era, Some(Era::Legacy));
    until(|| odd.count("notifications/initialized") == 1).await;
}

#[tokio::test]
async fn a_modern_server_is_spoken_to_with_metadata_in_each_request() {
    let odd = Odd::ready("modern").await;
    assert_eq!(odd.source.status().era, Some(Era::Modern));
    let outcome = odd.call("echo", json!({})).await.unwrap();
    assert_eq!(outcome.result, json!("modern"));
    assert_eq!(odd.count("initialize"), 0);
    until(|| odd.count("subscriptions/listen") == 1).await;
}

#[tokio::test]
async fn a_server_that_ends_when_it_is_asked_for_its_era_is_started_again_as_a_legacy_one() {
    let odd = Odd::ready("probe_exit").await;
    assert_eq!(
        (odd.lives(), odd.source.status().era),
        (2, Some(Era::Legacy))
    );
    assert_eq!(odd.count("server/discover"), 1, "it is not asked again");
}

#[tokio::test]
async fn a_server_that_is_silent_when_it_is_asked_for_its_era_is_a_legacy_one() {
    let odd = Odd::ready("probe_silent").await;
    assert_eq!(
        (odd.lives(), odd.source.status().era),
        (1, Some(Era::Legacy))
    );
    assert_eq!(
        odd.count("notifications/cancelled"),
        0,
        "a handshake is not cancelled"
    );
}

#[tokio::test]
async fn silence_about_the_era_costs_little_of_the_time_to_get_ready() {
    let odd = Odd::start_with("probe_silent", &[], |server| {
        server.connect_timeout = Duration::from_secs(5);
    });
    odd.until_ready().await;
    assert_eq!(odd.source.status().era, Some(Era::Legacy));
}

#[rstest]
#[case::without_a_handshake("late_modern")]
#[case::with_one_too("late_both")]
#[tokio::test]
async fn a_modern_server_that_is_slow_to_start_is_a_modern_one(#[case] mode: &str) {
    let odd = Odd::ready(mode).await;
    assert_eq!(
        (odd.lives(), odd.source.status().era),
        (1, Some(Era::Modern))
    );
}

#[tokio::test]
async fn what_a_server_says_of_itself_does_not_decide_what_it_may_do() {
    let odd = Odd::start_with("plain", &[], |server| server.min_role = Role::Admin);
    odd.until_ready().await;
    let spec = odd.source.snapshot().tools[0].spec().clone();
    assert_eq!((spec.min_role, spec.idempotent), (Role::Admin, false));
    assert_eq!(spec.effects, StdioServer::DEFAULT_EFFECTS);
    let odd = Odd::start_with("plain", &[], |server| server.effects = Effects::ALL);
    odd.until_ready().await;
    assert_eq!(odd.source.snapshot().tools[0].spec().effects, Effects::ALL);
}

#[tokio::test]
async fn a_server_that_is_turned_off_is_not_started() {
    let odd = Odd::start_with("plain", &[], |server| server.state = Enabled::No);
    assert_eq!(odd.source.status().status, ServerState::Disabled);
    odd.source.settled(Duration::from_secs(60)).await;
    assert_eq!((odd.lives(), odd.faults()), (0, Vec::new()));
}

#[rstest]
#[case(|server: &mut StdioServer| server.cwd = "here".into(), "the working directory must be absolute")]
#[case(|server: &mut StdioServer| server.concurrency = 0, "concurrency must be at least 1")]
#[case(|server: &mut StdioServer| server.call_timeout = Duration::ZERO, "a timeout must be longer than nothing")]
#[case(|server: &mut StdioServer| server.command = "".into(), "there is no command")]
fn a_server_that_cannot_be_run_is_refused(#[case] change: fn(&mut StdioServer), #[case] why: &str) {
    let mut server = StdioServer::new(id("odd"), "python3", "/");
    change(&mut server);
    let error = McpSource::start(server, host()).err().unwrap();
    assert_eq!(error.to_string(), format!("use the MCP server odd: {why}"));
}

#[test]
fn the_status_is_what_the_api_documents() {
    let status = outfitter_mcp::ServerStatus {
        name: "notes".to_owned(),
        transport: outfitter_mcp::Transport::Stdio,
        era: Some(Era::Modern),
        status: ServerState::Ready,
        since: outfitter_core::UnixMs(1),
        last_error: Some("it ended with code 1".to_owned()),
        tools: 4,
        restarts: 1,
        lazy: false,
        changed: None,
    };
    insta::assert_json_snapshot!(status);
}

fn session() -> SessionFacts {
    SessionFacts {
        who: std::sync::Arc::new(outfitter_core::Principal {
            role: Role::User,
            ..(*ToolContext::detached().who).clone()
        }),
        session: SessionId::new("s").unwrap(),
        attended: Attended::No,
        expanded: std::sync::Arc::default(),
        suggested: None,
        skills: NameSet::all(),
    }
}
