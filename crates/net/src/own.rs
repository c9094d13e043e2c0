//! Where this process listens itself.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, PoisonError, RwLock};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Host;

use crate::address::AddressClass;
use crate::guard::{AddressGuard, AddressRefused};

/// The addresses that this process listens on. Clones share them: who listens adds, who connects
/// asks.
#[derive(Debug, Clone, Default)]
pub struct OwnAddresses(Arc<RwLock<Vec<SocketAddr>>>);

impl OwnAddresses {
    /// Listens on `address` from now on.
    pub fn add(&self, address: SocketAddr) {
        let mut own = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !own.contains(&address) {
            own.push(address);
        }
    }

    /// Whether a connection to `address` would reach this process, also by another address of this
    /// machine where it listens on all of them.
    #[must_use]
    pub fn reaches(&self, address: SocketAddr) -> bool {
        self.on_port(address.port())
            .iter()
            .any(|own| leads_to(address.ip(), own.ip()))
    }

    fn on_port(&self, port: u16) -> Vec<SocketAddr> {
        let own = self.0.read().unwrap_or_else(PoisonError::into_inner);
        own.iter()
            .copied()
            .filter(|own| own.port() == port)
            .collect()
    }

    /// Whether a URL has a port of ours: then its host has to be looked at.
    pub(crate) fn has_port_of(&self, url: &Url) -> bool {
        let port = url.port_or_known_default();
        port.is_some_and(|port| !self.on_port(port).is_empty())
    }

    /// Refuses a URL whose host is itself an address of ours.
    pub(crate) fn check_literal(&self, url: &Url) -> Result<(), AddressRefused> {
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Ok(());
        };
        let address = match host {
            Host::Ipv4(address) => IpAddr::V4(address),
            Host::Ipv6(address) => IpAddr::V6(address),
            Host::Domain(_) => return Ok(()),
        };
        if self.reaches(SocketAddr::new(address, port)) {
            return Err(refused(url.host_str().unwrap_or_default(), address));
        }
        Ok(())
    }
}

/// Whether a connection to `to` arrives at a listener on `own`.
fn leads_to(to: IpAddr, own: IpAddr) -> bool {
    let (to, own) = (to.to_canonical(), own.to_canonical());
    if to == own || (to.is_unspecified() && own.is_loopback()) {
        return true;
    }
    // Only an address of this machine can be bound.
    own.is_unspecified() && (to.is_unspecified() || UdpSocket::bind((to, 0)).is_ok())
}

fn refused(host: &str, address: IpAddr) -> AddressRefused {
    AddressRefused {
        host: host.to_owned(),
        address,
        class: AddressClass::Own,
        guard: AddressGuard::Off,
    }
}

/// Refuses names that lead to an address of ours, on whatever port: it is asked only where the port
/// is ours too.
pub(crate) struct NotOwn {
    pub(crate) inner: Arc<dyn Resolve>,
    pub(crate) own: OwnAddresses,
}

impl Resolve for NotOwn {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let answer = self.inner.resolve(name);
        let own = self.own.clone();
        Box::pin(async move {
            let addresses: Vec<_> = answer.await?.collect();
            let listening = own.0.read().unwrap_or_else(PoisonError::into_inner).clone();
            for address in &addresses {
                if listening.iter().any(|own| leads_to(address.ip(), own.ip())) {
                    return Err(refused(&host, address.ip()).into());
                }
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
