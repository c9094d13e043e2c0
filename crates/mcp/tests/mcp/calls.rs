//! What comes of a call, whatever the server does.

use std::time::Duration;

use outfitter_core::{Code, ToolContext};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Odd, Shelf, call_in, until, watched};

#[tokio::test]
async fn an_unknown_block_is_told_of_and_the_rest_is_there() {
    let odd = Odd::ready("video").await;
    let outcome = odd.call("echo", json!({})).await.unwrap();
    assert_eq!(
        outcome.result,
        json!("before\n[video video/mp4, 5 bytes: not shown]")
    );
}

#[rstest]
#[case::lone_surrogate("surrogate")]
#[case::byte_that_is_no_text("byte")]
#[tokio::test]
async fn what_is_no_text_is_replaced(#[case] mode: &str) {
    let odd = Odd::ready(mode).await;
    let outcome = odd.call("echo", json!({})).await.unwrap();
    assert_eq!(outcome.result, json!("a\u{fffd}z"));
}

#[rstest]
#[case::id_first("huge", Code::TooLarge)]
#[case::id_last("huge_id_last", Code::TooLarge)]
#[case::cut_off("garbled", Code::ProtocolError)]
#[tokio::test]
async fn a_reply_that_cannot_be_read_fails_its_call_and_not_the_server(
    #[case] mode: &str,
    #[case] code: Code,
) {
    let odd = Odd::ready(mode).await;
    let error = odd.call("echo", json!({"huge": true})).await.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    if mode == "huge" {
        assert_eq!(
            odd.call("echo", json!({})).await.unwrap().result,
            json!("small")
        );
    }
    assert_eq!(odd.lives(), 1);
}

