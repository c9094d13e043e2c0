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
    /// Any but those where the metadata services of clouds live, which give credentials to whoever
    /// asks: for URLs that a model chose, where the operator opened private networks to it.
    NoMetadata,
    /// Public ones only: for URLs that a model chose.
    PublicOnly,
}

/// A connection that the guard did not let happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{address} is {class}{}", match (class, guard) {
    (AddressClass::Own, _) | (_, AddressGuard::Off) => "",
    (_, AddressGuard::NoMetadata) => ", where metadata services live, and it is not named",
    (_, AddressGuard::PublicOnly) => ", and only public addresses may be fetched",
})]
pub struct AddressRefused {
    /// The host that was asked for.
    pub host: String,
    /// What it is or resolves to.
    pub address: IpAddr,
    /// Why it is refused.
    pub class: AddressClass,
    /// By what it is refused.
    pub guard: AddressGuard,
}

/// Judges addresses: a guard, and what is named as its exceptions.
#[derive(Debug, Clone)]
pub(crate) struct Judge {
    pub(crate) guard: AddressGuard,
    /// The metadata services that are reached all the same.
    pub(crate) named: Vec<IpAddr>,
}

impl Judge {
    /// Refuses a URL whose host is itself a refused address: those never reach a resolver.
    pub(crate) fn check_literal(&self, url: &Url) -> Result<(), AddressRefused> {
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            Some(Host::Domain(_)) | None => return Ok(()),
        };
        self.check(url.host_str().unwrap_or_default(), address)
    }

    fn check(&self, host: &str, address: IpAddr) -> Result<(), AddressRefused> {
        let class = classify(address);
        let good = match (self.guard, class) {
            (AddressGuard::Off, _) | (_, AddressClass::Public) => true,
            (AddressGuard::NoMetadata, AddressClass::Metadata | AddressClass::LinkLocal) => {
                let is = |named: &IpAddr| named.to_canonical() == address.to_canonical();
                self.named.iter().any(is)
            }
            (AddressGuard::NoMetadata, _) => !carries_metadata(address),
            (AddressGuard::PublicOnly, _) => false,
        };
        if good {
            return Ok(());
        }
        Err(AddressRefused {
            host: host.to_owned(),
            address,
            class,
            guard: self.guard,
        })
    }
}

/// Whether an address that is not public ends with that of a metadata service, as those of a local
/// translation to version 4 do (RFC 8215).
fn carries_metadata(address: IpAddr) -> bool {
    let IpAddr::V6(address) = address else {
        return false;
    };
    let [.., a, b, c, d] = address.octets();
    let inside = classify(IpAddr::from([a, b, c, d]));
    matches!(inside, AddressClass::Metadata | AddressClass::LinkLocal)
}

/// Passes on the addresses of a name when all of them are good. One that is not spoils the rest: a
/// name that points into a private network and out of it is a trick or a mistake.
pub(crate) struct Guarded {
    inner: Arc<dyn Resolve>,
    judge: Judge,
}

impl Guarded {
    pub(crate) fn new(inner: Arc<dyn Resolve>, judge: Judge) -> Self {
        Self { inner, judge }
    }
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let answer = self.inner.resolve(name);
        let judge = self.judge.clone();
        Box::pin(async move {
            let addresses: Vec<_> = answer.await?.collect();
            for address in &addresses {
                judge.check(&host, address.ip())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// No test connects to one of them, so this is where it shows.
    #[rstest]
    #[case("169.254.169.254", true)]
    #[case("::ffff:169.254.169.254", true)]
    #[case("fd00:ec2::254", true)]
    #[case("169.254.170.2", false)]
    #[case("fd20:ce::254", false)]
    #[case("100.100.100.200", false)]
    #[case("10.0.0.1", true)]
    #[case("127.0.0.1", true)]
    #[case("93.184.215.14", true)]
    fn a_metadata_service_is_reached_where_it_is_named(
        #[case] address: IpAddr,
        #[case] good: bool,
    ) {
        let judge = Judge {
            guard: AddressGuard::NoMetadata,
            named: vec![
                "169.254.169.254".parse().unwrap(),
                "fd00:ec2::254".parse().unwrap(),
            ],
        };
        assert_eq!(judge.check("x", address).is_ok(), good);
        let public = Judge {
            guard: AddressGuard::PublicOnly,
            ..judge
        };
        // What is named opens nothing where only public addresses are reached.
        let is_public = address.to_string() == "93.184.215.14";
        assert_eq!(public.check("x", address).is_ok(), is_public);
    }
}
