//! When and how a request is tried again.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use outfitter_core::{
    Cancel, ModelDelta, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream, Phase,
};
use tokio::time::{sleep, timeout};

use crate::limits::MAX_RETRY_AFTER;
use crate::patience::{Patience, says_something};

/// Retries and timeouts of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCallPolicy {
    /// How often a failed request is tried again.
    pub max_retries: u32,
    /// The wait before the first retry; it doubles with each.
    pub retry_delay: Duration,
    /// The longest wait that doubling leads to. What a provider asks for with `retry-after` is
    /// waited for in full up to [`MAX_RETRY_AFTER`], because asking again sooner would only fail
    /// again; beyond that the call fails at once.
    pub max_retry_delay: Duration,
    /// How long a request may wait: until its reply begins, the connection included, and then for
    /// each next piece that says something. A whole reply may take
    /// [`WHOLE_REPLY_FACTOR`](crate::limits::WHOLE_REPLY_FACTOR) times as long, and
    /// [`MIN_WHOLE_REPLY_TIME`](crate::limits::MIN_WHOLE_REPLY_TIME) in any case.
    pub timeout: Duration,
}

impl Default for ModelCallPolicy {
    fn default() -> Self {
        Self {
            max_retries: 2,
            retry_delay: Duration::from_millis(500),
            max_retry_delay: Duration::from_secs(8),
            timeout: Duration::from_secs(120),
        }
    }
}

impl ModelCallPolicy {
    /// How long to wait before retry number `retry`, from 0; none when there is no use in it.
    /// `jitter` is from 0 to 1 and takes up to half of the wait away, so that clients that failed
    /// together do not come back together.
    #[must_use]
    pub fn delay(&self, retry: u32, error: &ModelError, jitter: f64) -> Option<Duration> {
        if retry >= self.max_retries || !error.may_retry() {
            return None;
        }
        let asked = match error {
            ModelError::Status { retry_after, .. } => *retry_after,
            ModelError::Setup { .. }
            | ModelError::Connect { .. }
            | ModelError::Timeout { .. }
            | ModelError::Provider { .. }
            | ModelError::Protocol { .. }
            | ModelError::Truncated
            | ModelError::TooLarge { .. }
            | ModelError::Script { .. }
            | ModelError::Cancelled => None,
        };
        let doubled = self
            .retry_delay
            .saturating_mul(1_u32.checked_shl(retry).unwrap_or(u32::MAX))
            .min(self.max_retry_delay);
        let own = doubled.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0);
        match asked {
            Some(asked) if asked > MAX_RETRY_AFTER => None,
            Some(asked) => Some(asked.max(own)),
            None => Some(own),
        }
    }
}

/// Who keeps the deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deadlines {
    /// The provider, phase by phase.
    Inner,
    /// The policy: until the reply begins, and until the next delta that says something.
    Policy,
}

/// Where jitter comes from: a number from 0 to 1 for each retry.
pub type Jitter = Arc<dyn Fn(u32) -> f64 + Send + Sync>;

/// A provider whose requests are tried again, as long as nobody has seen anything of a reply.
///
/// Deltas that show nothing are held back until one does, so that a reply that fails before leaves
/// no trace; [`outfitter_core::ResponseFacts::retries`] says how often that was.
pub struct RetryingProvider {
    inner: Arc<dyn ModelProvider>,
    policy: ModelCallPolicy,
    deadlines: Deadlines,
    jitter: Jitter,
}

impl RetryingProvider {
    /// Around any provider. The policy's timeout bounds the wait for the reply and for each next
    /// delta that says something.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, policy: ModelCallPolicy) -> Self {
        Self {
            inner,
            policy,
            deadlines: Deadlines::Policy,
            jitter: Arc::new(|_| random()),
        }
    }

    /// Around a provider that keeps the deadlines itself, and knows better what a sign of life is.
    #[must_use]
    pub fn over_own_deadlines(inner: Arc<dyn ModelProvider>, policy: ModelCallPolicy) -> Self {
        Self {
            deadlines: Deadlines::Inner,
            ..Self::new(inner, policy)
        }
    }

    /// With jitter from elsewhere, so that a test knows the waits.
    #[must_use]
    pub fn with_jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }
}

#[async_trait]
impl ModelProvider for RetryingProvider {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    /// Fails at once only when the last attempt failed before its reply began; what fails later is
    /// an item of the stream.
    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError> {
        let mut attempts = Attempts {
            inner: self.inner.clone(),
            policy: self.policy,
            deadlines: self.deadlines,
            jitter: self.jitter.clone(),
            request,
            cancel,
            current: None,
            patience: Patience::new(self.policy.timeout),
            held: VecDeque::new(),
            shown: false,
            retries: 0,
        };
        attempts.open().await?;
        let deltas = stream::unfold(Some(attempts), |attempts| async move {
            let mut attempts = attempts?;
            match attempts.next().await? {
                Ok(delta) => Some((Ok(delta), Some(attempts))),
                // The first error is the end.
                Err(error) => Some((Err(error), None)),
            }
        });
        Ok(Box::pin(deltas.fuse()))
    }

