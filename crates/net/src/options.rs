//! What a client may be told.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::Resolve;
use rustls::pki_types::CertificateDer;
use secrecy::SecretString;

use crate::OwnAddresses;

/// How long a connection may take to be made, name look-up and TLS included.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an unused connection is kept.
pub const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// How many unused connections are kept to one host.
pub const POOL_MAX_IDLE_PER_HOST: usize = 16;

/// The policy of a client. The default is right for most.
///
/// Deadlines for the phases after the connection (first byte, between bytes, the whole) belong to
/// the caller: a stream of a model and the fetch of a page have nothing in common there.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The `User-Agent` header.
    pub user_agent: String,
    /// Bounds the making of a connection.
    pub connect_timeout: Duration,
    /// The way out.
    pub proxy: Proxy,
    /// Who may vouch for a server.
    pub roots: Roots,
    /// Who resolves names.
    pub resolver: Resolver,
    /// Where this process listens itself: connections to it are refused.
    pub own: OwnAddresses,
    /// The addresses of metadata services that are reached although they are that: by
    /// [`AddressGuard::NoMetadata`](crate::AddressGuard::NoMetadata).
    pub metadata: Vec<IpAddr>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("outfitter/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: CONNECT_TIMEOUT,
            proxy: Proxy::None,
            roots: Roots::Platform,
            resolver: Resolver::System,
            own: OwnAddresses::default(),
            metadata: Vec::new(),
        }
    }
}

/// The way out. The environment is never asked: who reads it passes a value here.
#[derive(Debug, Clone)]
pub enum Proxy {
    /// Straight to the server.
    None,
    /// Everything through this `http://` or `https://` proxy; the URL may carry credentials.
    Url(SecretString),
}

/// The root certificates.
#[derive(Debug, Clone)]
pub enum Roots {
    /// The platform's, loaded at the first TLS handshake of the process. On Linux that is the
    /// system's bundle, or what `SSL_CERT_FILE` and `SSL_CERT_DIR` name. Where there are none,
    /// `https` fails with a message that says so, and `http` works.
    Platform,
    /// These and no others.
    Only(Vec<CertificateDer<'static>>),
}

/// Who turns names into addresses. The address guard stands behind either.
#[derive(Clone)]
pub enum Resolver {
    /// The system.
    System,
    /// Someone else.
    Custom(Arc<dyn Resolve>),
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::Custom(_) => "Custom",
        })
    }
}
