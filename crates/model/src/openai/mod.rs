//! The OpenAI-compatible wire: chat completions, as OpenAI describes them and as everyone else
//! sends them.

mod decode;
mod details;
mod request;

use async_trait::async_trait;
use outfitter_core::{Cancel, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream};
use outfitter_net::reqwest::Url;
use outfitter_net::reqwest::header::AUTHORIZATION;
use secrecy::SecretString;

use crate::http::{Endpoint, PhaseTimeouts};
use crate::reply;

pub(crate) use decode::OpenAiDecoder;
pub(crate) use request::{Dialect, tool_form};

/// A model behind an OpenAI-compatible endpoint.
pub(crate) struct OpenAi {
    info: ModelInfo,
    endpoint: Endpoint,
    dialect: Dialect,
}

impl OpenAi {
    pub(crate) fn new(
        info: ModelInfo,
        base: Url,
        key: Option<SecretString>,
        timeouts: PhaseTimeouts,
        dialect: Dialect,
    ) -> Result<Self, ModelError> {
        let endpoint = Endpoint::new(url(base), (AUTHORIZATION, "Bearer "), key, timeouts)?;
        Ok(Self {
            info,
            endpoint,
            dialect,
        })
    }
}

#[async_trait]
impl ModelProvider for OpenAi {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError> {
        let body = request::body(&self.info, self.dialect, &request)?;
        let opened = self.endpoint.post(body, &cancel).await?;
        reply::read(
            opened,
            Box::new(OpenAiDecoder::default()),
            self.endpoint.timeouts(),
            self.endpoint.secret().cloned(),
            cancel,
        )
    }

    fn wire_body(&self, request: &ModelRequest) -> Option<Vec<u8>> {
        request::body(&self.info, self.dialect, request).ok()
    }
}

/// The address of the endpoint below `base`: a base without a path is a server's root and gets
/// `/v1`; any other path stays; one that names the endpoint already is it. A query stays too.
fn url(mut base: Url) -> Url {
    const ENDPOINT: &str = "/chat/completions";
    let path = base.path().trim_end_matches('/').to_owned();
    let path = if path.is_empty() {
        format!("/v1{ENDPOINT}")
    } else if path.ends_with(ENDPOINT) {
        path
    } else {
        format!("{path}{ENDPOINT}")
    };
    base.set_path(&path);
    base
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("http://h:1", "http://h:1/v1/chat/completions")]
    #[case("http://h:1/", "http://h:1/v1/chat/completions")]
    #[case("http://h:1/v1", "http://h:1/v1/chat/completions")]
    #[case("http://h:1/v1/", "http://h:1/v1/chat/completions")]
    #[case("http://h/v1beta/openai", "http://h/v1beta/openai/chat/completions")]
    #[case("http://h/a/b/", "http://h/a/b/chat/completions")]
    #[case("http://h/v1/chat/completions", "http://h/v1/chat/completions")]
    #[case(
        "http://h/x?api-version=1",
        "http://h/x/chat/completions?api-version=1"
    )]
    fn no_part_of_the_base_url_is_lost(#[case] base: &str, #[case] expected: &str) {
        assert_eq!(url(Url::parse(base).unwrap()).as_str(), expected);
    }
}
