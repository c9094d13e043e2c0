//! The client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::Resolve;
use reqwest::{Request, Response, Url, redirect, retry};
use secrecy::ExposeSecret;

use crate::error::{Cause, NetError};
use crate::guard::{AddressGuard, Guarded, Judge, SystemResolver};
use crate::options::{ClientOptions, POOL_IDLE_TIMEOUT, POOL_MAX_IDLE_PER_HOST, Proxy, Resolver};
use crate::own::{NotOwn, OwnAddresses};
use crate::tls;

/// How long a silent connection may be dead before the kernel finds out.
const TCP_KEEPALIVE: Duration = Duration::from_secs(30);

/// An HTTP client with a pool. Cloning shares the pool.
///
/// Follows no redirects, retries nothing, decompresses nothing and keeps no cookies: a reply is
/// what the server sent to this request.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    /// For the ports that this process listens on: it looks at what names lead to.
    careful: reqwest::Client,
    own: OwnAddresses,
    judge: Judge,
}

impl Client {
    /// For URLs the operator configured: connects anywhere.
    ///
    /// # Errors
    /// [`NetError::TlsSetup`], [`NetError::ProxyUrl`] or [`NetError::ClientSetup`].
    pub fn operator(options: ClientOptions) -> Result<Self, NetError> {
        Self::build(options, AddressGuard::Off)
    }

    /// For URLs a model chose: connects to public addresses only.
    ///
    /// # Errors
    /// As [`Client::operator`], and [`NetError::GuardedProxy`] if there is a proxy.
    pub fn public_only(options: ClientOptions) -> Result<Self, NetError> {
        Self::build(options, AddressGuard::PublicOnly)
    }

    /// For URLs a model chose where the operator opened private networks to it: connects anywhere
    /// but to the metadata services of clouds, unless they are named in `options`.
    ///
    /// # Errors
    /// As [`Client::public_only`].
    pub fn without_metadata(options: ClientOptions) -> Result<Self, NetError> {
        Self::build(options, AddressGuard::NoMetadata)
    }

    /// Sends a request and waits for the head of the reply. Any status is a reply. To read the
    /// body, use the response; its errors become ours with `NetError::from`.
    ///
    /// # Errors
    /// Every way there and back in [`NetError`].
    pub async fn execute(&self, request: Request) -> Result<Response, NetError> {
        self.check(request.url())?;
        if self.own.has_port_of(request.url()) {
            self.own
                .check_literal(request.url())
                .map_err(NetError::Refused)?;
            return Ok(self.careful.execute(request).await?);
        }
        Ok(self.http.execute(request).await?)
    }

    /// Which addresses it connects to.
    #[must_use]
    pub fn guard(&self) -> AddressGuard {
        self.judge.guard
    }

    /// The client beneath, for libraries that bring their own requests. A guarded client has none
    /// to give: its guard is partly in [`Client::execute`].
    #[must_use]
    pub fn unguarded(&self) -> Option<&reqwest::Client> {
        match self.judge.guard {
            AddressGuard::Off => Some(&self.http),
            AddressGuard::NoMetadata | AddressGuard::PublicOnly => None,
        }
    }

    fn check(&self, url: &Url) -> Result<(), NetError> {
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(NetError::Scheme {
                scheme: url.scheme().to_owned(),
            });
        }
        self.judge.check_literal(url).map_err(NetError::Refused)
    }

    fn build(options: ClientOptions, guard: AddressGuard) -> Result<Self, NetError> {
        let inner: Arc<dyn Resolve> = match &options.resolver {
            Resolver::System => Arc::new(SystemResolver),
            Resolver::Custom(resolver) => resolver.clone(),
        };
        let judge = Judge {
            guard,
            named: options.metadata.clone(),
        };
        let guarded: Arc<dyn Resolve> = match guard {
            AddressGuard::Off => inner,
            AddressGuard::NoMetadata | AddressGuard::PublicOnly => {
                Arc::new(Guarded::new(inner, judge.clone()))
            }
        };
        let careful = NotOwn {
            inner: guarded.clone(),
            own: options.own.clone(),
        };
        Ok(Self {
            http: beneath(&options, guard, guarded)?,
            careful: beneath(&options, guard, Arc::new(careful))?,
            own: options.own,
            judge,
        })
    }
}

fn beneath(
    options: &ClientOptions,
    guard: AddressGuard,
    resolver: Arc<dyn Resolve>,
) -> Result<reqwest::Client, NetError> {
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls::config(options.roots.clone())?)
        .user_agent(&options.user_agent)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .no_proxy()
        // What is built beside us may have these features, and then they are on by default.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .connect_timeout(options.connect_timeout)
        .tcp_nodelay(true)
        .tcp_keepalive(TCP_KEEPALIVE)
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .pool_max_idle_per_host(POOL_MAX_IDLE_PER_HOST)
        .dns_resolver(resolver);
    if let Proxy::Url(url) = &options.proxy {
        if guard != AddressGuard::Off {
            return Err(NetError::GuardedProxy);
        }
        builder = builder.proxy(proxy(url.expose_secret())?);
    }
    builder
        .build()
        .map_err(|error| NetError::ClientSetup(Cause::of(&error.without_url())))
}

/// The client beneath would print the proxy with its credentials.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("guard", &self.judge.guard)
            .finish_non_exhaustive()
    }
}

fn proxy(url: &str) -> Result<reqwest::Proxy, NetError> {
    let url = Url::parse(url).map_err(|_| NetError::ProxyUrl)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(NetError::ProxyUrl);
    }
    reqwest::Proxy::all(url).map_err(|_| NetError::ProxyUrl)
}
