//! The one HTTP client of the workspace.
//!
//! Every outgoing connection is made here, so that what holds for one holds for all: rustls with
//! ring, no redirects behind our back, no proxy but one that was named, nothing read from the
//! environment but the platform's root certificates, errors without URLs or credentials, and an
//! address guard for what a model asks to fetch.
//!
//! * [`Client`] and [`ClientOptions`]: the client and its policy.
//! * [`address`]: which addresses are public.
//! * [`AllowedHosts`]: a list of hosts that may be reached.
//! * [`get_following`] and [`read_body`]: redirects by hand, bodies to a bound.
//! * [`OwnAddresses`]: where this process listens itself, which nothing it fetches may reach.
//! * [`NetError`]: what can go wrong, ready to be shown.
//! * [`secret_header`]: a credential as a header that is never printed.

pub mod address;
mod body;
mod client;
mod error;
mod follow;
mod guard;
mod header;
mod hosts;
mod options;
mod own;
mod tls;

pub use body::{ACCEPTED_ENCODINGS, Body, read_body};
pub use client::Client;
pub use error::{Cause, NetError, Origin};
pub use follow::{Followed, MAX_REDIRECTS, get_following};
pub use guard::{AddressGuard, AddressRefused};
pub use header::secret_header;
pub use hosts::{Allowed, AllowedHosts, BadHost, split_host};
pub use options::{
    CONNECT_TIMEOUT, ClientOptions, POOL_IDLE_TIMEOUT, POOL_MAX_IDLE_PER_HOST, Proxy, Resolver,
    Roots,
};
pub use own::OwnAddresses;
pub use reqwest;
pub use rustls::pki_types::CertificateDer;
pub use tls::install_provider;
