//! OpenAI's responses: items instead of messages, and reasoning that comes back.
//!
//! Nothing is kept at the provider (`store` is false), so every request has the whole conversation.
//! What a model thought comes as a sealed item, is kept with the message as a part of its provider,
//! and goes back in its place.

mod decode;
mod request;

use outfitter_core::{ModelError, ModelInfo, ModelRequest, ModelStream};
use outfitter_net::reqwest::Url;
use outfitter_net::reqwest::header::AUTHORIZATION;
use secrecy::SecretString;

use crate::http::{Endpoint, PhaseTimeouts};
use crate::over_http::{Form, OverHttp, below};
use crate::reply::Decoder;
use crate::shaping::{SchemaDialect, ShapeCache};

pub(crate) use request::tools;

use decode::ResponsesDecoder;

/// A model behind the responses API.
pub(crate) type Responses = OverHttp<Items>;

/// The responses API.
pub(crate) struct Items {
    shapes: ShapeCache,
}

/// The model at `base`.
pub(crate) fn responses(
    info: ModelInfo,
    base: Url,
    key: Option<SecretString>,
    timeouts: PhaseTimeouts,
) -> Result<Responses, ModelError> {
    let endpoint = Endpoint::new(
        below(base, "/responses"),
        (AUTHORIZATION, "Bearer "),
        key,
        timeouts,
    )?;
    let form = Items {
        shapes: ShapeCache::new(SchemaDialect::OpenAiResponses, tools),
    };
    Ok(OverHttp::new(info, endpoint, form))
}

impl Form for Items {
    fn body(&self, info: &ModelInfo, request: &ModelRequest) -> Result<Vec<u8>, ModelError> {
        request::body(info, request, &*self.shapes.tools(&request.tools)?)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ResponsesDecoder::default())
    }

    fn ours(&self, request: &ModelRequest, reply: ModelStream) -> Result<ModelStream, ModelError> {
        Ok(self.shapes.tools(&request.tools)?.names().reply(reply))
    }
}
