//! One POST to a provider, up to the head of its response.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use outfitter_core::{Cancel, ModelError, Phase, ResponseFacts, chain};
use outfitter_net::reqwest::header::{
    ACCEPT, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use outfitter_net::reqwest::{Method, Request, Response, Url};
use outfitter_net::{Client, ClientOptions, NetError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::timeout;

use crate::limits::{MAX_ERROR_BODY_BYTES, MAX_ERROR_CHARS};

/// How long each phase of a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PhaseTimeouts {
    /// Until the connection stands.
    pub(crate) connect: Duration,
    /// Until the head of the response, the connection included.
    pub(crate) first_byte: Duration,
    /// Until the next piece of the body that says something.
    pub(crate) idle: Duration,
}

impl PhaseTimeouts {
    /// `each` for the two waits of a reply. Of the first the connection may take half, and no more
    /// than what the HTTP client allows.
    pub(crate) fn each(each: Duration) -> Self {
        Self {
            connect: (each / 2).min(outfitter_net::CONNECT_TIMEOUT),
            first_byte: each,
            idle: each,
        }
    }

    /// Waits for the head of a response, from the moment its request is sent. The connection is in
    /// it: its own bound, which the client keeps, only makes a dead address known sooner.
    async fn head<T>(&self, answer: impl Future<Output = T>) -> Result<T, ModelError> {
        timeout(self.first_byte, answer)
            .await
            .map_err(|_| ModelError::Timeout {
                phase: Phase::FirstByte,
                after: self.first_byte,
            })
    }
}

/// Where requests of one model go, and how.
pub(crate) struct Endpoint {
    client: Client,
    url: Url,
    headers: HeaderMap,
    secret: Option<SecretString>,
    timeouts: PhaseTimeouts,
}

/// A response whose status is a success.
pub(crate) struct Opened {
    pub(crate) response: Response,
    pub(crate) facts: ResponseFacts,
}

impl Endpoint {
    /// `auth` is the header of the key and what stands before the key in it.
    pub(crate) fn new(
        url: Url,
        auth: (HeaderName, &str),
        secret: Option<SecretString>,
        timeouts: PhaseTimeouts,
    ) -> Result<Self, ModelError> {
        let client = Client::operator(ClientOptions {
            connect_timeout: timeouts.connect,
            ..ClientOptions::default()
        })
        .map_err(|error| setup(chain(&error)))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(secret) = &secret {
            let (name, prefix) = auth;
            let value = outfitter_net::secret_header(prefix, secret)
                .map_err(|error| setup(chain(&error)))?;
            headers.insert(name, value);
        }
        Ok(Self {
            client,
            url,
            headers,
            secret,
            timeouts,
        })
    }

    /// Adds a header to every request.
    pub(crate) fn header(mut self, name: &'static str, value: &'static str) -> Self {
        let name = HeaderName::from_static(name);
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    pub(crate) fn timeouts(&self) -> PhaseTimeouts {
        self.timeouts
    }

    /// What must not stand in an error.
    pub(crate) fn secret(&self) -> Option<&SecretString> {
        self.secret.as_ref()
    }

    /// Sends `body` and waits for a response. A status that is not a success is an error with the
    /// provider's words.
    pub(crate) async fn post(&self, body: Vec<u8>, cancel: &Cancel) -> Result<Opened, ModelError> {
        let mut request = Request::new(Method::POST, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = Some(body.into());
        let client = self
            .client
            .unguarded()
            .ok_or_else(|| setup("the http client is guarded".to_owned()))?;
        let response = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            answer = self.timeouts.head(client.execute(request)) => match answer? {
                Ok(response) => response,
                Err(error) if error.is_connect() && error.is_timeout() => {
                    return Err(ModelError::Timeout {
                        phase: Phase::Connect,
                        after: self.timeouts.connect,
                    });
                }
                Err(error) => {
                    let message = chain(&NetError::from(error));
                    return Err(ModelError::Connect { message });
                }
            },
        };
        let facts = ResponseFacts {
            request_id: request_id(response.headers()),
            retries: 0,
        };
        if response.status().is_success() {
            return Ok(Opened { response, facts });
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ModelError::Cancelled),
            error = self.refused(response, facts) => Err(error),
        }
    }

    async fn refused(&self, mut response: Response, facts: ResponseFacts) -> ModelError {
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let mut body = Vec::new();
        // What of the body is missing or late only makes the message poorer, so all of it has the
        // time of one piece.
        let read = async {
            while body.len() < MAX_ERROR_BODY_BYTES
                && let Ok(Some(piece)) = response.chunk().await
            {
                body.extend_from_slice(&piece);
            }
        };
        let _ = timeout(self.timeouts.idle, read).await;
        body.truncate(MAX_ERROR_BODY_BYTES);
        let text = String::from_utf8_lossy(&body);
        let said = if status.is_redirection() {
            "a redirect, which is not followed; set base_url to where the service is".to_owned()
        } else {
            match serde_json::from_str::<Value>(&text) {
                Ok(value) => error_words(&value).unwrap_or_else(|| text.into_owned()),
                Err(_) if is_html(&body) => "a web page".to_owned(),
                Err(_) => text.into_owned(),
            }
        };
        let said = if said.trim().is_empty() {
            status
                .canonical_reason()
                .unwrap_or("no reason given")
                .to_owned()
        } else {
            said
        };
        let mut message = fit(&said, self.secret());
        if let Some(id) = facts.request_id {
            message.push(' ');
            message.push_str(&fit(&format!("[request {id}]"), self.secret()));
        }
        ModelError::Status {
            status: status.as_u16(),
            message,
            retry_after,
        }
    }
}

/// An error of the set-up.
pub(crate) fn setup(message: String) -> ModelError {
    ModelError::Setup {
        message,
        hint: None,
    }
}

/// The provider's words on one line, bounded, and without the key should it have been quoted.
pub(crate) fn fit(said: &str, secret: Option<&SecretString>) -> String {
    let mut said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(secret) = secret.map(ExposeSecret::expose_secret)
        && !secret.is_empty()
    {
        said = said.replace(secret, "[redacted]");
    }
    if let Some((cut, _)) = said.char_indices().nth(MAX_ERROR_CHARS) {
        said.truncate(cut);
        said.push('…');
    }
    said
}

/// Looks for the words of an error where providers put them: `error` as text or as an object with
/// a `message`, or `message` or `detail` at the top.
pub(crate) fn error_words(body: &Value) -> Option<String> {
    // One wire wraps its error in a list.
    let body = match body {
        Value::Array(items) => items.first()?,
        Value::Object(_) | Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {
            body
        }
    };
    let error = body.get("error").filter(|error| is_error(error));
    match error {
        Some(Value::String(text)) => return Some(text.clone()),
        Some(error) => return Some(object_words(error)),
        None => {}
    }
    ["message", "detail"]
        .iter()
        .find_map(|key| body.get(*key))
        .map(|said| match said {
            Value::String(text) => text.clone(),
            other => outfitter_core::canonical(other),
        })
}

/// Some providers send `error` with every piece and mean nothing by it.
pub(crate) fn is_error(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

fn object_words(error: &Value) -> String {
    let Some(Value::String(message)) = error.get("message") else {
        return outfitter_core::canonical(error);
    };
    let kind = ["type", "code", "status"]
        .iter()
        .find_map(|key| error.get(*key).and_then(Value::as_str));
    match kind {
        Some(kind) => format!("{message} ({kind})"),
        None => message.clone(),
    }
}

/// Whether a body begins as a web page does.
pub(crate) fn is_html(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'<')
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    ["x-request-id", "request-id", "x-amzn-requestid", "cf-ray"]
        .iter()
        .find_map(|name| headers.get(*name))
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned)
}

