//! What can go wrong, ready to be shown.
//!
//! A URL may carry a key in its user part, its path or its query, so errors name the origin and
//! nothing more of it. Headers and bodies are never part of an error.

use std::error::Error;
use std::fmt;
use std::io;

use reqwest::Url;

use crate::guard::AddressRefused;

/// What can go wrong on the way to a server and back. Reads on after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The TLS configuration is unusable.
    #[error("set up tls")]
    TlsSetup(#[source] rustls::Error),
    /// The client could not be built.
    #[error("set up the http client")]
    ClientSetup(#[source] Cause),
    /// The proxy's URL is none. It is not shown, it may carry credentials.
    #[error("use the proxy: its url is not an http or https url with a host")]
    ProxyUrl,
    /// A proxy chooses the address itself, so the guard could not hold.
    #[error("set up the http client: the address guard cannot hold behind a proxy")]
    GuardedProxy,
    /// A credential has a character that no header can carry.
    #[error("use the credential: it has a character that an http header cannot carry")]
    Credential,
    /// Neither `http` nor `https`, or no host.
    #[error("open a {scheme} url: only http and https with a host can be")]
    Scheme {
        /// The scheme that was asked for.
        scheme: String,
    },
    /// The request is not one that can be sent.
    #[error("build the request to {origin}")]
    Request {
        /// Where it was to go.
        origin: Origin,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// The address guard did not let it happen.
    #[error("fetch from {}", .0.host)]
    Refused(#[source] AddressRefused),
    /// The name has no address.
    #[error("look up the host of {origin}")]
    Lookup {
        /// Where the request was to go.
        origin: Origin,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// Nobody answered there, or not in time.
    #[error("connect to {origin}")]
    Connect {
        /// Where the request was to go.
        origin: Origin,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// Somebody answered, and no secure connection came of it.
    #[error("make a secure connection to {origin}")]
    Tls {
        /// Where the request was to go.
        origin: Origin,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// A deadline that the caller set on the request passed.
    #[error("get an answer from {origin} in time")]
    Timeout {
        /// Where the request went.
        origin: Origin,
    },
    /// The connection broke after it was made, before the reply began.
    #[error("get an answer from {origin}")]
    Exchange {
        /// Where the request went.
        origin: Origin,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// It leads on from one place to the next for too long.
    #[error("fetch from {origin}: more than {limit} redirects")]
    Redirects {
        /// Where it ended.
        origin: Origin,
        /// How many are followed.
        limit: usize,
    },
    /// It leads to what is no URL.
    #[error("follow the redirect of {origin}: it leads to no url")]
    Location {
        /// Who redirected.
        origin: Origin,
    },
    /// The reply is packed in a way that was not asked for.
    #[error("read the answer of {origin}: it is encoded as {encoding:?}, which was not asked for")]
    Encoding {
        /// Where the request went.
        origin: Origin,
        /// What it says it is.
        encoding: String,
    },
    /// The reply is not what its encoding says.
    #[error("read the answer of {origin}: it does not unpack")]
    Unpack {
        /// Where the request went.
        origin: Origin,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The reply broke off or could not be read.
    #[error("read the answer of {origin}")]
    Body {
        /// Where the request went.
        origin: Origin,
        /// Why.
        #[source]
        cause: Cause,
    },
}

impl From<reqwest::Error> for NetError {
    fn from(error: reqwest::Error) -> Self {
        let origin = error.url().map_or_else(Origin::unknown, Origin::of);
        let error = error.without_url();
        if let Some(refused) = find::<AddressRefused>(&error) {
            return Self::Refused(refused.clone());
        }
        let cause = Cause::of(&error);
        if error.is_builder() {
            Self::Request { origin, cause }
        } else if error.is_dns() {
            Self::Lookup { origin, cause }
        } else if find::<rustls::Error>(&error).is_some() {
            Self::Tls { origin, cause }
        } else if error.is_connect() {
            Self::Connect { origin, cause }
        } else if error.is_timeout() {
            Self::Timeout { origin }
        } else if error.is_body() || error.is_decode() {
            Self::Body { origin, cause }
        } else {
            Self::Exchange { origin, cause }
        }
    }
}

/// Scheme, host and port: all of a URL that may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin(String);

impl Origin {
    /// The origin of a URL.
    ///
    /// ```
    /// use outfitter_net::{Origin, reqwest::Url};
    ///
    /// let url = Url::parse("https://me:secret@example.com:8443/bot-key/x?key=secret#f").unwrap();
    /// assert_eq!(Origin::of(&url).to_string(), "https://example.com:8443");
    /// ```
    #[must_use]
    pub fn of(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        Self(match url.port() {
            Some(port) => format!("{}://{host}:{port}", url.scheme()),
            None => format!("{}://{host}", url.scheme()),
        })
    }

    fn unknown() -> Self {
        Self("the server".to_owned())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why, in words: the messages of the libraries below, without the layers that say nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Cause(String);

impl Cause {
    pub(crate) fn of(error: &reqwest::Error) -> Self {
        let mut words: Vec<String> = Vec::new();
        for layer in layers(error).skip(1) {
            let text = layer.to_string();
            let says_nothing = PHASES.iter().any(|phase| text.starts_with(phase));
            let said = words.last().is_some_and(|last| last.contains(&text));
            if !says_nothing && !said {
                words.push(text);
            }
        }
        if words.is_empty() {
            words.push(error.to_string());
        }
        Self(words.join(": "))
    }
}

/// How the layers below name the phase, which our variant already says.
const PHASES: [&str; 4] = [
    "client error (",
    "dns error",
    "error resolving DNS",
    "request or response body error",
];

fn layers<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (**error).source())
}

/// Looks for an error of type `E` in the chain, also inside I/O errors, whose `source` skips the
/// error they wrap.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    layers(error).find_map(|layer| {
        std::iter::successors(Some(layer), |layer| wrapped(*layer))
            .find_map(|layer| layer.downcast_ref())
    })
}

fn wrapped<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
    Some(inner)
}
