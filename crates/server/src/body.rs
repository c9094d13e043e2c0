//! Reads bodies: bounded in size and in time, strictly JSON.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError};
use outfitter_core::{Code, ErrorInfo};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

/// The whole body. Its size is bounded by the gate.
pub(crate) async fn read(body: Body) -> Result<Bytes, Problem> {
    match tokio::time::timeout(ARRIVAL, body.collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if is_too_large(&error) => Err(ErrorInfo::new(
            Code::TooLarge,
            "the body is larger than this endpoint reads",
        )
        .into()),
        Ok(Err(_)) => Err(Problem::malformed("the body broke off")),
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            ErrorInfo::new(Code::Timeout, "the body took too long to arrive"),
        )),
    }
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The body as JSON of this form.
pub(crate) async fn json<T: DeserializeOwned>(body: Body) -> Result<T, Problem> {
    parse(&read(body).await?)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes)
        .map_err(|error| Problem::malformed(format!("failed to read the body: {error}")))
}
