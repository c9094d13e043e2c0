//! Providers whose wires are not ours to write: through the library `genai`, behind guards.
//!
//! The library takes a stream that was cut off for one that ended, and makes up ids. So a reply
//! counts as whole only with an end event and a reason to stop in it, the first error is the last
//! thing that is said, ids that it made up are not taken, what is said is bounded, and both of its
//! timeouts are set beside our own. None of its types leaves this module. Arguments pass through
//! its JSON values: a number that 64 bits do not hold loses digits there.

mod failure;
mod request;
mod stream;

use async_trait::async_trait;
use futures_util::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::ChatOptions;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use outfitter_core::{
    Cancel, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream, chain,
};
use outfitter_net::ClientOptions;
use outfitter_net::reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::http::{PhaseTimeouts, setup};
use crate::json::raw_list;
use crate::shaping::{SchemaDialect, ShapeCache};

/// A provider of the library that is used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adapter {
    /// Gemini's own API.
    Gemini,
    /// Ollama's own API.
    Ollama,
    /// Amazon Bedrock's converse API, with a bearer token.
    Bedrock,
    /// Google's Vertex AI, with an access token: Gemini and Claude.
    Vertex,
}

impl Adapter {
    fn kind(self) -> AdapterKind {
        match self {
            Self::Gemini => AdapterKind::Gemini,
            Self::Ollama => AdapterKind::Ollama,
            Self::Bedrock => AdapterKind::BedrockApi,
            Self::Vertex => AdapterKind::Vertex,
        }
    }

    fn dialect(self, model: &str) -> SchemaDialect {
        match self {
            Self::Vertex if model.starts_with("claude") => SchemaDialect::Anthropic,
            Self::Gemini | Self::Vertex => SchemaDialect::GeminiNative,
            Self::Ollama => SchemaDialect::Ollama,
            Self::Bedrock => SchemaDialect::Bedrock,
        }
    }
}

/// A model behind the library.
pub(crate) struct Adapted {
    info: ModelInfo,
    adapter: Adapter,
    client: Client,
    target: ServiceTarget,
    options: ChatOptions,
    secret: Option<SecretString>,
    dialect: SchemaDialect,
    shapes: ShapeCache,
    timeouts: PhaseTimeouts,
}

impl Adapted {
    pub(crate) fn new(
        info: ModelInfo,
        adapter: Adapter,
        base: &Url,
        secret: Option<SecretString>,
        timeouts: PhaseTimeouts,
    ) -> Result<Self, ModelError> {
        let http = outfitter_net::Client::operator(ClientOptions {
            connect_timeout: timeouts.connect,
            ..ClientOptions::default()
        })
        .map_err(|error| setup(chain(&error)))?;
        let http = http
            .unguarded()
            .ok_or_else(|| setup("the http client is guarded".to_owned()))?;
        let client = Client::builder().with_reqwest(http.clone()).build();
        let client = client.map_err(|error| setup(error.to_string()))?;
        // The library joins paths by writing one after the other.
        let base = format!("{}/", base.as_str().trim_end_matches('/'));
        let key = secret.as_ref().map_or("none", ExposeSecret::expose_secret);
        let options = ChatOptions::default()
            .with_capture_usage(true)
            .with_stream_header_timeout(timeouts.first_byte)
            .with_stream_read_timeout(timeouts.idle);
        let dialect = adapter.dialect(&info.name);
        Ok(Self {
            target: ServiceTarget {
                endpoint: Endpoint::from_owned(base),
                auth: AuthData::from_single(key),
                model: ModelIden::new(adapter.kind(), info.name.clone()),
            },
            info,
            adapter,
            client,
            options,
            secret,
            dialect,
            shapes: ShapeCache::new(dialect, raw_list),
            timeouts,
        })
    }
}

#[async_trait]
impl ModelProvider for Adapted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError> {
        let shaped = self.shapes.tools(&request.tools)?;
        let writer = request::Writer {
            info: &self.info,
            adapter: self.adapter,
            dialect: self.dialect,
        };
        let chat = writer.request(&request, &shaped);
        let opening = self
            .client
            .exec_chat_stream(self.target.clone(), chat, Some(&self.options));
        let opened = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            opened = opening => opened,
        };
        let secret = self.secret.clone();
        let opened = opened.map_err(|error| failure::of(&error, self.timeouts, secret.as_ref()))?;
        let guarded = stream::Guarded::new(self.adapter, self.timeouts, secret);
        let mut inner = guarded.over(opened.stream, cancel);
        // The library sends nothing until it is asked for the first time: a refusal is an error of
        // the opening, as it is on every other wire.
        match inner.next().await {
            Some(Err(error)) => Err(error),
            None => Err(ModelError::Truncated),
            Some(Ok(first)) => {
                let first = futures_util::stream::once(std::future::ready(Ok(first)));
                Ok(shaped.names().reply(Box::pin(first.chain(inner))))
            }
        }
    }
}
