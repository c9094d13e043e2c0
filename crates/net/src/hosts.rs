//! A list of hosts that may be reached, as an operator writes it.

use std::net::{IpAddr, SocketAddr};

use crate::OwnAddresses;

/// A list of hosts.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts {
    rules: Vec<Rule>,
    /// Where this process listens, which no list opens.
    own: OwnAddresses,
}

impl PartialEq for AllowedHosts {
    fn eq(&self, other: &Self) -> bool {
        self.rules == other.rules
    }
}

impl Eq for AllowedHosts {}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    host: Host,
    /// Any where it is none.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// This name, in small letters.
    Name(String),
    /// Every name below this one, but not itself.
    Below(String),
    /// This address.
    Address(IpAddr),
    /// Every address that begins with so many bits of this one.
    Net(IpAddr, u8),
}

/// A text that names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no host: a name, *.NAME, an address or ADDRESS/BITS, and :PORT where only one is meant"
)]
pub struct BadHost(String);

/// How a host is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// By its name: what it resolves to has to be public, or named by its address as well. Else whoever
    /// has the name would choose what of a private network is open.
    IfPublic,
    /// By its address, or as this machine itself: the operator knows where that is.
    AsItIs,
}

/// This machine by name.
const LOCALHOST: &str = "localhost";

impl AllowedHosts {
    /// The hosts of a configuration.
    ///
    /// # Errors
    /// [`BadHost`] with the first text that names none.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, BadHost> {
        let rules = texts
            .into_iter()
            .map(|text| Rule::parse(text).ok_or_else(|| BadHost(text.to_owned())));
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
            own: OwnAddresses::default(),
        })
    }

    /// The same, and never where this process listens.
    #[must_use]
    pub fn but_not(mut self, own: OwnAddresses) -> Self {
        self.own = own;
        self
    }

    /// Whether a connection would come back to this process.
    #[must_use]
    pub fn is_own(&self, address: SocketAddr) -> bool {
        self.own.reaches(address)
    }

    /// Whether this address is itself among them.
    #[must_use]
    pub fn name_address(&self, address: SocketAddr) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| {
            rule.port.is_none_or(|only| only == address.port()) && rule.host.has(address.ip())
        })
    }

    /// The hosts as a configuration has them.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.rules.iter().map(ToString::to_string)
    }

    /// Whether this port of this host may be reached, and how that is to be understood.
    #[must_use]
    pub fn allow(&self, host: &str, port: u16) -> Option<Allowed> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let address = bare(&host).parse::<IpAddr>().ok();
        self.rules
            .iter()
            .filter(|rule| rule.port.is_none_or(|only| only == port))
            .find_map(|rule| rule.host.allow(&host, address))
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.host, self.port) {
            (Host::Address(IpAddr::V6(address)), Some(_)) => write!(f, "[{address}]")?,
            (Host::Address(address), _) => write!(f, "{address}")?,
            (Host::Net(address, bits), _) => write!(f, "{address}/{bits}")?,
            (Host::Name(name), _) => f.write_str(name)?,
            (Host::Below(name), _) => write!(f, "*.{name}")?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl Rule {
    fn parse(text: &str) -> Option<Self> {
        if let Some((address, rest)) = text.split_once('/') {
            let (bits, port) = match rest.split_once(':') {
                Some((bits, port)) => (bits, Some(port.parse().ok()?)),
                None => (rest, None),
            };
            let host = Host::net(bare(address).parse().ok()?, bits.parse().ok()?)?;
            return Some(Self { host, port });
        }
        let (host, port) = split_host(text)?;
        Some(Self {
            host: Host::parse(host)?,
            port,
        })
    }
}

impl Host {
    fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = bare(text).parse() {
            return Some(Self::Address(address));
        }
        // The root of all names, which may be left out.
        let text = text.strip_suffix('.').unwrap_or(text);
        match text.strip_prefix("*.") {
            Some(name) => is_name(name).then(|| Self::Below(name.to_ascii_lowercase())),
            None => is_name(text).then(|| Self::Name(text.to_ascii_lowercase())),
        }
    }

    /// No bits at all would be every address, which has its own word.
    fn net(address: IpAddr, bits: u8) -> Option<Self> {
        let most = if address.is_ipv4() { 32 } else { 128 };
        (1..=most)
            .contains(&bits)
            .then_some(Self::Net(address, bits))
    }

    /// Whether this address is meant by itself.
    fn has(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        match self {
            Self::Address(known) => known.to_canonical() == address,
            Self::Net(IpAddr::V4(net), bits) => match address {
                IpAddr::V4(address) => {
                    (net.to_bits() ^ address.to_bits()) >> (32 - u32::from(*bits)) == 0
                }
                IpAddr::V6(_) => false,
            },
            Self::Net(IpAddr::V6(net), bits) => match address {
                IpAddr::V6(address) => {
                    (net.to_bits() ^ address.to_bits()) >> (128 - u32::from(*bits)) == 0
                }
                IpAddr::V4(_) => false,
            },
            Self::Name(_) | Self::Below(_) => false,
        }
    }

    fn allow(&self, host: &str, address: Option<IpAddr>) -> Option<Allowed> {
        match (self, address) {
            (Self::Address(_) | Self::Net(..), Some(address)) => {
                self.has(address).then_some(Allowed::AsItIs)
            }
            (Self::Name(known), None) if known == host => Some(if known == LOCALHOST {
                Allowed::AsItIs
            } else {
                Allowed::IfPublic
            }),
            (Self::Below(known), None) => {
                let below = host.strip_suffix(known.as_str())?.strip_suffix('.')?;
                (!below.is_empty()).then_some(Allowed::IfPublic)
            }
            (Self::Address(_) | Self::Net(..), None) | (Self::Name(_) | Self::Below(_), _) => None,
        }
    }
}

