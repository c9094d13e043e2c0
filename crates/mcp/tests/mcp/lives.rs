//! Processes: none is left behind, and none more than wanted.

use std::time::Duration;

use outfitter_core::{Code, ToolSource as _};
use outfitter_mcp::{ServerState, StdioServer};
use serde_json::json;

use crate::support::{Odd, alive, tool, until};

/// A length of sleep that no other process has.
fn marker(own: u32) -> String {
    format!("{}.{own}", 100_000 + std::process::id())
}

#[tokio::test]
async fn stopping_ends_the_server_and_what_it_started() {
    let marker = marker(1);
    let odd = Odd::start_with("orphan", &[&marker], |_| {});
    odd.until_ready().await;
    assert_eq!(alive(&format!("sleep {marker}")).len(), 1);
    odd.source.stop().await;
    until(|| alive(&marker).is_empty()).await;
    assert_eq!(odd.source.status().status, ServerState::Down);
    let error = odd.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
}

#[tokio::test]
async fn dropping_the_source_ends_all_of_it_too() {
    let marker = marker(2);
    let odd = Odd::start_with("orphan", &[&marker], |_| {});
    odd.until_ready().await;
    drop(odd);
    until(|| alive(&marker).is_empty()).await;
}

#[tokio::test]
async fn a_server_that_ignores_the_end_of_its_input_is_killed() {
    let marker = marker(3);
    let odd = Odd::start_with("immortal", &[&marker], |_| {});
    odd.until_ready().await;
    odd.source.stop().await;
    until(|| alive(&marker).is_empty()).await;
}

#[tokio::test]
async fn a_server_that_dies_takes_what_it_started_with_it_before_the_next_life() {
    let marker = marker(4);
    let odd = Odd::start_with("orphan", &[&marker], |_| {});
    odd.until_ready().await;
    let server = alive("odd.py orphan").into_iter().find(|pid| {
        std::fs::read_to_string(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.contains(&marker))
    });
    let pid = rustix::process::Pid::from_raw(i32::try_from(server.unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until(|| odd.lives() == 2).await;
    odd.until_ready().await;
    assert_eq!(alive(&format!("sleep {marker}")).len(), 1);
    assert_eq!(odd.source.status().restarts, 1);
}

#[tokio::test]
async fn a_server_that_always_dies_is_not_started_for_ever() {
    let odd = Odd::start("crash");
    // Each of six starts is tried in both eras.
    until(|| odd.lives() >= 11).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let lives = odd.lives();
    assert!(lives <= 12, "{lives}");
    assert_eq!(odd.source.status().status, ServerState::Down);
}

#[tokio::test]
async fn a_call_in_flight_ends_when_the_server_is_stopped() {
    let odd = Odd::ready("mute").await;
    let call = odd.call("echo", json!({}));
    let stop = async {
        until(|| odd.count("tools/call") == 1).await;
        odd.source.stop().await;
    };
    let (ended, ()) = tokio::join!(call, stop);
    assert_eq!(ended.unwrap_err().code(), Code::Unavailable);
}

/// Whoever takes one server away takes away nothing of another, nor of who calls it.
#[tokio::test]
async fn a_call_goes_on_while_another_server_is_stopped_and_dropped() {
    let (slow, other) = tokio::join!(Odd::ready("progress"), Odd::ready("plain"));
    let call = slow.call("echo", json!({"text": "still here"}));
    let take_away = async {
        until(|| slow.count("tools/call") == 1).await;
        other.source.stop().await;
        drop(other);
    };
    let (ended, ()) = tokio::join!(call, take_away);
    assert!(ended.is_ok(), "{ended:?}");
}

#[tokio::test]
async fn a_tool_outlives_its_source_and_says_so() {
    let odd = Odd::ready("plain").await;
    let echo = tool(&odd.source, "echo");
    drop(odd);
    let cx = outfitter_core::ToolContext::detached();
    let reply = tokio::time::timeout(crate::support::LONG, echo.call(&cx, json!({}))).await;
    assert_eq!(reply.unwrap().unwrap_err().code(), Code::Unavailable);
}

#[test]
fn neither_arguments_nor_environment_are_shown() {
    let mut server =
        StdioServer::new(crate::support::id("odd"), "python3", "/").args(["sentinel-secret"]);
    server.env = vec![("TOKEN".into(), "sentinel-secret".into())];
    assert!(!format!("{server:?}").contains("sentinel-secret"));
}

#[tokio::test]
async fn a_source_that_is_stopped_keeps_saying_what_it_offered() {
    let odd = Odd::ready("plain").await;
    odd.source.stop().await;
    assert_eq!(odd.source.snapshot().tools.len(), 1);
    assert_eq!(odd.faults(), ["server: it was stopped"]);
}

#[tokio::test]
async fn stopping_ends_the_input_first_and_leaves_a_server_the_time_to_end_by_itself() {
    let odd = Odd::ready("farewell").await;
    odd.source.stop().await;
    assert_eq!(odd.farewell(), "ended\n", "it is not told to end before");
}

/// Guests read it at `/v1/mcp/servers`.
#[tokio::test]
async fn what_a_server_was_given_was_told_where_it_failed() {
    let name = crate::support::id("q");
    let script = "echo \"bad $1 $2 $K\" >&2; exit 3";
    let mut server =
        StdioServer::new(name, "sh", "/").args(["-c", script, "sh", "--token", "SECTOK"]);
    server.env = vec![("K".into(), "SECENV1234567".into())];
    let source = outfitter_mcp::McpSource::start(server, crate::support::host()).unwrap();
    until(|| source.status().status == ServerState::Down).await;
    let why = source.status().last_error.unwrap();
    let says = "it ended with code 3; it printed last: bad --token [redacted] [redacted]";
    assert!(why.starts_with(says) && !why.contains("SEC"), "{why}");
    assert!(
        source
            .stderr()
            .starts_with("bad --token [redacted] [redacted]\n")
    );
    let faults = format!("{:?}", source.snapshot().faults);
    assert!(faults.contains(&why) && !faults.contains("SEC"), "{faults}");
}
