//! One URL: checked, fetched and bounded.

use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use outfitter_core::{Code, ErrorInfo, ToolContext, ToolError, chain};
use outfitter_net::address::AddressClass;
use outfitter_net::reqwest::Url;
use outfitter_net::reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue,
};
use outfitter_net::{
    ACCEPTED_ENCODINGS, AddressRefused, Allowed, AllowedHosts, Body, Client, ClientOptions,
    NetError, OwnAddresses, get_following, read_body,
};

use super::hops::Hops;
use crate::WebOptions;
use crate::args::to_usize;

/// How long and how much.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// For all hops.
    pub(crate) timeout: Duration,
    /// Bytes.
    pub(crate) max: u64,
}

/// Why there is nothing.
enum Failed {
    Net(NetError),
    /// An address that may not be reached, or a redirect that may not be followed.
    Hop(ToolError),
}

impl From<NetError> for Failed {
    fn from(error: NetError) -> Self {
        Self::Net(error)
    }
}

/// What was fetched.
pub(crate) struct Fetched {
    /// Where it was, after all redirects.
    pub(crate) url: Url,
    /// The status of the reply.
    pub(crate) status: u16,
    /// What the reply says it is; empty where it does not.
    pub(crate) content_type: String,
    /// What there is of it.
    pub(crate) body: Body,
}

/// Fetches what a model names. The client is made at the first use.
pub struct Fetcher {
    options: WebOptions,
    own: OwnAddresses,
    client: OnceLock<Client>,
    /// For what a list of hosts opens by its name only, where `client` reaches private addresses.
    public: OnceLock<Client>,
}

impl Fetcher {
    /// As `[web]` says, and never from where the program itself listens.
    #[must_use]
    pub fn new(options: &WebOptions, own: &OwnAddresses) -> Self {
        Self {
            options: options.clone(),
            own: own.clone(),
            client: OnceLock::new(),
            public: OnceLock::new(),
        }
    }

    /// With a client of the program's own, whose guards count instead of `[web]`'s.
    #[must_use]
    pub fn with_client(options: &WebOptions, client: Client) -> Self {
        Self {
            options: options.clone(),
            own: OwnAddresses::default(),
            client: OnceLock::from(client.clone()),
            public: OnceLock::from(client),
        }
    }

    /// `[web] timeout_seconds`.
    pub(crate) fn timeout(&self) -> Duration {
        self.options.timeout
    }

    /// `[tools] max_result_tokens`.
    pub(super) fn max_result_tokens(&self) -> usize {
        self.options.max_result_tokens
    }

    /// The client for what is reached so.
    fn client(&self, allowed: Allowed) -> Result<&Client, NetError> {
        let public = match allowed {
            Allowed::AsItIs => self.options.block_private,
            Allowed::IfPublic => true,
        };
        let place = if public { &self.public } else { &self.client };
        if let Some(client) = place.get() {
            return Ok(client);
        }
        let mut options = ClientOptions {
            own: self.own.clone(),
            metadata: self.options.metadata.clone(),
            ..ClientOptions::default()
        };
        if let Some(agent) = &self.options.user_agent {
            options.user_agent.clone_from(agent);
        }
        let client = if public {
            Client::public_only(options)?
        } else {
            Client::without_metadata(options)?
        };
        Ok(place.get_or_init(|| client))
    }

    /// How a URL may be reached where hosts are listed: `[sandbox] network`.
    fn listed(&self, url: &Url) -> Result<Allowed, ToolError> {
        let Some(hosts) = &self.options.hosts else {
            return Ok(Allowed::AsItIs);
        };
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        hosts.allow(host, port).ok_or_else(|| {
            let message =
                format!("{host}:{port} is not permitted: [sandbox] network does not list it");
            let error = ErrorInfo::new(Code::NotPermitted, message);
            let hint = "the operator can add it there; do not try it by another address";
            error.with_hint(hint).into()
        })
    }

    /// Whether a redirect leads where it may, being reached as the first address is.
    fn listed_onward(&self, first: Allowed, to: &Url) -> Result<(), ToolError> {
        match (first, self.listed(to)?) {
            // The client that is in use reaches private addresses too.
            (Allowed::AsItIs, Allowed::IfPublic) if !self.options.block_private => {
                let message = format!(
                    "it leads on from an address to {to}, which [sandbox] network lists by its name"
                );
                let error = ErrorInfo::new(Code::NotPermitted, message);
                let hint = "fetch that address, if it is wanted";
                Err(error.with_hint(hint).into())
            }
            (Allowed::AsItIs | Allowed::IfPublic, _) => Ok(()),
        }
    }

    fn told(&self, failed: Failed) -> ToolError {
        match failed {
            Failed::Hop(error) => error,
            Failed::Net(NetError::Refused(refused)) => {
                let hint = self.what_would_open(&refused);
                let error = told(&NetError::Refused(refused)).into_info();
                match hint {
                    Some(hint) => error.with_hint(hint).into(),
                    None => error.into(),
                }
            }
            Failed::Net(error) => told(&error),
        }
    }

