//! How long a reply is waited for.
//!
//! Two clocks, which run only while somebody waits. One is set back by what says something, so a
//! server that keeps a connection alive with comments, empty deltas or white space does not keep a
//! run waiting. The other is never set back, so one that says a little now and then ends too.

use std::time::Duration;

use outfitter_core::{ModelDelta, ModelError, Phase};
use tokio::time::{Instant, timeout};

use crate::limits::{MIN_WHOLE_REPLY_TIME, WHOLE_REPLY_FACTOR};

/// What is left of the time for one reply.
#[derive(Debug)]
pub(crate) struct Patience {
    /// What the clock of the next piece was set to.
    idle: Duration,
    idle_left: Duration,
    whole: Duration,
    whole_left: Duration,
}

impl Patience {
    /// `idle` for the first piece, and what follows from it for the whole.
    pub(crate) fn new(idle: Duration) -> Self {
        let whole = idle
            .saturating_mul(WHOLE_REPLY_FACTOR)
            .max(MIN_WHOLE_REPLY_TIME);
        Self {
            idle,
            idle_left: idle,
            whole,
            whole_left: whole,
        }
    }

    /// Waits for `work`. What is there already is taken, however late it is asked for.
    pub(crate) async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, ModelError> {
        let start = Instant::now();
        let done = timeout(self.idle_left.min(self.whole_left), work).await;
        let (phase, after) = if self.whole_left < self.idle_left {
            (Phase::Whole, self.whole)
        } else {
            (Phase::Idle, self.idle)
        };
        let waited = start.elapsed();
        self.idle_left = self.idle_left.saturating_sub(waited);
        self.whole_left = self.whole_left.saturating_sub(waited);
        done.map_err(|_| ModelError::Timeout { phase, after })
    }

    /// Something was said: the next piece has `idle`.
    pub(crate) fn renew(&mut self, idle: Duration) {
        self.idle = idle;
        self.idle_left = idle;
    }
}

/// How many bytes of a reply a delta shows. What only marks a place or an end has none.
pub(crate) fn said(delta: &ModelDelta) -> u64 {
    let bytes = match delta {
        ModelDelta::Text(text) | ModelDelta::Reasoning(text) | ModelDelta::Refusal(text) => {
            text.len()
        }
        ModelDelta::ToolCall(piece) => {
            piece.arguments.len() + piece.name.as_ref().map_or(0, String::len)
        }
        ModelDelta::Started(_)
        | ModelDelta::ReasoningSignature(_)
        | ModelDelta::Provider(_)
        | ModelDelta::Usage(_)
        | ModelDelta::Stopped(_) => 0,
    };
    bytes as u64
}

/// Whether a delta says something, so that the wait for the next begins anew.
pub(crate) fn says_something(delta: &ModelDelta) -> bool {
    match delta {
        ModelDelta::Started(_) => false,
        ModelDelta::ReasoningSignature(_)
        | ModelDelta::Provider(_)
        | ModelDelta::Usage(_)
        | ModelDelta::Stopped(_) => true,
        ModelDelta::Text(_)
        | ModelDelta::Reasoning(_)
        | ModelDelta::Refusal(_)
        | ModelDelta::ToolCall(_) => said(delta) > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::ToolCallDelta;
    use tokio::time::sleep;

    const SECOND: Duration = Duration::from_secs(1);

    /// Waits for a piece a second until one is late.
    async fn pieces(patience: &mut Patience, says_something: bool) -> (u32, ModelError) {
        for count in 0..100_000 {
            if let Err(late) = patience.wait(sleep(SECOND)).await {
                return (count, late);
            }
            if says_something {
                patience.renew(5 * SECOND);
            }
        }
        panic!("it waits without end");
    }

    #[tokio::test(start_paused = true)]
    async fn pieces_that_say_nothing_do_not_set_the_clock_back() {
        let mut patience = Patience::new(5 * SECOND);
        let start = Instant::now();
        let (_, late) = pieces(&mut patience, false).await;
        assert_eq!(start.elapsed(), 5 * SECOND);
        assert_eq!(
            late.to_string(),
            "get a reply in time: waiting for the rest of the reply took longer than 5 s"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn pieces_that_say_something_do_until_the_whole_has_taken_too_long() {
        let mut patience = Patience::new(5 * SECOND);
        let start = Instant::now();
        let (_, late) = pieces(&mut patience, true).await;
        assert_eq!(start.elapsed(), MIN_WHOLE_REPLY_TIME);
        assert_eq!(
            late.to_string(),
            "get a reply in time: the whole reply took longer than 600 s"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_timeout_gives_the_whole_longer() {
        let mut patience = Patience::new(120 * SECOND);
        let start = Instant::now();
        pieces(&mut patience, true).await;
        assert_eq!(start.elapsed(), 3600 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_loses_no_time() {
        let mut patience = Patience::new(5 * SECOND);
        for _ in 0..10 {
            sleep(60 * SECOND).await;
            patience.wait(std::future::ready(())).await.unwrap();
        }
        let start = Instant::now();
        pieces(&mut patience, false).await;
        assert_eq!(start.elapsed(), 5 * SECOND);
    }

    #[test]
    fn empty_deltas_and_places_say_nothing() {
        let call = |name: Option<&str>, arguments: &str| {
            ModelDelta::ToolCall(ToolCallDelta {
                index: Some(0),
                id: Some("a".into()),
                name: name.map(Into::into),
                arguments: arguments.into(),
            })
        };
        assert!(!says_something(&ModelDelta::Text(String::new())));
        assert!(!says_something(&call(None, "")));
        assert!(says_something(&call(Some("f"), "")));
        assert!(says_something(&call(None, "{")));
        assert!(says_something(&ModelDelta::Text(" ".into())));
    }
}
