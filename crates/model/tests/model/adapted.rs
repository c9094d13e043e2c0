//! The providers behind the library, against the bytes of their own wires.

mod bedrock;
mod gemini;
mod ollama;
mod vertex;

use std::sync::Arc;

use outfitter_core::{ModelError, ModelProvider, ModelRequest};

use crate::common::{Outcome, ask, hello, settings};
use crate::fake::{Fake, Step};

/// One question to one answer; with it, what was asked.
async fn exchange(
    provider: &str,
    name: &str,
    request: ModelRequest,
    steps: Vec<Step>,
) -> (Outcome, crate::fake::Received) {
    let fake = Fake::start([steps]).await;
    let model = model(provider, name, fake.url("/base"));
    let outcome = ask(&model, request).await;
    (outcome, fake.received().remove(0))
}

fn model(provider: &str, name: &str, url: String) -> Arc<dyn ModelProvider> {
    let mut settings = settings(provider, url);
    settings.name = Some(name.into());
    settings.vision = Some(true);
    settings.build().unwrap()
}

async fn answer(provider: &str, name: &str, steps: Vec<Step>) -> Outcome {
    exchange(provider, name, hello(), steps).await.0
}

/// What every one of them does with a server that is not well.
async fn refusals(provider: &str, name: &str) {
    use crate::fake::whole;
    let body = r#"{"error":{"message":"slow down sk-secret","code":429}}"#;
    let steps = whole(
        "429 Too Many Requests",
        "retry-after: 7\r\ncontent-type: application/json\r\n",
        body,
    );
    match answer(provider, name, steps).await.error.unwrap() {
        ModelError::Status {
            status,
            message,
            retry_after,
        } => {
            assert_eq!(status, 429);
            assert!(message.contains("slow down [redacted]"), "{message}");
            assert_eq!(retry_after.unwrap().as_secs(), 7);
        }
        other => panic!("{other}"),
    }
    let nobody = model(provider, name, "http://127.0.0.1:1/base".into());
    let error = ask(&nobody, hello()).await.error.unwrap();
    assert!(matches!(error, ModelError::Connect { .. }), "{error}");
    let silent = Fake::start([vec![Step::WaitForClose]]).await;
    let mut waiting = settings(provider, silent.url("/base"));
    waiting.name = Some(name.into());
    waiting.policy.timeout = std::time::Duration::from_millis(300);
    let error = ask(&waiting.build().unwrap(), hello()).await.error.unwrap();
    assert!(matches!(error, ModelError::Timeout { .. }), "{error}");
}
