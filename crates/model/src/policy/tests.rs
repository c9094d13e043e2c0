use std::sync::Mutex;

use futures_util::TryStreamExt;
use outfitter_core::{ResponseFacts, StopReason};
use rstest::rstest;
use tokio::time::Instant;

use super::*;

/// What one attempt does.
enum Attempt {
    Refuse(ModelError),
    Reply(Vec<Result<ModelDelta, ModelError>>),
    Hang,
    Stall(Vec<ModelDelta>),
    /// The first and then the other every second, without end.
    Drip(ModelDelta, ModelDelta),
}

struct Fake {
    info: ModelInfo,
    attempts: Mutex<VecDeque<Attempt>>,
}

#[async_trait]
impl ModelProvider for Fake {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(&self, _: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
        let attempt = self
            .attempts
            .lock()
            .unwrap()
            .pop_front()
            .expect("asked once too often");
        match attempt {
            Attempt::Refuse(error) => Err(error),
            Attempt::Reply(items) => Ok(Box::pin(stream::iter(items))),
            Attempt::Hang => std::future::pending().await,
            Attempt::Stall(deltas) => {
                let deltas = stream::iter(deltas).map(Ok);
                Ok(Box::pin(deltas.chain(stream::pending())))
            }
            Attempt::Drip(first, other) => {
                let others = stream::repeat(other).then(|delta| async move {
                    sleep(Duration::from_secs(1)).await;
                    Ok(delta)
                });
                Ok(Box::pin(stream::iter([Ok(first)]).chain(others)))
            }
        }
    }
}

fn status(status: u16, retry_after: Option<u64>) -> ModelError {
    ModelError::Status {
        status,
        message: "no".into(),
        retry_after: retry_after.map(Duration::from_secs),
    }
}

fn started() -> ModelDelta {
    ModelDelta::Started(ResponseFacts::default())
}

fn text(text: &str) -> ModelDelta {
    ModelDelta::Text(text.into())
}

fn good() -> Attempt {
    Attempt::Reply(vec![
        Ok(started()),
        Ok(text("hi")),
        Ok(ModelDelta::Stopped(StopReason::End)),
    ])
}

fn retrying(attempts: Vec<Attempt>) -> RetryingProvider {
    let fake = Fake {
        info: ModelInfo {
            provider: "fake".into(),
            name: "m".into(),
            vision: false,
            context_tokens: None,
        },
        attempts: Mutex::new(attempts.into()),
    };
    RetryingProvider::new(Arc::new(fake), ModelCallPolicy::default()).with_jitter(Arc::new(|_| 0.0))
}

fn request() -> ModelRequest {
    ModelRequest {
        system: "".into(),
        messages: Vec::new(),
        tools: Arc::new([]),
    }
}

