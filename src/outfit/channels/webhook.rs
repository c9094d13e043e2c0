//! Messages that are posted to a URL.

use std::time::Duration;

use outfitter_builtin::Taken;
use outfitter_core::{Code, ErrorInfo, ToolError};
use outfitter_net::reqwest::{Method, Request, Response, StatusCode, Url, header};
use outfitter_net::{Client, ClientOptions, NetError, Origin};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OnceCell;

/// How long one try may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The pause after the first try; each after it is twice as long, up to the bound.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// The longest pause that the other side may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(30);

/// How much of an answer is read.
const MOST_ANSWER: usize = 64 * 1024;

/// The header by which the other side knows a message that it has already.
const KEY: &str = "idempotency-key";

/// A URL that messages are posted to. No more of it than its origin is ever said: it may hold a
/// secret.
pub(super) struct Webhook {
    url: Url,
    retries: u32,
    client: OnceCell<Client>,
}

/// What a try came to.
enum Try {
    Taken(Taken),
    /// It may be tried again, after at least so long.
    Again(ToolError, Option<Duration>),
    Refused(ToolError),
}

/// What a webhook may answer.
#[derive(Deserialize, Default)]
struct Told {
    stream_id: Option<String>,
    #[serde(default)]
    created: bool,
}

impl Webhook {
    pub(super) fn new(url: Option<&str>, retries: u32) -> Result<Self, String> {
        let url = url.ok_or("it has no url")?;
        let url = Url::parse(url).map_err(|error| format!("its url is none: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("its url is not of http or https".to_owned());
        }
        Ok(Self {
            url,
            retries,
            client: OnceCell::new(),
        })
    }

    pub(super) async fn post(
        &self,
        channel: &str,
        key: &str,
        message: Value,
    ) -> Result<Taken, ToolError> {
        let client = self
            .client
            .get_or_try_init(async || Client::operator(ClientOptions::default()))
            .await
            .map_err(|error| unavailable(channel, &error))?;
        let body = message.to_string();
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            match self.attempt(client, channel, key, body.clone()).await {
                Try::Taken(taken) => return Ok(taken),
                Try::Refused(error) => return Err(error),
                Try::Again(error, _) if tries >= self.retries => return Err(error),
                Try::Again(_, asked) => {
                    tokio::time::sleep(asked.unwrap_or(pause).min(LONGEST_ASKED)).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    tries += 1;
                }
            }
        }
    }

    async fn attempt(&self, client: &Client, channel: &str, key: &str, body: String) -> Try {
        let mut request = Request::new(Method::POST, self.url.clone());
        let headers = request.headers_mut();
        let json = header::HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        if let Ok(key) = header::HeaderValue::from_str(key) {
            headers.insert(KEY, key);
        }
        *request.body_mut() = Some(body.into());
        let exchange = async {
            let response = client.execute(request).await?;
            let status = response.status();
            let asked = retry_after(&response);
            Ok::<_, NetError>((status, asked, told(response).await))
        };
        match tokio::time::timeout(TIMEOUT, exchange).await {
            Err(_) => {
                let why = format!(
                    "the channel {channel} did not answer: {} was silent",
                    Origin::of(&self.url)
                );
                Try::Again(ToolError::new(Code::Timeout, why), None)
            }
            Ok(Err(error)) => Try::Again(unavailable(channel, &error), None),
            Ok(Ok((status, _, told))) if status.is_success() => Try::Taken(Taken {
                stream_id: told.stream_id,
                created: told.created,
            }),
            Ok(Ok((status, asked, _))) => refused(channel, status, asked),
        }
    }
}

fn unavailable(channel: &str, error: &NetError) -> ToolError {
    let mut why = format!("the channel {channel} cannot be reached: failed to {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        why.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    retryable(Code::Unavailable, why)
}

fn retryable(code: Code, why: String) -> ToolError {
    let mut info = ErrorInfo::new(code, why);
    info.retryable = true;
    info.into()
}

fn refused(channel: &str, status: StatusCode, asked: Option<Duration>) -> Try {
    let why = format!("the channel {channel} did not take the message: it answered {status}");
    match status {
        StatusCode::TOO_MANY_REQUESTS => Try::Again(retryable(Code::RateLimited, why), asked),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY => {
            Try::Again(retryable(Code::Unavailable, why), asked)
        }
        status if status.is_server_error() => Try::Again(retryable(Code::Unavailable, why), asked),
        _ => Try::Refused(ToolError::new(Code::Failed, why)),
    }
}

/// The pause that the other side asks for, in seconds.
fn retry_after(response: &Response) -> Option<Duration> {
    let said = response.headers().get(header::RETRY_AFTER)?;
    Some(Duration::from_secs(
        said.to_str().ok()?.trim().parse().ok()?,
    ))
}

/// What it answered, where that is something that we know.
async fn told(mut response: Response) -> Told {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        if body.len() + chunk.len() > MOST_ANSWER {
            return Told::default();
        }
        body.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&body).unwrap_or_default()
}
