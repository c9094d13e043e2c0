//! The address guard: what a model asks to fetch may only reach public addresses.
//!
//! The check is on the address that is connected to, not on a look-up made before it, so a name
//! that resolves differently the second time gains nothing.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Host;

use crate::address::{AddressClass, classify};

/// Which addresses a client connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressGuard {
    /// Any: for URLs that the operator configured.
    Off,
    /// Public ones only: for URLs that a model chose.
    PublicOnly,
}

/// A connection that the guard did not let happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{address} is {class}{}", match class {
    AddressClass::Own => "",
    _ => ", and only public addresses may be fetched",
})]
pub struct AddressRefused {
    /// The host that was asked for.
    pub host: String,
    /// What it is or resolves to.
    pub address: IpAddr,
    /// Why it is refused.
    pub class: AddressClass,
}

/// Refuses a URL whose host is itself a refused address: those never reach a resolver.
pub(crate) fn check_literal(url: &Url) -> Result<(), AddressRefused> {
    let address = match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address),
        Some(Host::Domain(_)) | None => return Ok(()),
    };
    check(url.host_str().unwrap_or_default(), address)
}

fn check(host: &str, address: IpAddr) -> Result<(), AddressRefused> {
    match classify(address) {
        AddressClass::Public => Ok(()),
        class => Err(AddressRefused {
            host: host.to_owned(),
            address,
            class,
        }),
    }
}

/// Passes on the addresses of a name when all of them are public. One that is not spoils the rest:
/// a name that points into a private network and out of it is a trick or a mistake.
pub(crate) struct PublicOnly {
    inner: Arc<dyn Resolve>,
}

impl PublicOnly {
    pub(crate) fn new(inner: Arc<dyn Resolve>) -> Self {
        Self { inner }
    }
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let answer = self.inner.resolve(name);
        Box::pin(async move {
            let addresses: Vec<_> = answer.await?.collect();
            for address in &addresses {
                check(&host, address.ip())?;
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// The system's resolver.
pub(crate) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            if found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "no address").into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
