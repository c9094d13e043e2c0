//! What the calls of a run use of models, so that it is told and held against the limit.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures_util::Stream;
use outfitter_core::{
    Cancel, ModelDelta, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream,
    TokenUsage, UsageMeter,
};

use crate::usage::Estimate;

/// What was used and is not recorded yet.
#[derive(Default)]
pub(crate) struct Meter(Mutex<Vec<TokenUsage>>);

impl Meter {
    /// What was used since the last time.
    pub(crate) fn take(&self) -> Vec<TokenUsage> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl UsageMeter for Meter {
    fn used(&self, usage: TokenUsage) {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        used.push(usage);
    }
}

/// The model of a run as its tools have it: what they ask is counted.
pub(crate) struct Metered {
    pub(crate) model: Arc<dyn ModelProvider>,
    pub(crate) meter: Arc<Meter>,
}

#[async_trait]
impl ModelProvider for Metered {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError> {
        let estimate = Estimate::of_whole(&request);
        let inner = self.model.stream(request, cancel).await?;
        Ok(Box::pin(Counted {
            inner,
            estimate,
            said: 0,
            reported: None,
            began: false,
            meter: self.meter.clone(),
        }))
    }
}

/// A reply that is counted when it is over, or when nobody wants the rest of it.
struct Counted {
    inner: ModelStream,
    estimate: Estimate,
    /// The text that came, in bytes.
    said: u64,
    reported: Option<TokenUsage>,
    began: bool,
    meter: Arc<Meter>,
}

impl Stream for Counted {
    type Item = Result<ModelDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.inner.as_mut().poll_next(cx);
        if let Poll::Ready(Some(Ok(delta))) = &next {
            self.began = true;
            match delta {
                ModelDelta::Text(text)
                | ModelDelta::Reasoning(text)
                | ModelDelta::Refusal(text) => self.said += text.len() as u64,
                ModelDelta::ToolCall(call) => self.said += call.arguments.len() as u64,
                ModelDelta::Usage(usage) => self.reported = Some(*usage),
                ModelDelta::Started(_)
                | ModelDelta::ReasoningSignature(_)
                | ModelDelta::Provider(_)
                | ModelDelta::Stopped(_) => {}
            }
        }
        next
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if !self.began {
            return;
        }
        let used = self.reported.take();
        let used = used.unwrap_or_else(|| self.estimate.with_said(self.said));
        self.meter.used(used);
    }
}
