//! Connections: kept for the next call, closed when nobody wants their reply any more.

use std::time::Duration;

use futures_util::StreamExt;
use outfitter_core::{Cancel, ModelDelta, ModelError};
use rstest::rstest;

use crate::common::{ask, hello, settings};
use crate::fake::{Fake, Step, chunk, json, last_chunk, stream_head};
use crate::transport::{DONE, REPLY, WHOLE, short};

#[tokio::test]
async fn a_server_that_never_ends_after_its_finish_reason_has_answered() {
    let fake = Fake::start([vec![stream_head(), chunk(REPLY), Step::WaitForClose]]).await;
    let mut settings = settings("openai", fake.url(""));
    settings.policy = short();
    let model = settings.build().unwrap();
    assert_eq!(ask(&model, hello()).await.whole().text(), "hi");
    fake.closed(1).await;
}

#[tokio::test]
async fn a_server_that_never_ends_after_its_end_mark_has_answered() {
    let steps = vec![stream_head(), chunk(REPLY), chunk(DONE), Step::WaitForClose];
    let fake = Fake::start([steps]).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    assert_eq!(ask(&model, hello()).await.whole().text(), "hi");
    fake.closed(1).await;
}

#[rstest]
#[case::openai("openai", REPLY, DONE)]
#[case::anthropic(
    "anthropic",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n"
)]
#[tokio::test]
async fn one_connection_serves_every_call_though_the_last_chunk_comes_late(
    #[case] provider: &str,
    #[case] reply: &str,
    #[case] done: &str,
) {
    const CALLS: usize = 25;
    let steps = vec![stream_head(), chunk(reply), chunk(done), last_chunk()];
    let fake = Fake::start(std::iter::repeat_n(steps, CALLS)).await;
    let model = settings(provider, fake.url("")).build().unwrap();
    for _ in 0..CALLS {
        assert_eq!(ask(&model, hello()).await.whole().text(), "hi");
    }
    assert_eq!(fake.received().len(), CALLS);
    assert_eq!(fake.connections(), 1);
}

/// On several threads the connection's own task runs beside the caller, who may be faster.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_connection_serves_every_call_on_several_threads() {
    const CALLS: usize = 200;
    let steps = vec![stream_head(), chunk([REPLY, DONE].concat()), last_chunk()];
    let fake = Fake::start(std::iter::repeat_n(steps, CALLS)).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    for _ in 0..CALLS {
        ask(&model, hello()).await.whole();
    }
    assert_eq!(fake.received().len(), CALLS);
    assert!(
        fake.connections() < CALLS / 10,
        "{} connections",
        fake.connections()
    );
}

#[tokio::test]
async fn a_caller_that_stops_at_the_stop_keeps_the_connection_too() {
    let steps = vec![stream_head(), chunk(REPLY), chunk(DONE), last_chunk()];
    let fake = Fake::start(std::iter::repeat_n(steps, 5)).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    for _ in 0..5 {
        let mut stream = model.stream(hello(), Cancel::new()).await.unwrap();
        while !matches!(
            stream.next().await.unwrap().unwrap(),
            ModelDelta::Stopped(_)
        ) {}
        drop(stream);
    }
    assert_eq!(fake.connections(), 1);
}

#[tokio::test]
async fn whole_replies_and_refusals_keep_the_connection() {
    let fake = Fake::start([
        json("200 OK", WHOLE),
        json("429 Too Many Requests", "{\"error\":\"slow\"}"),
        json("200 OK", WHOLE),
    ])
    .await;
    let model = settings("openai", fake.url("")).build().unwrap();
    assert!(ask(&model, hello()).await.error.is_none());
    assert!(ask(&model, hello()).await.error.is_some());
    assert!(ask(&model, hello()).await.error.is_none());
    assert_eq!(fake.connections(), 1);
}

#[tokio::test]
async fn cancelling_in_any_phase_closes_the_connection() {
    let begun = vec![
        stream_head(),
        chunk("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"),
        Step::WaitForClose,
    ];
    let fake = Fake::start([vec![Step::WaitForClose], begun]).await;
    let model = settings("openai", fake.url("")).build().unwrap();

    let cancel = Cancel::new();
    let asked = model.stream(hello(), cancel.clone());
    let stop = async {
        while fake.received().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(asked, stop);
    assert!(matches!(outcome, Err(ModelError::Cancelled)));
    fake.closed(1).await;

    let cancel = Cancel::new();
    let mut stream = model.stream(hello(), cancel.clone()).await.unwrap();
    assert!(matches!(
        stream.next().await,
        Some(Ok(ModelDelta::Started(_)))
    ));
    assert!(matches!(stream.next().await, Some(Ok(ModelDelta::Text(_)))));
    cancel.cancel();
    assert!(matches!(
        stream.next().await,
        Some(Err(ModelError::Cancelled))
    ));
    assert!(stream.next().await.is_none());
    fake.closed(2).await;
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let begun = vec![stream_head(), chunk(": hello\n\n"), Step::WaitForClose];
    let fake = Fake::start([begun]).await;
    let model = settings("openai", fake.url("")).build().unwrap();
    let stream = model.stream(hello(), Cancel::new()).await.unwrap();
    drop(stream);
    fake.closed(1).await;
}
