//! The Anthropic wire: the messages API.

mod decode;
mod request;

use async_trait::async_trait;
use outfitter_core::{Cancel, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream};
use outfitter_net::reqwest::Url;
use outfitter_net::reqwest::header::HeaderName;
use secrecy::SecretString;

use crate::http::{Endpoint, PhaseTimeouts};
use crate::reply;

pub(crate) use request::tool_form;

use decode::AnthropicDecoder;

/// The version of the API that both sides here are written for.
const VERSION: &str = "2023-06-01";

/// A model behind the messages API.
pub(crate) struct Anthropic {
    info: ModelInfo,
    endpoint: Endpoint,
    max_tokens: u32,
}

impl Anthropic {
    pub(crate) fn new(
        info: ModelInfo,
        base: Url,
        key: Option<SecretString>,
        timeouts: PhaseTimeouts,
        max_tokens: u32,
    ) -> Result<Self, ModelError> {
        let auth = (HeaderName::from_static("x-api-key"), "");
        let endpoint =
            Endpoint::new(url(base), auth, key, timeouts)?.header("anthropic-version", VERSION);
        Ok(Self {
            info,
            endpoint,
            max_tokens,
        })
    }
}

#[async_trait]
impl ModelProvider for Anthropic {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError> {
        let body = request::body(&self.info, self.max_tokens, &request)?;
        let opened = self.endpoint.post(body, &cancel).await?;
        reply::read(
            opened,
            Box::new(AnthropicDecoder::default()),
            self.endpoint.timeouts(),
            self.endpoint.secret().cloned(),
            cancel,
        )
    }

    fn wire_body(&self, request: &ModelRequest) -> Option<Vec<u8>> {
        request::body(&self.info, self.max_tokens, request).ok()
    }
}

/// The address of the endpoint below `base`, which is what people know as the base of this wire:
/// `/v1` is added unless it is there.
fn url(mut base: Url) -> Url {
    let path = base.path().trim_end_matches('/').to_owned();
    let path = if path.ends_with("/messages") {
        path
    } else if path.ends_with("/v1") {
        format!("{path}/messages")
    } else {
        format!("{path}/v1/messages")
    };
    base.set_path(&path);
    base
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("http://h:1", "http://h:1/v1/messages")]
    #[case("http://h:1/v1", "http://h:1/v1/messages")]
    #[case("http://h:1/v1/", "http://h:1/v1/messages")]
    #[case("http://h/api/anthropic", "http://h/api/anthropic/v1/messages")]
    #[case("http://h/api/anthropic/", "http://h/api/anthropic/v1/messages")]
    #[case("http://h/v1/messages?beta=true", "http://h/v1/messages?beta=true")]
    fn no_part_of_the_base_url_is_lost(#[case] base: &str, #[case] expected: &str) {
        assert_eq!(url(Url::parse(base).unwrap()).as_str(), expected);
    }
}
