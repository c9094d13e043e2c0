//! Models: what answers a [`ModelRequest`](outfitter_core::ModelRequest).
//!
//! * [`ModelSettings`]: plain settings in, a
//!   [`ModelProvider`](outfitter_core::ModelProvider) out, retries included. [`PROVIDERS`] is the
//!   table of the ones known by name.
//! * Three wires of our own: the OpenAI-compatible one, which also serves Gemini, Ollama and
//!   Cohere, OpenAI's responses, and Anthropic's. Each writes a request as the same bytes every
//!   time and reads what providers really send: streams with any line ends, whole JSON documents,
//!   errors in a success. Providers whose wires are not ours come through a library, behind guards.
//! * [`shape`]: the schema of a tool as each provider takes it.
//! * [`ScriptedProvider`]: follows a [`Script`] instead of a model.
//! * [`RetryingProvider`] with its [`ModelCallPolicy`]: tries again while nothing was shown.
//! * [`TurnAssembler`]: deltas in, one message with unique call ids out.
//! * [`sse`]: server-sent events from bytes. [`limits`]: every bound, by name.

mod adapted;
mod anthropic;
#[cfg(test)]
mod any_event;
mod assembler;
mod conversation;
mod decoding;
mod http;
mod json;
pub mod limits;
mod openai;
mod over_http;
mod patience;
mod policy;
mod providers;
mod reply;
mod responses;
mod scripted;
mod settings;
mod shaping;
pub mod sse;
mod tool_form;

pub use adapted::Adapter;
pub use assembler::{Assembled, ReplyWarning, Shown, TurnAssembler};
pub use policy::{Jitter, ModelCallPolicy, RetryingProvider};
pub use providers::{PROVIDERS, ProviderDefaults, Wire, provider_defaults};
pub use scripted::{Script, ScriptedProvider};
pub use settings::{ModelSettings, ToolMode};
pub use shaping::{SchemaDialect, ShapeNote, ShapedSchema, shape, shape_name};
pub use tool_form::tool_on_wire;
