//! The address that `serve` listens on: one of this machine only, since callers prove nothing.

use std::net::SocketAddr;

/// An address that `serve` may listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServeAddress(pub(crate) SocketAddr);

/// Why `serve` does not listen there. Reads on after the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoServeAddress {
    /// It is none.
    #[error("it is not ADDRESS:PORT")]
    NoAddress,
    /// Others than this machine could call.
    #[error("without authentication only this machine may call")]
    NotLoopback,
}

impl NoServeAddress {
    /// What to do about it.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::NoAddress => "as `127.0.0.1:8470` or `[::1]:8470`",
            Self::NotLoopback => "use 127.0.0.1 or [::1]",
        }
    }
}

impl ServeAddress {
    /// Reads an address and a port.
    pub(crate) fn parse(bind: &str) -> Result<Self, NoServeAddress> {
        let address: SocketAddr = bind.parse().map_err(|_| NoServeAddress::NoAddress)?;
        match address.ip().is_loopback() {
            true => Ok(Self(address)),
            false => Err(NoServeAddress::NotLoopback),
        }
    }
}