async fn run(attempts: Vec<Attempt>) -> (Result<Vec<ModelDelta>, ModelError>, Duration) {
    let before = Instant::now();
    let provider = retrying(attempts);
    let outcome = match provider.stream(request(), Cancel::new()).await {
        Ok(stream) => stream.try_collect().await,
        Err(error) => Err(error),
    };
    (outcome, before.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_request_is_tried_again_and_says_how_often() {
    let (deltas, waited) = run(vec![
        Attempt::Refuse(status(503, None)),
        Attempt::Refuse(ModelError::Connect {
            message: "refused".into(),
        }),
        good(),
    ])
    .await;
    let ModelDelta::Started(facts) = &deltas.unwrap()[0] else {
        panic!()
    };
    assert_eq!(facts.retries, 2);
    assert_eq!(waited, Duration::from_millis(500 + 1000));
}

#[tokio::test(start_paused = true)]
async fn what_was_held_back_leaves_no_trace_when_the_attempt_fails() {
    let (deltas, _) = run(vec![
        Attempt::Reply(vec![
            Ok(started()),
            Ok(ModelDelta::Provider(serde_json::json!(1))),
            Ok(text("")),
            Err(ModelError::Truncated),
        ]),
        good(),
    ])
    .await;
    let deltas = deltas.unwrap();
    assert_eq!(deltas.len(), 3, "{deltas:?}");
    assert_eq!(deltas[1], text("hi"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_tried_again_once_something_was_shown() {
    let (outcome, waited) = run(vec![
        Attempt::Reply(vec![
            Ok(started()),
            Ok(text("hal")),
            Err(ModelError::Truncated),
        ]),
        good(),
    ])
    .await;
    assert!(matches!(outcome, Err(ModelError::Truncated)));
    assert_eq!(waited, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_began_counts_as_shown() {
    let call = ModelDelta::ToolCall(outfitter_core::ToolCallDelta::default());
    let (outcome, _) = run(vec![
        Attempt::Reply(vec![Ok(call), Err(ModelError::Truncated)]),
        good(),
    ])
    .await;
    assert!(matches!(outcome, Err(ModelError::Truncated)));
}

#[rstest]
#[case(400)]
#[case(401)]
#[case(404)]
#[case(422)]
#[tokio::test(start_paused = true)]
async fn other_4xx_are_never_tried_again(#[case] code: u16) {
    let (outcome, waited) = run(vec![Attempt::Refuse(status(code, None)), good()]).await;
    assert!(matches!(outcome, Err(ModelError::Status { status, .. }) if status == code));
    assert_eq!(waited, Duration::ZERO);
}

#[rstest]
#[case(408)]
#[case(409)]
#[case(429)]
#[case(500)]
#[case(529)]
#[tokio::test(start_paused = true)]
async fn statuses_that_pass_are_tried_again(#[case] code: u16) {
    let (outcome, _) = run(vec![Attempt::Refuse(status(code, None)), good()]).await;
    assert!(outcome.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_last_error_is_the_one_that_is_told() {
    let refused = || Attempt::Refuse(status(503, None));
    let last = Attempt::Refuse(status(500, None));
    let (outcome, _) = run(vec![refused(), refused(), last]).await;
    assert!(matches!(
        outcome,
        Err(ModelError::Status { status: 500, .. })
    ));
}

#[rstest]
#[case::longer_than_ours(20, Some(20_000))]
#[case::shorter_than_ours(0, Some(500))]
#[case::the_longest(60, Some(60_000))]
#[case::too_long_to_hold_a_run(61, None)]
#[tokio::test(start_paused = true)]
async fn retry_after_is_honoured_up_to_a_bound(#[case] seconds: u64, #[case] millis: Option<u64>) {
    let (outcome, waited) = run(vec![Attempt::Refuse(status(429, Some(seconds))), good()]).await;
    assert_eq!(outcome.is_ok(), millis.is_some());
    assert_eq!(waited, Duration::from_millis(millis.unwrap_or(0)));
}

#[test]
fn delays_double_to_a_bound_and_jitter_takes_up_to_half() {
    let policy = ModelCallPolicy {
        max_retries: 40,
        ..ModelCallPolicy::default()
    };
    let millis = |retry, jitter| {
        let delay = policy.delay(retry, &ModelError::Truncated, jitter).unwrap();
        delay.as_millis()
    };
    let doubled: Vec<u128> = (0..6).map(|retry| millis(retry, 0.0)).collect();
    assert_eq!(doubled, [500, 1000, 2000, 4000, 8000, 8000]);
    assert_eq!(millis(39, 0.0), 8000, "no overflow");
    assert_eq!(millis(0, 1.0), 250);
    assert_eq!(policy.delay(40, &ModelError::Truncated, 0.0), None);
    assert!((0..100).map(|_| random()).all(|r| (0.0..1.0).contains(&r)));
}

#[tokio::test(start_paused = true)]
async fn the_wait_between_attempts_can_be_cancelled() {
    let provider = retrying(vec![Attempt::Refuse(status(429, Some(30))), good()]);
    let cancel = Cancel::new();
    let before = Instant::now();
    let stop = async {
        sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(provider.stream(request(), cancel.clone()), stop);
    assert!(matches!(outcome, Err(ModelError::Cancelled)));
    assert_eq!(before.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_provider_without_deadlines_gets_the_policys() {
    let hang = || Attempt::Hang;
    let (outcome, _) = run(vec![hang(), hang(), hang()]).await;
    assert!(matches!(
        outcome,
        Err(ModelError::Timeout {
            phase: Phase::FirstByte,
            ..
        })
    ));
    let (outcome, waited) = run(vec![Attempt::Stall(vec![started(), text("a")])]).await;
    assert!(matches!(
        outcome,
        Err(ModelError::Timeout {
            phase: Phase::Idle,
            ..
        })
    ));
    assert_eq!(waited, Duration::from_secs(120));
}

#[rstest]
#[case::nothing(text(""), Phase::Idle, 120)]
#[case::a_little(text(" "), Phase::Whole, 3600)]
#[tokio::test(start_paused = true)]
async fn deltas_without_end_have_one_all_the_same(
    #[case] delta: ModelDelta,
    #[case] expected: Phase,
    #[case] seconds: u64,
) {
    let (outcome, waited) = run(vec![Attempt::Drip(text("a"), delta)]).await;
    let error = outcome.unwrap_err();
    assert!(
        matches!(error, ModelError::Timeout { phase, after } if phase == expected && after == waited),
        "{error}"
    );
    assert_eq!(waited, Duration::from_secs(seconds));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_just_ends_was_cut_off() {
    let empty = || Attempt::Reply(vec![Ok(started())]);
    let (outcome, _) = run(vec![empty(), empty(), empty()]).await;
    assert!(matches!(outcome, Err(ModelError::Truncated)));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_does_not_listen_is_cancelled_all_the_same() {
    let provider = retrying(vec![Attempt::Hang]);
    let cancel = Cancel::new();
    let stop = async {
        sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(provider.stream(request(), cancel.clone()), stop);
    assert!(matches!(outcome, Err(ModelError::Cancelled)));
}
