//! Which IP addresses belong to the public internet.
//!
//! Follows the IANA special-purpose address registries (RFC 6890 and its updates): what is not
//! globally reachable is not public, and an address that carries another inside (IPv4-mapped,
//! 6to4, NAT64) is what it carries.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of address it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// Reachable by anyone: the only class a guarded client connects to.
    Public,
    /// `0.0.0.0/8` and `::`, which many systems route to themselves.
    Unspecified,
    /// This machine.
    Loopback,
    /// RFC 1918 networks, unique local (`fc00::/7`) and the old site-local addresses.
    Private,
    /// Carrier-grade NAT, `100.64.0.0/10` (RFC 6598).
    Shared,
    /// `169.254.0.0/16` and `fe80::/10`: cloud metadata services live here.
    LinkLocal,
    /// A metadata service of a cloud on an address that is not link-local.
    Metadata,
    /// For examples in documents.
    Documentation,
    /// For measuring network devices (RFC 2544, RFC 5180).
    Benchmarking,
    /// One to many.
    Multicast,
    /// `255.255.255.255`.
    Broadcast,
    /// Set aside, unassigned or deprecated.
    Reserved,
    /// Where this process listens itself; no address is that by its number.
    Own,
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "a public address",
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::Shared => "a carrier-grade NAT address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud metadata address",
            Self::Documentation => "a documentation address",
            Self::Benchmarking => "a benchmarking address",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "the broadcast address",
            Self::Reserved => "a reserved address",
            Self::Own => "where this server listens itself",
        })
    }
}

/// Whether anyone on the internet could reach this address.
///
/// ```
/// use outfitter_net::address::is_public;
///
/// assert!(is_public("93.184.215.14".parse().unwrap()));
/// assert!(!is_public("169.254.169.254".parse().unwrap()));
/// assert!(!is_public("::ffff:10.0.0.1".parse().unwrap()));
/// ```
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    classify(address) == AddressClass::Public
}

/// What kind of address this is.
#[must_use]
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    match address.octets() {
        [0, ..] => AddressClass::Unspecified,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        // Alibaba's metadata service.
        [100, 100, 100, 200] => AddressClass::Metadata,
        [100, 64..=127, ..] => AddressClass::Shared,
        [169, 254, ..] => AddressClass::LinkLocal,
        // Azure's host agent.
        [168, 63, 129, 16] => AddressClass::Metadata,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressClass::Documentation,
        [198, 18..=19, ..] => AddressClass::Benchmarking,
        // Oracle's of old.
        [192, 0, 0, 192] => AddressClass::Metadata,
        // IETF protocol assignments; deprecated 6to4 relays.
        [192, 0, 0, _] | [192, 88, 99, _] => AddressClass::Reserved,
        [224..=239, ..] => AddressClass::Multicast,
        [255, 255, 255, 255] => AddressClass::Broadcast,
        [240..=255, ..] => AddressClass::Reserved,
        _ => AddressClass::Public,
    }
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        // IPv4-mapped (RFC 4291) and the well-known NAT64 prefix (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            classify_v4(embedded(high, low))
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => classify_v4(embedded(high, low)),
        [0xfe80..=0xfebf, ..] => AddressClass::LinkLocal,
        // Amazon's, Google's and Scaleway's metadata services.
        [0xfd00, 0x0ec2, ..]
        | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254]
        | [0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042] => AddressClass::Metadata,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => AddressClass::Private,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => AddressClass::Documentation,
        [0x2001, 0x0002, 0, ..] => AddressClass::Benchmarking,
        // IETF protocol assignments, Teredo and ORCHID among them.
        [0x2001, 0..=0x01ff, ..] => AddressClass::Reserved,
        // Global unicast is only ever assigned from 2000::/3.
        [0x2000..=0x3fff, ..] => AddressClass::Public,
        _ => AddressClass::Reserved,
    }
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    Ipv4Addr::new(a, b, c, d)
}
