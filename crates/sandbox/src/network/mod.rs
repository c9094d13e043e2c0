//! The network by host: commands have a network of their own, whose one way out is a proxy of ours.
//!
//! - `request`: what a command asks the proxy for
//! - `proxy`: the way out of one command

pub(crate) mod proxy;
mod request;

use std::ffi::OsString;
use std::sync::Arc;

pub use outfitter_net::{AllowedHosts, BadHost};
use outfitter_process::OUTLET;

use crate::environment::set;

/// What commands reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Nothing.
    Nothing,
    /// Everything.
    Everything,
    /// These hosts, by a proxy that programs find in their environment.
    Hosts(Arc<AllowedHosts>),
}

impl Reach {
    pub(crate) fn network(&self) -> outfitter_process::Network {
        match self {
            Self::Nothing => outfitter_process::Network::Off,
            Self::Everything => outfitter_process::Network::On,
            Self::Hosts(_) => outfitter_process::Network::Outlet,
        }
    }

    pub(crate) fn hosts(&self) -> Option<Arc<AllowedHosts>> {
        match self {
            Self::Nothing | Self::Everything => None,
            Self::Hosts(hosts) => Some(hosts.clone()),
        }
    }
}

/// Where programs look for a proxy. Names in small letters are the older custom, and some programs
/// know only one of the two.
const VARIABLES: [&str; 6] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
];

/// Node's own client looks for a proxy only when it is told to.
const FOR_NODE: &str = "NODE_USE_ENV_PROXY";

/// Tells programs where the way out is.
pub(crate) fn announce(variables: &mut Vec<(OsString, OsString)>) {
    for name in VARIABLES {
        set(variables, name, format!("http://{OUTLET}").into());
    }
    set(variables, FOR_NODE, "1".into());
}