    /// What an operator has to write so that an address is fetched that the guard refused; nothing
    /// where nothing would do.
    fn what_would_open(&self, refused: &AddressRefused) -> Option<String> {
        let address = refused.address;
        let metadata = match refused.class {
            AddressClass::Own | AddressClass::Public => return None,
            AddressClass::Metadata | AddressClass::LinkLocal => !self
                .options
                .metadata
                .iter()
                .any(|named| named.to_canonical() == address.to_canonical()),
            _ => false,
        };
        let mut write = Vec::new();
        if self.options.block_private {
            write.push("`block_private = false` under [web]".to_owned());
        }
        if metadata {
            write.push(format!("`\"{address}\"` into `metadata` under [web]"));
        }
        let by_name = refused
            .host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_err();
        let listed = |hosts: &AllowedHosts| {
            let ports = [80, 443].map(|port| SocketAddr::new(address, port));
            ports.into_iter().any(|address| hosts.name_address(address))
        };
        let needs_listing = self
            .options
            .hosts
            .as_deref()
            .is_some_and(|hosts| !listed(hosts));
        if needs_listing {
            write.push(format!("`\"{address}\"` into `network` under [sandbox]"));
        }
        let write = write.join(" and ");
        // A list opens a name as far as it is public: else whoever has the name would choose what of
        // a private network is open.
        let listed_by_name = by_name && self.options.hosts.is_some();
        match (listed_by_name, write.is_empty()) {
            (true, true) => Some(format!(
                "[sandbox] network opens a private address by itself only, not by a name that leads \
                 to it; fetch it by {address}"
            )),
            (true, false) => Some(format!(
                "[sandbox] network opens a private address by itself only, not by a name that leads \
                 to it; the operator can write {write}, and then it is fetched by {address}"
            )),
            (false, false) => Some(format!("the operator can write {write}")),
            (false, true) => None,
        }
    }

    /// Fetches one, all hops within `timeout`, at most `max` bytes and never more than
    /// `[web] max_bytes`. Each redirect is judged as what `hops` says that a call of it would be.
    pub(crate) async fn fetch(
        &self,
        cx: &ToolContext,
        url: &str,
        bounds: Bounds,
        hops: &Hops<'_>,
    ) -> Result<Fetched, ToolError> {
        let url = parse(url)?;
        let Bounds { timeout, max } = bounds;
        let fetched = tokio::time::timeout(timeout, self.all_of(url, max, hops));
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                Err(ToolError::new(Code::Cancelled, "the call was stopped"))
            }
            fetched = fetched => match fetched {
                Ok(fetched) => fetched.map_err(|failed| self.told(failed)),
                Err(_) => Err(ToolError::new(
                    Code::Timeout,
                    format!("it took more than {} s", timeout.as_secs()),
                )),
            },
        }
    }

    async fn all_of(&self, url: Url, max: u64, hops: &Hops<'_>) -> Result<Fetched, Failed> {
        let max = to_usize(max.min(self.options.max_bytes));
        let first = self.listed(&url).map_err(Failed::Hop)?;
        let may = |from: &Url, to: &Url| {
            self.listed_onward(first, to).map_err(Failed::Hop)?;
            hops.judge(from, to).map_err(Failed::Hop)
        };
        let found = get_following(self.client(first)?, url, &headers(), may).await?;
        let content_type = found.response.headers().get(CONTENT_TYPE);
        let content_type = content_type
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .unwrap_or_default();
        Ok(Fetched {
            url: found.url,
            status: found.response.status().as_u16(),
            content_type,
            body: read_body(found.response, max).await?,
        })
    }
}

fn parse(text: &str) -> Result<Url, ToolError> {
    let wrong = |why: String| ToolError::new(Code::InvalidArguments, why);
    let url = Url::parse(text).map_err(|error| wrong(format!("it is no url: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = url.scheme();
        return Err(wrong(format!(
            "only http and https urls are fetched, not {scheme}"
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "a url with credentials in it is not fetched".to_owned(),
        ));
    }
    Ok(url)
}

fn headers() -> HeaderMap {
    let accept = "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.9,*/*;q=0.5";
    HeaderMap::from_iter([
        (ACCEPT, HeaderValue::from_static(accept)),
        (
            ACCEPT_ENCODING,
            HeaderValue::from_static(ACCEPTED_ENCODINGS),
        ),
    ])
}

/// What went wrong on the way, as the error of a call.
pub(crate) fn told(error: &NetError) -> ToolError {
    let code = match error {
        NetError::Refused(_) => Code::NotPermitted,
        NetError::Scheme { .. } | NetError::Request { .. } => Code::InvalidArguments,
        NetError::Timeout { .. } => Code::Timeout,
        NetError::Lookup { .. }
        | NetError::Connect { .. }
        | NetError::Tls { .. }
        | NetError::Exchange { .. }
        | NetError::Body { .. } => Code::Unavailable,
        NetError::Redirects { .. } | NetError::Location { .. } => Code::Failed,
        NetError::Encoding { .. } | NetError::Unpack { .. } => Code::ProtocolError,
        NetError::TlsSetup(_)
        | NetError::ClientSetup(_)
        | NetError::ProxyUrl
        | NetError::GuardedProxy
        | NetError::Credential => Code::Internal,
    };
    ToolError::new(code, format!("failed to {}", chain(error)))
}
