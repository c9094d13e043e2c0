//! The Anthropic wire: the messages API.

mod decode;
mod request;

use outfitter_core::{ModelError, ModelInfo, ModelRequest, ModelStream};
use outfitter_net::reqwest::Url;
use outfitter_net::reqwest::header::HeaderName;
use secrecy::SecretString;

use crate::http::{Endpoint, PhaseTimeouts};
use crate::over_http::{Form, OverHttp};
use crate::reply::Decoder;
use crate::shaping::{SchemaDialect, ShapeCache};

pub(crate) use request::tools;

use decode::AnthropicDecoder;

/// The version of the API that both sides here are written for.
const VERSION: &str = "2023-06-01";

/// A model behind the messages API.
pub(crate) type Anthropic = OverHttp<Messages>;

/// The messages API, with the length that it demands.
pub(crate) struct Messages {
    max_tokens: u32,
    shapes: ShapeCache,
}

/// The model at `base`.
pub(crate) fn anthropic(
    info: ModelInfo,
    base: Url,
    key: Option<SecretString>,
    timeouts: PhaseTimeouts,
    max_tokens: u32,
) -> Result<Anthropic, ModelError> {
    let auth = (HeaderName::from_static("x-api-key"), "");
    let endpoint =
        Endpoint::new(url(base), auth, key, timeouts)?.header("anthropic-version", VERSION);
    let form = Messages {
        max_tokens,
        shapes: ShapeCache::new(SchemaDialect::Anthropic, tools),
    };
    Ok(OverHttp::new(info, endpoint, form))
}

impl Form for Messages {
    fn body(&self, info: &ModelInfo, request: &ModelRequest) -> Result<Vec<u8>, ModelError> {
        let shaped = self.shapes.tools(&request.tools)?;
        request::body(info, self.max_tokens, request, &shaped)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(AnthropicDecoder::default())
    }

    fn ours(&self, request: &ModelRequest, reply: ModelStream) -> Result<ModelStream, ModelError> {
        Ok(self.shapes.tools(&request.tools)?.names().reply(reply))
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