    fn wire_body(&self, request: &ModelRequest) -> Option<Vec<u8>> {
        self.inner.wire_body(request)
    }

    fn deadline(&self) -> Option<Duration> {
        self.inner.deadline()
    }
}

struct Attempts {
    inner: Arc<dyn ModelProvider>,
    policy: ModelCallPolicy,
    deadlines: Deadlines,
    jitter: Jitter,
    request: ModelRequest,
    cancel: Cancel,
    current: Option<ModelStream>,
    /// For the current stream.
    patience: Patience,
    /// What came and shows nothing.
    held: VecDeque<ModelDelta>,
    shown: bool,
    retries: u32,
}

impl Attempts {
    /// Opens a stream, as often as the policy allows.
    async fn open(&mut self) -> Result<(), ModelError> {
        loop {
            let opening = self.inner.stream(self.request.clone(), self.cancel.clone());
            let opened = match self.deadlines {
                Deadlines::Inner => opening.await,
                Deadlines::Policy => begun(self.policy, &self.cancel, opening).await,
            };
            match opened {
                Ok(stream) => {
                    self.current = Some(stream);
                    self.patience = Patience::new(self.policy.timeout);
                    return Ok(());
                }
                Err(error) => self.wait_after(error).await?,
            }
        }
    }

    async fn next(&mut self) -> Option<Result<ModelDelta, ModelError>> {
        loop {
            if self.shown
                && let Some(delta) = self.held.pop_front()
            {
                return Some(Ok(delta));
            }
            match self.received().await {
                Some(Ok(delta)) => {
                    let over = matches!(delta, ModelDelta::Stopped(_));
                    self.shown |= delta.is_shown() || over;
                    self.held.push_back(self.counted(delta));
                }
                Some(Err(error)) if self.shown => return Some(Err(error)),
                Some(Err(error)) => {
                    if let Err(error) = self.again(error).await {
                        return Some(Err(error));
                    }
                }
                None if self.shown => return None,
                // A stream that ends without a stop or an error was cut off.
                None => {
                    if let Err(error) = self.again(ModelError::Truncated).await {
                        return Some(Err(error));
                    }
                }
            }
        }
    }

    async fn received(&mut self) -> Option<Result<ModelDelta, ModelError>> {
        let stream = self.current.as_mut()?;
        match self.deadlines {
            Deadlines::Inner => stream.next().await,
            Deadlines::Policy => {
                let next = tokio::select! {
                    biased;
                    () = self.cancel.cancelled() => Err(ModelError::Cancelled),
                    next = self.patience.wait(stream.next()) => next,
                };
                if matches!(&next, Ok(Some(Ok(delta))) if says_something(delta)) {
                    self.patience.renew(self.policy.timeout);
                }
                next.unwrap_or_else(|error| Some(Err(error)))
            }
        }
    }

    async fn again(&mut self, error: ModelError) -> Result<(), ModelError> {
        self.current = None;
        self.held.clear();
        self.wait_after(error).await?;
        self.open().await
    }

    /// Waits before the next attempt, or gives the error back when there is none.
    async fn wait_after(&mut self, error: ModelError) -> Result<(), ModelError> {
        let jitter = (self.jitter)(self.retries);
        let Some(delay) = self.policy.delay(self.retries, &error, jitter) else {
            return Err(error);
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(ModelError::Cancelled),
            () = sleep(delay) => {}
        }
        self.retries += 1;
        Ok(())
    }

    fn counted(&self, delta: ModelDelta) -> ModelDelta {
        match delta {
            ModelDelta::Started(mut facts) => {
                facts.retries += self.retries;
                ModelDelta::Started(facts)
            }
            other => other,
        }
    }
}

/// Waits for a stream no longer than the policy allows, and not at all for a person who wants to
/// stop.
async fn begun(
    policy: ModelCallPolicy,
    cancel: &Cancel,
    opening: impl Future<Output = Result<ModelStream, ModelError>>,
) -> Result<ModelStream, ModelError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ModelError::Cancelled),
        begun = timeout(policy.timeout, opening) => begun.unwrap_or({
            Err(ModelError::Timeout {
                phase: Phase::FirstByte,
                after: policy.timeout,
            })
        }),
    }
}

/// From the seeds of the standard library's hash maps, which is random enough for this.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0_u8) >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let fraction = bits as f64 / (1_u64 << 53) as f64;
    fraction
}

#[cfg(test)]
mod tests;