/// A host and its port, if there is one. An IPv6 address with a port stands in brackets. None where a
/// bracket or a port is none.
#[must_use]
pub fn split_host(text: &str) -> Option<(&str, Option<u16>)> {
    if text.parse::<IpAddr>().is_ok() {
        return Some((text, None));
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        host.parse::<std::net::Ipv6Addr>().ok()?;
        return match after.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None => after.is_empty().then_some((host, None)),
        };
    }
    match text.rsplit_once(':') {
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((text, None)),
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host)
}

fn is_name(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    // Numbers and dots alone are an address that is written in some old way.
    let all_numbers = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    !all_numbers && text.len() <= 253 && text.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("example.com", "example.com", 443, true)]
    #[case("example.com", "EXAMPLE.com.", 80, true)]
    #[case("example.com", "a.example.com", 443, false)]
    #[case("example.com", "badexample.com", 443, false)]
    #[case("*.example.com", "a.b.example.com", 443, true)]
    #[case("*.example.com", "example.com", 443, false)]
    #[case("*.example.com", "badexample.com", 443, false)]
    #[case("example.com:8443", "example.com", 8443, true)]
    #[case("example.com:8443", "example.com", 443, false)]
    #[case("10.0.0.1", "10.0.0.1", 22, true)]
    #[case("10.0.0.1", "10.0.0.2", 22, false)]
    #[case("[::1]:80", "::1", 80, true)]
    #[case("::1", "[::1]", 81, true)]
    #[case("localhost:8080", "127.0.0.1", 8080, false)]
    #[case("[::1]", "::1", 81, true)]
    #[case("example.com.", "example.com", 443, true)]
    #[case("*.example.com.:443", "a.example.com", 443, true)]
    #[case("10.0.0.0/8", "10.200.3.4", 22, true)]
    #[case("10.0.0.0/8", "11.0.0.1", 22, false)]
    #[case("10.1.2.3/32:22", "10.1.2.3", 22, true)]
    #[case("10.1.2.3/32:22", "10.1.2.3", 23, false)]
    #[case("10.0.0.0/8", "::ffff:10.0.0.1", 22, true)]
    #[case("fd00::/8", "fd12::1", 22, true)]
    #[case("[fd00::]/8:22", "fe00::1", 22, false)]
    #[case("10.0.0.0/8", "example.com", 22, false)]
    fn a_host_is_reached_by_its_own_name(
        #[case] rule: &str,
        #[case] host: &str,
        #[case] port: u16,
        #[case] allowed: bool,
    ) {
        let hosts = AllowedHosts::parse([rule]).unwrap();
        assert_eq!(hosts.allow(host, port).is_some(), allowed);
    }

    #[rstest]
    fn what_names_no_host_is_refused(
        #[values(
            "",
            "*",
            "*.",
            "a b",
            "http://x",
            "x/y",
            "x:port",
            "x:99999",
            "1.2.3",
            "0x7f.1:x",
            "a..b",
            "[::1",
            "user@host",
            "10.0.0.0/0",
            "10.0.0.0/33",
            "fd00::/129",
            "10.0.0.0/",
            "example.com/8",
            "10.0.0.0/8:port",
            "example.com..",
            "2130706433"
        )]
        text: &str,
    ) {
        assert_eq!(AllowedHosts::parse([text]), Err(BadHost(text.to_owned())));
    }

    #[test]
    fn a_name_that_leads_into_a_private_network_needs_the_address_named_too() {
        let hosts = AllowedHosts::parse(["vm", "10.1.2.3:80", "192.168.0.0/16"]).unwrap();
        let named = |text: &str| hosts.name_address(text.parse().unwrap());
        assert!(named("10.1.2.3:80") && named("192.168.7.7:1"));
        assert!(!named("10.1.2.3:81") && !named("10.1.2.4:80"));
        let names: Vec<_> = hosts.names().collect();
        assert_eq!(names, ["vm", "10.1.2.3:80", "192.168.0.0/16"]);
    }

    #[test]
    fn a_name_has_to_lead_to_a_public_place_and_an_address_is_taken_as_it_is() {
        let hosts = AllowedHosts::parse(["example.com", "10.0.0.1", "localhost"]).unwrap();
        assert_eq!(hosts.allow("example.com", 1), Some(Allowed::IfPublic));
        assert_eq!(hosts.allow("10.0.0.1", 1), Some(Allowed::AsItIs));
        assert_eq!(hosts.allow("localhost", 1), Some(Allowed::AsItIs));
    }
}
