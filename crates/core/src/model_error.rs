//! How a model request fails.

use std::time::Duration;

use crate::{Code, ErrorInfo};

/// A phase of a request that has a deadline of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Until the connection stands.
    Connect,
    /// Until the first byte of the response.
    FirstByte,
    /// Until the next piece of the body that says something.
    Idle,
    /// From the first byte to the end of the body.
    Whole,
}

impl Phase {
    /// The phase in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connecting",
            Self::FirstByte => "waiting for the first byte",
            Self::Idle => "waiting for the rest of the reply",
            Self::Whole => "the whole reply",
        }
    }
}

/// Why there is no reply, or only a part of one. Messages are for people; none holds a credential.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The model is not set up: no key, no such provider, a bad address.
    #[error("set up the model: {message}")]
    Setup {
        /// What is missing.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// No connection.
    #[error("reach the model: {message}")]
    Connect {
        /// What failed.
        message: String,
    },
    /// A phase took too long.
    #[error("get a reply in time: {} took longer than {} s", phase.as_str(), after.as_secs_f32())]
    Timeout {
        /// Which phase.
        phase: Phase,
        /// How long was waited.
        after: Duration,
    },
    /// The provider answered with an error status.
    #[error("get a reply: the provider answered {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The provider's words, bounded.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// An error object in a 200 or in the stream.
    #[error("get a reply: the provider reported an error: {message}")]
    Provider {
        /// The provider's words, bounded.
        message: String,
    },
    /// The response is not a stream of this wire.
    #[error("read the reply: {message}")]
    Protocol {
        /// What is wrong with it.
        message: String,
    },
    /// The stream stopped before its end.
    #[error("read the whole reply: the stream stopped before its end")]
    Truncated,
    /// The reply is over our bound.
    #[error("read the reply: it is larger than {limit} bytes")]
    TooLarge {
        /// The bound.
        limit: u64,
    },
    /// A script's expectation does not hold.
    #[error("follow the script: {message}")]
    Script {
        /// What was expected and what came.
        message: String,
    },
    /// Stopped by a person.
    #[error("get a reply: it was cancelled")]
    Cancelled,
}

impl ModelError {
    /// The code: connect failures, 408, 409 and 5xx are `unavailable`; 429 is `rate_limited`; other
    /// 4xx are `failed`; a broken stream or an error body in a 200 is `protocol_error`; a phase
    /// deadline is `timeout`.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Setup { .. } => Code::Usage,
            Self::Connect { .. } => Code::Unavailable,
            Self::Timeout { .. } => Code::Timeout,
            Self::Status { status: 429, .. } => Code::RateLimited,
            Self::Status {
                status: 408 | 409 | 500..,
                ..
            } => Code::Unavailable,
            Self::Status { .. } | Self::Script { .. } => Code::Failed,
            Self::Provider { .. } | Self::Protocol { .. } | Self::Truncated => Code::ProtocolError,
            Self::TooLarge { .. } => Code::TooLarge,
            Self::Cancelled => Code::Cancelled,
        }
    }

    /// Whether the request may be tried again while nothing of its reply was shown.
    #[must_use]
    pub fn may_retry(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Timeout { .. } | Self::Truncated => true,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 429 | 500..),
            Self::Setup { .. }
            | Self::Provider { .. }
            | Self::Protocol { .. }
            | Self::TooLarge { .. }
            | Self::Script { .. }
            | Self::Cancelled => false,
        }
    }

    /// The error as clients read it.
    #[must_use]
    pub fn to_info(&self) -> ErrorInfo {
        let info = ErrorInfo::new(self.code(), format!("failed to {self}"));
        match self {
            Self::Setup {
                hint: Some(hint), ..
            } => info.with_hint(hint.clone()),
            _ => info,
        }
    }
}
