//! The library's errors as ours.

use std::time::Duration;

use genai::Error;
use genai::webc::StreamTimeout;
use outfitter_core::{ModelError, Phase, chain};
use outfitter_net::NetError;
use outfitter_net::reqwest;
use secrecy::SecretString;
use serde_json::Value;

use crate::http::{PhaseTimeouts, error_words, fit, retry_after};

/// What went wrong, in our words and without the key.
pub(super) fn of(
    error: &Error,
    timeouts: PhaseTimeouts,
    secret: Option<&SecretString>,
) -> ModelError {
    match error {
        Error::HttpError {
            status,
            body,
            headers,
            ..
        } => {
            let said = serde_json::from_str(body)
                .ok()
                .as_ref()
                .and_then(error_words)
                .unwrap_or_else(|| body.clone());
            let said = if said.trim().is_empty() {
                status
                    .canonical_reason()
                    .unwrap_or("no reason given")
                    .to_owned()
            } else {
                said
            };
            ModelError::Status {
                status: status.as_u16(),
                message: fit(&said, secret),
                retry_after: retry_after(headers),
            }
        }
        Error::WebStream { error, cause, .. } => below(error.as_ref(), cause, timeouts, secret),
        Error::ChatResponse { body, .. } => ModelError::Provider {
            message: fit(&words(body), secret),
        },
        Error::StreamParse { serde_error, .. } => ModelError::Protocol {
            message: fit(&format!("it is not a reply: {serde_error}"), secret),
        },
        other => ModelError::Protocol {
            message: fit(&other.to_string(), secret),
        },
    }
}

/// What a stream failed with.
fn below(
    error: &(dyn std::error::Error + Send + Sync + 'static),
    cause: &str,
    timeouts: PhaseTimeouts,
    secret: Option<&SecretString>,
) -> ModelError {
    if let Some(inner) = error.downcast_ref::<Error>() {
        return of(inner, timeouts, secret);
    }
    if let Some(late) = error.downcast_ref::<StreamTimeout>() {
        let (phase, after): (Phase, Duration) = match late {
            StreamTimeout::Headers => (Phase::FirstByte, timeouts.first_byte),
            StreamTimeout::Read => (Phase::Idle, timeouts.idle),
        };
        return ModelError::Timeout { phase, after };
    }
    if let Some(http) = error.downcast_ref::<reqwest::Error>() {
        if http.is_connect() && http.is_timeout() {
            return ModelError::Timeout {
                phase: Phase::Connect,
                after: timeouts.connect,
            };
        }
        if http.is_connect() || http.is_request() {
            let words = chain(http);
            return ModelError::Connect {
                message: fit(&words, secret),
            };
        }
        // What else fails under way is a body that was cut off.
        return ModelError::Truncated;
    }
    if let Some(net) = error.downcast_ref::<NetError>() {
        return ModelError::Connect {
            message: fit(&chain(net), secret),
        };
    }
    ModelError::Protocol {
        message: fit(cause, secret),
    }
}

/// The words of an error that came in a success.
fn words(body: &Value) -> String {
    error_words(body).unwrap_or_else(|| outfitter_core::canonical(body))
}
