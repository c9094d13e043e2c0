//! `call_{api}`: the operations of an API that the operator names, each as a tool.
//!
//! - [`settings`], [`error`]: what the operator says of an API, and why one cannot be used
//! - [`document`], [`schema`]: an OpenAPI document, its references and its schemas
//! - [`operation`], [`parameter`], [`body`], [`flat`], [`server`], [`name`]: what an operation takes,
//!   as one flat schema, where it is, and what its tool is called
//! - [`field`], [`media`], [`extensions`]: which fields of a form are files, and what files are
//! - [`arguments`], [`path`], [`text`], [`styled`], [`request`], [`written`], [`multipart`], [`hops`],
//!   [`known`]: a call as a request, where it is sent, and where it may not lead
//! - [`reply`], [`call`]: what came back, and the tool
//! - [`api`], [`source`]: all tools of an API, and the source that offers those on the allowlist
//!
//! Documents are data of somebody else: they are bounded while they are read, references never leave
//! them, and what cannot be used of them is left out with a reason.

mod api;
mod arguments;
mod body;
mod call;
mod document;
mod error;
mod extensions;
mod field;
mod flat;
mod hops;
mod known;
mod media;
mod multipart;
mod name;
mod operation;
mod parameter;
mod path;
mod reply;
mod request;
mod schema;
mod server;
mod settings;
mod source;
mod styled;
mod text;
mod written;

#[cfg(test)]
mod tests;

pub use api::{Api, fetch_document};
pub use document::MAX_DOCUMENT_BYTES;
pub use error::ApiError;
pub use name::valid_api_name;
pub use settings::{ApiSettings, Offer};
pub use source::{ApiStatus, PLUGIN_APIS, PluginApis};
