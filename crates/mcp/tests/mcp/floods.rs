//! Servers that print without end: they cost themselves and nobody else.

use std::time::Duration;

use outfitter_core::Code;
use outfitter_mcp::ServerState;
use rstest::rstest;
use serde_json::json;

use crate::support::{LONG, Odd};

/// Until it is known how the server stands; without a time of its own.
async fn settled(odd: &Odd) {
    let settled = tokio::time::timeout(LONG, odd.source.settled(Duration::MAX));
    settled.await.expect("it goes on for ever");
}

#[rstest]
#[case("floods")]
#[case("floods_blank")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_prints_no_protocol_is_ended_and_not_started_again(#[case] mode: &str) {
    let odd = Odd::start(mode);
    settled(&odd).await;
    let status = odd.source.status();
    assert_eq!(status.status, ServerState::Down);
    let why = status.last_error.unwrap();
    assert!(
        why.starts_with("protocol_error: 10000 lines in a row that it printed are no messages"),
        "{why}"
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(odd.lives(), 1);
}

#[rstest]
#[case("floods_without_lines")]
#[case("floods_stderr")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_prints_without_end_does_not_hold_up_the_time_it_has(#[case] mode: &str) {
    let odd = Odd::start_with(mode, &[], |server| {
        server.connect_timeout = Duration::from_secs(2);
    });
    settled(&odd).await;
    assert_eq!(
        odd.source.status().last_error.unwrap(),
        "it was not ready after 2 s"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_server_turns_to_nonsense_is_a_protocol_error_and_the_next_starts_it_again() {
    let odd = Odd::ready("floods_later").await;
    let error = odd.call("flood", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::ProtocolError, "{error}");
    let outcome = odd.call("echo", json!({"a": 1})).await.unwrap();
    assert_eq!(outcome.result, json!(r#"{"a": 1}"#));
    assert_eq!((odd.lives(), odd.count("tools/call")), (2, 2));
}

#[tokio::test]
async fn a_server_that_logs_where_it_must_not_is_read_on_as_long_as_messages_come() {
    let odd = Odd::ready("chatty").await;
    for _ in 0..3 {
        let outcome = odd.call("echo", json!({})).await.unwrap();
        assert_eq!(outcome.result, json!("worked"));
    }
    assert_eq!(odd.lives(), 1);
}
