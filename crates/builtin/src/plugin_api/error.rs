//! Why an API, or a part of it, cannot be used.

use outfitter_net::NetError;

/// Why an API cannot be used at all. Reads on after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The document is larger than one may be.
    #[error("read its document: it is larger than {limit} bytes")]
    TooLarge {
        /// The bound.
        limit: usize,
    },
    /// The document is neither JSON nor YAML.
    #[error("read its document: {why}")]
    Unreadable {
        /// What the reader says.
        why: String,
    },
    /// The document is not one of OpenAPI 3.0 or 3.1.
    #[error("read its document: {why}")]
    NotOpenApi {
        /// What it is instead.
        why: String,
    },
    /// The document could not be fetched.
    #[error("fetch its document")]
    Fetch(#[source] NetError),
    /// The document is not where it is said to be.
    #[error("fetch its document: {why}")]
    NotThere {
        /// What the server says.
        why: String,
    },
    /// The name of the API cannot be part of a tool's name.
    #[error(
        "name its tools: {0:?} must be 1 to 30 characters of A-Z a-z 0-9 - and single _ inside"
    )]
    Name(String),
    /// The URL of the API cannot be one.
    #[error("use its url: {why}")]
    Url {
        /// What is wrong with it.
        why: String,
    },
    /// A header or a parameter that is sent with every call cannot be.
    #[error("send {name} with every call: {why}")]
    Credential {
        /// Its name.
        name: String,
        /// What is wrong with it; its value is never shown.
        why: String,
    },
    /// The schema of the one operation cannot be used.
    #[error("use its schema: {why}")]
    Schema {
        /// What is wrong with it.
        why: String,
    },
}

/// Why a part of a document cannot be used; one fragment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unusable(String);

impl Unusable {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}