/// RFC 9110, section 10.2.3: seconds or a date; and the milliseconds that some providers add. A
/// date is taken against the server's own clock where the response has it.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = text(HeaderName::from_static("retry-after-ms"))
        .and_then(|text| text.parse::<f64>().ok())
        .and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
    if millis.is_some() {
        return millis;
    }
    let wait = text(RETRY_AFTER)?;
    if let Ok(seconds) = wait.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = http_date(wait)?;
    let now = match text(DATE).and_then(http_date) {
        Some(now) => now,
        None => SystemTime::now(),
    };
    Some(until.duration_since(now).unwrap_or_default())
}

fn http_date(text: &str) -> Option<SystemTime> {
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    let seconds = u64::try_from(date.timestamp().as_second()).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn a_silent_server_is_waited_for_as_long_as_the_error_says() {
        for seconds in [1, 2, 5, 120] {
            let each = Duration::from_secs(seconds);
            let timeouts = PhaseTimeouts::each(each);
            let start = tokio::time::Instant::now();
            let waited = timeouts.head(std::future::pending::<()>()).await;
            let error = waited.unwrap_err();
            assert_eq!(start.elapsed(), each);
            assert!(
                matches!(error, ModelError::Timeout { phase: Phase::FirstByte, after } if after == each),
                "{error}"
            );
            assert!(timeouts.connect < timeouts.first_byte);
        }
    }

    #[rstest]
    #[case(&[("retry-after", "3")], Some(3_000))]
    #[case(&[("retry-after", "0.5")], Some(500))]
    #[case(&[("retry-after", "3"), ("retry-after-ms", "250")], Some(250))]
    #[case(
        &[("date", "Sun, 06 Nov 1994 08:49:30 GMT"), ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")],
        Some(7_000)
    )]
    #[case(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(0))]
    #[case(&[("retry-after", "-1")], None)]
    #[case(&[("retry-after", "soon")], None)]
    #[case(&[], None)]
    fn retry_after_is_seconds_milliseconds_or_a_date(
        #[case] given: &[(&'static str, &'static str)],
        #[case] millis: Option<u64>,
    ) {
        let headers = given
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect();
        assert_eq!(retry_after(&headers), millis.map(Duration::from_millis));
    }

    #[rstest]
    #[case(json!({"error": {"message": "no", "type": "bad"}}), Some("no (bad)"))]
    #[case(json!({"error": {"message": "no", "code": 400}}), Some("no"))]
    #[case(json!({"error": "no"}), Some("no"))]
    #[case(json!([{"error": {"message": "no"}}]), Some("no"))]
    #[case(json!({"object": "error", "message": "no"}), Some("no"))]
    #[case(json!({"detail": [{"loc": "x"}]}), Some(r#"[{"loc":"x"}]"#))]
    #[case(json!({"error": {"code": 7}}), Some(r#"{"code":7}"#))]
    #[case(json!({"error": null}), None)]
    #[case(json!({"choices": []}), None)]
    fn the_words_of_an_error_are_found(#[case] body: Value, #[case] words: Option<&str>) {
        assert_eq!(error_words(&body).as_deref(), words);
    }

    #[test]
    fn a_quoted_key_and_a_long_page_do_not_reach_the_message() {
        let secret = SecretString::from("sk-123");
        let said = fit(
            &format!("bad\nkey sk-123 {}", "é".repeat(2000)),
            Some(&secret),
        );
        assert!(said.starts_with("bad key [redacted] é"), "{said}");
        assert_eq!(said.chars().count(), MAX_ERROR_CHARS + 1);
    }
}
