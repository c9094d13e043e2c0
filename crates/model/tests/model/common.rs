//! What every test of a wire does.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use outfitter_core::{
    Cancel, Message, MessageId, MessageRole, ModelDelta, ModelError, ModelProvider, ModelRequest,
    Part, SystemClock,
};
use outfitter_model::{Assembled, ModelCallPolicy, ModelSettings, TurnAssembler};
use secrecy::SecretString;

use crate::fake::{Fake, Step};

pub(crate) const KEY: &str = "sk-secret";

/// Retries off, so that each test sees the first answer.
pub(crate) fn settings(provider: &str, base_url: String) -> ModelSettings {
    ModelSettings {
        name: Some("m".into()),
        base_url: Some(base_url),
        api_key: Some(SecretString::from(KEY)),
        policy: ModelCallPolicy {
            max_retries: 0,
            retry_delay: Duration::from_millis(1),
            timeout: Duration::from_secs(20),
            ..ModelCallPolicy::default()
        },
        ..ModelSettings::of(provider)
    }
}

pub(crate) fn message(role: MessageRole, parts: Vec<Part>) -> Arc<Message> {
    Arc::new(Message {
        id: MessageId::new("m").unwrap(),
        role,
        parts,
        output: None,
    })
}

pub(crate) fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

pub(crate) fn request(messages: Vec<Arc<Message>>) -> ModelRequest {
    ModelRequest {
        system: "be brief".into(),
        messages,
        tools: Arc::new([]),
    }
}

pub(crate) fn hello() -> ModelRequest {
    request(vec![message(MessageRole::User, vec![text("hello")])])
}

/// What came of a reply: how it was put together, and the error it ended with.
pub(crate) struct Outcome {
    pub(crate) reply: Assembled,
    pub(crate) error: Option<ModelError>,
}

impl Outcome {
    pub(crate) fn text(&self) -> String {
        self.joined(|part| match part {
            Part::Text { text } => Some(text),
            _ => None,
        })
    }

    pub(crate) fn reasoning(&self) -> String {
        self.joined(|part| match part {
            Part::Reasoning { text, .. } => Some(text),
            _ => None,
        })
    }

    fn joined(&self, pick: impl Fn(&Part) -> Option<&String>) -> String {
        self.reply.parts.iter().filter_map(pick).cloned().collect()
    }

    /// `name(arguments)` of each call.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = self.reply.tool_calls();
        calls
            .map(|call| format!("{}({})", call.name, call.arguments))
            .collect()
    }

    pub(crate) fn whole(self) -> Self {
        if let Some(error) = &self.error {
            panic!("{error}");
        }
        assert!(self.reply.stop.is_some());
        self
    }
}

/// Reads a whole reply. After the first error and after the stop nothing may come.
pub(crate) async fn ask(provider: &Arc<dyn ModelProvider>, request: ModelRequest) -> Outcome {
    let mut assembler = TurnAssembler::new(
        provider.info().provider.clone(),
        |_| false,
        Arc::new(SystemClock),
    );
    let mut error = None;
    match provider.stream(request, Cancel::new()).await {
        Err(failed) => error = Some(failed),
        Ok(mut stream) => {
            let mut over = false;
            while let Some(item) = stream.next().await {
                assert!(!over, "something came after the end: {item:?}");
                match item {
                    Ok(delta) => {
                        over = matches!(delta, ModelDelta::Stopped(_));
                        assembler.push(delta);
                    }
                    Err(failed) => {
                        over = true;
                        error = Some(failed);
                    }
                }
            }
            assert!(over, "the stream ended without a stop or an error");
        }
    }
    let reply = if error.is_some() {
        assembler.finish_partial()
    } else {
        assembler.finish()
    };
    Outcome { reply, error }
}

/// One question to one answer.
pub(crate) async fn answer(provider: &str, steps: Vec<Step>) -> Outcome {
    let fake = Fake::start([steps]).await;
    let model = settings(provider, fake.url("")).build().unwrap();
    ask(&model, hello()).await
}
