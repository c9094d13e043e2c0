//! What all wires of our own have in common: one POST, one reply.

use async_trait::async_trait;
use outfitter_core::{Cancel, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream};

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
