//! What all wires of our own have in common: one POST, one reply.

use async_trait::async_trait;
use outfitter_core::{Cancel, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream};
use outfitter_net::reqwest::Url;

use crate::http::Endpoint;
use crate::reply::{self, Decoder};

/// How a wire writes requests and reads replies.
pub(crate) trait Form: Send + Sync {
    /// The bytes of a request. Equal requests are equal bytes.
    fn body(&self, info: &ModelInfo, request: &ModelRequest) -> Result<Vec<u8>, ModelError>;

    /// What reads one reply.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// A reply in our words: with our names of the tools of its request.
    fn ours(&self, request: &ModelRequest, reply: ModelStream) -> Result<ModelStream, ModelError>;
}

/// A model behind an endpoint.
pub(crate) struct OverHttp<F> {
    info: ModelInfo,
    endpoint: Endpoint,
    form: F,
}

impl<F: Form> OverHttp<F> {
    pub(crate) fn new(info: ModelInfo, endpoint: Endpoint, form: F) -> Self {
        Self {
            info,
            endpoint,
            form,
        }
    }
}

#[async_trait]
impl<F: Form> ModelProvider for OverHttp<F> {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError> {
        let body = self.form.body(&self.info, &request)?;
        let opened = self.endpoint.post(body, &cancel).await?;
        let reply = reply::read(
            opened,
            self.form.decoder(),
            self.endpoint.timeouts(),
            self.endpoint.secret().cloned(),
            cancel,
        )?;
        self.form.ours(&request, reply)
    }

    fn wire_body(&self, request: &ModelRequest) -> Option<Vec<u8>> {
        self.form.body(&self.info, request).ok()
    }
}

/// The address of an endpoint of the OpenAI API below `base`: a base without a path is a server's root and gets
/// `/v1`; any other path stays; one that names the endpoint already is it. A query stays too.
pub(crate) fn below(mut base: Url, endpoint: &str) -> Url {
    let path = base.path().trim_end_matches('/').to_owned();
    let path = if path.is_empty() {
        format!("/v1{endpoint}")
    } else if path.ends_with(endpoint) {
        path
    } else {
        format!("{path}{endpoint}")
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
    fn no_part_of_the_base_url_is_lost(
        #[case] base: &str,
        #[case] expected: &str,
        #[values("/chat/completions", "/responses")] endpoint: &str,
    ) {
        let of = |text: &str| text.replace("/chat/completions", endpoint);
        let url = below(Url::parse(&of(base)).unwrap(), endpoint);
        assert_eq!(url.as_str(), of(expected));
    }
}