#[tokio::test]
async fn a_server_that_dies_fails_its_call_at_once_and_serves_the_next() {
    let odd = Odd::ready("dies").await;
    let error = odd.call("die", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    assert!(!error.info().retryable, "it may have been done");
    assert!(error.to_string().contains("code 3"), "{error}");
    assert_eq!(
        crate::support::names(&odd.source),
        ["die", "echo"],
        "its tools stay"
    );
    let outcome = odd.call("echo", json!({"again": true})).await.unwrap();
    assert_eq!(outcome.result, json!(r#"{"again": true}"#));
    assert_eq!(
        (odd.lives(), odd.count("tools/call")),
        (2, 2),
        "no call was sent twice"
    );
}

#[tokio::test]
async fn a_server_that_does_not_come_back_is_unavailable_with_its_reason() {
    let odd = Odd::ready("crash_once_ready").await;
    odd.call("echo", json!({})).await.unwrap_err();
    let error = odd.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    assert!(error.to_string().contains("never again"), "{error}");
    assert_eq!(odd.count("tools/call"), 1, "no call was sent twice");
}

#[tokio::test]
async fn progress_is_shown_and_keeps_a_call_alive() {
    let odd = Odd::start_with("progress", &[], |server| {
        // Half of what it takes, and far more than from one sign to the next.
        server.call_timeout = Duration::from_secs(3);
    });
    odd.until_ready().await;
    let (cx, shown) = watched();
    let outcome = call_in(&odd.source, "echo", json!({}), &cx).await.unwrap();
    assert_eq!(outcome.result, json!("done"), "it took twice the timeout");
    let shown = shown.lock().unwrap().clone();
    assert!(shown.starts_with("step 0 (0/8)\nstep 1 (1/8)\n"), "{shown}");
}

#[tokio::test]
async fn a_call_without_a_sign_of_life_ends_and_the_server_is_told() {
    let odd = Odd::start_with("mute", &[], |server| {
        server.call_timeout = Duration::from_millis(200);
    });
    odd.until_ready().await;
    let error = odd.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::Timeout, "{error}");
    until(|| odd.count("notifications/cancelled") == 1).await;
    let told = odd.told();
    let find = |method: &str| {
        told.iter()
            .find(|message| message["method"] == method)
            .unwrap()
    };
    assert_eq!(
        find("notifications/cancelled")["params"]["requestId"],
        find("tools/call")["id"]
    );
}

#[tokio::test]
async fn a_cancelled_call_ends_and_the_server_is_told() {
    let odd = Odd::ready("mute").await;
    let cx = ToolContext::detached();
    let cancel = async {
        until(|| odd.count("tools/call") == 1).await;
        cx.cancel.cancel();
    };
    let (ended, ()) = tokio::join!(call_in(&odd.source, "echo", json!({}), &cx), cancel);
    assert_eq!(ended.unwrap_err().code(), Code::Cancelled);
    until(|| odd.count("notifications/cancelled") == 1).await;
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_too() {
    let odd = Odd::ready("mute").await;
    let cx = ToolContext::detached();
    let sent = until(|| odd.count("tools/call") == 1);
    tokio::select! {
        ended = call_in(&odd.source, "echo", json!({}), &cx) => panic!("it ended: {ended:?}"),
        () = sent => {}
    }
    until(|| odd.count("notifications/cancelled") == 1).await;
}

#[tokio::test]
async fn a_refusal_and_a_failure_keep_their_words() {
    let odd = Odd::ready("refuses").await;
    let error = odd.call("echo", json!({})).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        (Code::InvalidArguments, "n must be positive".to_owned())
    );
    let odd = Odd::ready("fails").await;
    let failed = odd.call("echo", json!({})).await.unwrap().failed.unwrap();
    assert_eq!(
        (failed.code, failed.message),
        (Code::Failed, "no such file".to_owned())
    );
}

#[tokio::test]
async fn structured_content_is_the_result_also_when_it_does_not_fit_its_schema() {
    let odd = Odd::ready("structured").await;
    assert_eq!(
        odd.call("good", json!({})).await.unwrap().result,
        json!({"n": 1})
    );
    assert_eq!(
        odd.call("bad", json!({})).await.unwrap().result,
        json!({"n": "one"})
    );
}

#[tokio::test]
async fn what_a_server_asks_of_us_is_answered() {
    let odd = Odd::ready("asks").await;
    assert_eq!(
        odd.call("echo", json!({})).await.unwrap().result,
        json!("asked")
    );
    let answer = |id: &str| odd.told().into_iter().find(|message| message["id"] == id);
    until(|| answer("s").is_some()).await;
    assert_eq!(answer("p").unwrap()["result"], json!({}));
    assert_eq!(answer("s").unwrap()["error"]["code"], -32601);
}

#[tokio::test]
async fn a_request_longer_than_a_pipe_arrives_whole() {
    let odd = Odd::ready("plain").await;
    let long = "é".repeat(700_000);
    let outcome = odd.call("echo", json!({"a": long})).await.unwrap();
    assert!(outcome.result.as_str().unwrap().len() > 1_000_000);
}

#[tokio::test]
async fn calls_go_side_by_side_up_to_the_limit() {
    let odd = Odd::start_with("mute", &[], |server| server.concurrency = 2);
    odd.until_ready().await;
    let contexts: Vec<ToolContext> = (0..5).map(|_| ToolContext::detached()).collect();
    let calls = contexts
        .iter()
        .map(|cx| call_in(&odd.source, "echo", json!({}), cx));
    let check = async {
        until(|| odd.count("tools/call") == 2).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(odd.count("tools/call"), 2);
        contexts.iter().for_each(|cx| cx.cancel.cancel());
    };
    let (ended, ()) = tokio::join!(futures_util::future::join_all(calls), check);
    assert!(
        ended
            .into_iter()
            .all(|ended| ended.unwrap_err().code() == Code::Cancelled)
    );
}

#[tokio::test]
async fn a_server_has_a_built_environment() {
    let odd = Odd::start_with("env", &[], |server| {
        server.env = vec![
            ("TOKEN".into(), "secret".into()),
            ("LANG".into(), "C".into()),
        ];
    });
    odd.until_ready().await;
    let outcome = odd.call("echo", json!({})).await.unwrap();
    // Python adds LC_CTYPE by itself where LANG is C.
    let names = outcome.result.as_str().unwrap().replace("LC_CTYPE ", "");
    assert_eq!(names, "LANG PATH TOKEN");
}

#[tokio::test]
async fn a_result_that_is_no_result_is_taken_as_it_is() {
    let odd = Odd::ready("odd_result").await;
    for said in [json!([1, 2]), json!("words"), json!(7), json!(true)] {
        let outcome = odd.call("echo", json!({"result": said})).await.unwrap();
        assert_eq!(outcome.result, said);
    }
}

#[rstest]
#[case(json!({"content": "nope"}))]
#[case(json!({"content": {"type": "text", "text": "one block"}}))]
#[case(json!({"content": 7, "structuredContent": {"a": 1}, "isError": true}))]
#[tokio::test]
async fn content_that_is_no_list_is_a_protocol_error_and_no_success(#[case] said: Value) {
    let odd = Odd::ready("odd_result").await;
    let error = odd.call("echo", json!({"result": said})).await.unwrap_err();
    assert_eq!(error.code(), Code::ProtocolError, "{error}");
    let good = json!({"content": [{"type": "text", "text": "good"}]});
    let outcome = odd.call("echo", json!({"result": good})).await.unwrap();
    assert_eq!(outcome.result, json!("good"));
}

#[tokio::test]
async fn a_server_that_hangs_is_started_again_for_the_next_call() {
    let odd = Odd::start_with("hangs", &[], |server| {
        // Its next life has to answer in that time.
        server.call_timeout = Duration::from_secs(3);
    });
    odd.until_ready().await;
    assert_eq!(
        odd.call("echo", json!({})).await.unwrap_err().code(),
        Code::Timeout
    );
    until(|| odd.lives() == 2).await;
    odd.until_ready().await;
    assert_eq!(
        odd.call("echo", json!({})).await.unwrap().result,
        json!("awake")
    );
}

#[tokio::test]
async fn a_server_that_only_does_not_answer_a_call_is_left_alone() {
    let odd = Odd::start_with("mute", &[], |server| {
        server.call_timeout = Duration::from_millis(300);
    });
    odd.until_ready().await;
    odd.call("echo", json!({})).await.unwrap_err();
    until(|| odd.count("ping") == 1).await;
    odd.call("echo", json!({})).await.unwrap_err();
    assert_eq!(odd.lives(), 1);
}

#[tokio::test]
async fn sound_and_blobs_are_kept_and_links_go_along() {
    let odd = Odd::ready("media").await;
    let shelf = std::sync::Arc::new(Shelf::default());
    let mut cx = ToolContext::detached();
    cx.artifacts = shelf.clone();
    let called = call_in(&odd.source, "echo", json!({}), &cx).await.unwrap();
    insta::assert_debug_snapshot!((called.result, called.parts, called.artifacts));
    {
        let kept = shelf.0.lock().unwrap();
        let kept: Vec<_> = kept
            .iter()
            .map(|(new, bytes)| (new.mime.as_str(), new.name.as_str(), bytes.as_slice()))
            .collect();
        assert_eq!(
            kept,
            [
                ("audio/wav", "", &b"hello"[..]),
                ("application/pdf", "a.pdf", &b"hi"[..]),
            ]
        );
    }
}

#[tokio::test]
async fn what_the_store_does_not_take_is_told_as_not_kept() {
    let odd = Odd::ready("media").await;
    let called = odd.call("echo", json!({})).await.unwrap();
    let said = called.result.as_str().unwrap();
    assert!(
        said.contains("[audio audio/wav, 5 bytes: could not be kept]"),
        "{said}"
    );
    assert_eq!(called.artifacts, []);
}
