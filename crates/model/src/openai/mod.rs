//! The OpenAI-compatible wire: chat completions, as OpenAI describes them and as everyone else
//! sends them.

mod decode;
mod details;
mod json_mode;
mod json_reply;
mod request;

use outfitter_core::{ModelError, ModelInfo, ModelRequest, ModelStream};
use outfitter_net::reqwest::Url;
use outfitter_net::reqwest::header::AUTHORIZATION;
use secrecy::SecretString;

use crate::http::{Endpoint, PhaseTimeouts};
use crate::over_http::{Form, OverHttp, below};
use crate::reply::Decoder;
use crate::settings::ToolMode;
use crate::shaping::ShapeCache;

pub(crate) use decode::OpenAiDecoder;
pub(crate) use request::{Dialect, tools};

use json_mode::JsonMode;
use request::Beside;

/// A model behind an OpenAI-compatible endpoint.
pub(crate) type OpenAi = OverHttp<ChatCompletions>;

/// Chat completions in one dialect.
pub(crate) struct ChatCompletions {
    dialect: Dialect,
    shapes: ShapeCache,
    json_mode: Option<JsonMode>,
}

/// The model at `base`.
pub(crate) fn open_ai(
    info: ModelInfo,
    base: Url,
    key: Option<SecretString>,
    timeouts: PhaseTimeouts,
    dialect: Dialect,
    mode: ToolMode,
) -> Result<OpenAi, ModelError> {
    let endpoint = Endpoint::new(
        below(base, "/chat/completions"),
        (AUTHORIZATION, "Bearer "),
        key,
        timeouts,
    )?;
    let form = ChatCompletions {
        dialect,
        shapes: ShapeCache::new(dialect.schema, tools),
        json_mode: match mode {
            ToolMode::Native => None,
            ToolMode::JsonSchema => Some(JsonMode::new()),
        },
    };
    Ok(OverHttp::new(info, endpoint, form))
}

impl Form for ChatCompletions {
    fn body(&self, info: &ModelInfo, request: &ModelRequest) -> Result<Vec<u8>, ModelError> {
        if let Some(mode) = &self.json_mode {
            let asked = mode.asked(request)?;
            let beside = Beside {
                tools: None,
                reply: asked.schema.as_deref(),
            };
            return request::body(info, self.dialect, &asked.request, beside);
        }
        let shaped = self.shapes.tools(&request.tools)?;
        let beside = Beside {
            tools: shaped.wire.as_deref(),
            reply: None,
        };
        request::body(info, self.dialect, request, beside)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(OpenAiDecoder::default())
    }

    fn ours(&self, request: &ModelRequest, reply: ModelStream) -> Result<ModelStream, ModelError> {
        if self.json_mode.is_none() {
            return Ok(self.shapes.tools(&request.tools)?.names().reply(reply));
        }
        Ok(if request.tools.is_empty() {
            reply
        } else {
            json_mode::reply(reply)
        })
    }
}
