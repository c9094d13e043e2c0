//! A request whose handler panics gets an answer all the same.
//!
//! The library drops the task of a handler that panicked, and its client would wait for ever.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use rmcp::model::ErrorData;

use super::handler::failed;

/// What the handler answers, or that it failed inside.
pub(super) async fn answered<T>(
    handler: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    // What a handler shares are locks that are taken over when they are poisoned.
    let answer = AssertUnwindSafe(handler).catch_unwind().await;
    answer.unwrap_or_else(|_| {
        tracing::error!("a handler of the MCP gateway panicked");
        Err(failed("the request failed inside; the log says more"))
    })
}
