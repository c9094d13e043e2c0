//! What the operator says of an API.

use std::fmt;
use std::time::Duration;

use outfitter_net::reqwest::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use outfitter_net::reqwest::{Method, Url};
use outfitter_net::secret_header;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::{ApiError, name};

/// Headers that belong to the connection and the message, which nobody gives.
const OURS: [HeaderName; 9] = [
    HOST,
    CONNECTION,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    ACCEPT_ENCODING,
];

/// An API whose operations are tools.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// What it is called: its tools are `call_NAME_OPERATION`.
    pub name: String,
    /// Where it is. Wins over what a document says of its servers.
    pub url: Option<Url>,
    /// Headers that are sent with every call, credentials among them.
    pub headers: Vec<(String, SecretString)>,
    /// Parameters of the query that are sent with every call, credentials among them.
    pub query: Vec<(String, SecretString)>,
    /// How long one call may take.
    pub timeout: Duration,
    /// Whether a header, a cookie or a parameter of the query is a credential by its name alone. No
    /// model gives those.
    pub is_credential: fn(&str) -> bool,
}

/// What an API offers.
#[derive(Debug, Clone)]
pub enum Offer {
    /// The operations of an OpenAPI document.
    Document {
        /// The document, JSON or YAML.
        text: String,
        /// Where it was fetched from, unless it is a file of the operator.
        from: Option<Url>,
    },
    /// One operation, at the URL of the settings.
    One {
        /// The method.
        method: Method,
        /// The JSON Schema of its arguments.
        schema: Value,
    },
}

/// What is sent with every call.
#[derive(Clone, Default)]
pub(super) struct Given {
    /// Without cookies.
    pub(super) headers: HeaderMap,
    /// A `cookie` header, without which the cookies of a call would replace it.
    pub(super) cookies: Option<SecretString>,
    /// Parameters of the query.
    pub(super) query: Vec<(String, SecretString)>,
}

/// There are credentials in it.
impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given").finish_non_exhaustive()
    }
}

impl Given {
    /// What the settings give.
    pub(super) fn of(settings: &ApiSettings) -> Result<Self, ApiError> {
        let mut given = Self {
            query: settings.query.clone(),
            ..Self::default()
        };
        for (name, value) in &settings.headers {
            let wrong = |why: &str| ApiError::Credential {
                name: name.clone(),
                why: why.to_owned(),
            };
            let header = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| wrong("that is no name of a header"))?;
            if OURS.contains(&header) {
                return Err(wrong("that header belongs to the connection"));
            }
            let text = secret_header("", value)
                .map_err(|_| wrong("it has a character that no header can carry"))?;
            if header == COOKIE {
                given.cookies = Some(value.clone());
            } else {
                given.headers.insert(header, text);
            }
        }
        Ok(given)
    }

    /// Whether a header is given here.
    pub(super) fn has_header(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }

    /// Whether a parameter of the query is given here.
    pub(super) fn has_query(&self, name: &str) -> bool {
        self.query.iter().any(|(known, _)| known == name)
    }

    /// Whether a cookie is given here.
    pub(super) fn has_cookie(&self, name: &str) -> bool {
        let cookies = self.cookies.as_ref().map(ExposeSecret::expose_secret);
        let mut pairs = cookies.into_iter().flat_map(|cookies| cookies.split(';'));
        pairs.any(|pair| pair.split('=').next().unwrap_or_default().trim() == name)
    }
}

impl ApiSettings {
    /// Checks what can be wrong with them by themselves.
    pub(super) fn check(&self) -> Result<(), ApiError> {
        if !name::valid_api_name(&self.name) {
            return Err(ApiError::Name(self.name.clone()));
        }
        match &self.url {
            Some(url) => super::server::check(url).map_err(|why| ApiError::Url {
                why: why.to_string(),
            }),
            None => Ok(()),
        }
    }
}
