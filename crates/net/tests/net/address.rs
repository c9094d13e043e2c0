use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use outfitter_net::address::{AddressClass, classify, is_public};
use proptest::prelude::*;
use rstest::rstest;

#[rstest]
#[case("1.1.1.1", AddressClass::Public)]
#[case("93.184.215.14", AddressClass::Public)]
#[case("223.255.255.255", AddressClass::Public)]
#[case("0.0.0.0", AddressClass::Unspecified)]
#[case("0.1.2.3", AddressClass::Unspecified)]
#[case("127.0.0.1", AddressClass::Loopback)]
#[case("127.255.255.255", AddressClass::Loopback)]
#[case("126.255.255.255", AddressClass::Public)]
#[case("128.0.0.0", AddressClass::Public)]
#[case("10.0.0.0", AddressClass::Private)]
#[case("10.255.255.255", AddressClass::Private)]
#[case("11.0.0.0", AddressClass::Public)]
#[case("172.15.255.255", AddressClass::Public)]
#[case("172.16.0.0", AddressClass::Private)]
#[case("172.31.255.255", AddressClass::Private)]
#[case("172.32.0.0", AddressClass::Public)]
#[case("192.167.255.255", AddressClass::Public)]
#[case("192.168.0.0", AddressClass::Private)]
#[case("192.168.255.255", AddressClass::Private)]
#[case("192.169.0.0", AddressClass::Public)]
#[case("100.63.255.255", AddressClass::Public)]
#[case("100.64.0.0", AddressClass::Shared)]
#[case("100.100.100.200", AddressClass::Metadata)]
#[case("100.127.255.255", AddressClass::Shared)]
#[case("100.128.0.0", AddressClass::Public)]
#[case("169.253.255.255", AddressClass::Public)]
#[case("169.254.0.0", AddressClass::LinkLocal)]
#[case("169.254.169.254", AddressClass::LinkLocal)]
#[case("169.254.170.2", AddressClass::LinkLocal)]
#[case("169.255.0.0", AddressClass::Public)]
#[case("168.63.129.16", AddressClass::Metadata)]
#[case("168.63.129.17", AddressClass::Public)]
#[case("192.0.0.1", AddressClass::Reserved)]
#[case("192.0.0.192", AddressClass::Metadata)]
#[case("192.0.1.0", AddressClass::Public)]
#[case("192.0.2.1", AddressClass::Documentation)]
#[case("198.51.100.1", AddressClass::Documentation)]
#[case("203.0.113.255", AddressClass::Documentation)]
#[case("192.88.99.1", AddressClass::Reserved)]
#[case("198.17.255.255", AddressClass::Public)]
#[case("198.18.0.0", AddressClass::Benchmarking)]
#[case("198.19.255.255", AddressClass::Benchmarking)]
#[case("198.20.0.0", AddressClass::Public)]
#[case("224.0.0.1", AddressClass::Multicast)]
#[case("239.255.255.250", AddressClass::Multicast)]
#[case("240.0.0.1", AddressClass::Reserved)]
#[case("255.255.255.254", AddressClass::Reserved)]
#[case("255.255.255.255", AddressClass::Broadcast)]
#[case("2606:4700:4700::1111", AddressClass::Public)]
#[case("2000::1", AddressClass::Public)]
#[case("3ffe:ffff::1", AddressClass::Public)]
#[case("::", AddressClass::Unspecified)]
#[case("::1", AddressClass::Loopback)]
#[case("::2", AddressClass::Reserved)]
#[case("::127.0.0.1", AddressClass::Reserved)]
#[case("::8.8.8.8", AddressClass::Reserved)]
#[case("::ffff:8.8.8.8", AddressClass::Public)]
#[case("::ffff:127.0.0.1", AddressClass::Loopback)]
#[case("::ffff:169.254.169.254", AddressClass::LinkLocal)]
#[case("::ffff:0:127.0.0.1", AddressClass::Reserved)]
#[case("64:ff9b::8.8.8.8", AddressClass::Public)]
#[case("64:ff9b::192.168.1.1", AddressClass::Private)]
#[case("64:ff9b:1::10.0.0.1", AddressClass::Reserved)]
#[case("100::1", AddressClass::Reserved)]
#[case("2001::1", AddressClass::Reserved)]
#[case("2001:0:a9fe:a9fe::", AddressClass::Reserved)]
#[case("2001:2::1", AddressClass::Benchmarking)]
#[case("2001:20::1", AddressClass::Reserved)]
#[case("2001:1ff::1", AddressClass::Reserved)]
#[case("2001:200::1", AddressClass::Public)]
#[case("2001:db8::1", AddressClass::Documentation)]
#[case("2002:7f00:1::", AddressClass::Loopback)]
#[case("2002:a9fe:a9fe::1", AddressClass::LinkLocal)]
#[case("2002:808:808::1", AddressClass::Public)]
#[case("3fff::1", AddressClass::Documentation)]
#[case("3fff:fff::1", AddressClass::Documentation)]
#[case("3fff:1000::1", AddressClass::Public)]
#[case("4000::1", AddressClass::Reserved)]
#[case("5f00::1", AddressClass::Reserved)]
#[case("fc00::1", AddressClass::Private)]
#[case("fd00:ec2::254", AddressClass::Metadata)]
#[case("fd20:ce::254", AddressClass::Metadata)]
#[case("fd00:42::42", AddressClass::Metadata)]
#[case("fe00::1", AddressClass::Reserved)]
#[case("fe80::1", AddressClass::LinkLocal)]
#[case("febf::1", AddressClass::LinkLocal)]
#[case("fec0::1", AddressClass::Private)]
#[case("ff02::1", AddressClass::Multicast)]
#[case("ff0e::1", AddressClass::Multicast)]
fn every_address_has_its_class(#[case] address: IpAddr, #[case] expected: AddressClass) {
    assert_eq!(classify(address), expected);
    assert_eq!(is_public(address), expected == AddressClass::Public);
}

/// The registry once more, as prefixes: network and its length.
const NOT_PUBLIC: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

fn in_a_special_network(address: Ipv4Addr) -> bool {
    NOT_PUBLIC.iter().any(|&(network, length)| {
        let mask = u32::MAX << (32 - length);
        address.to_bits() & mask == network.to_bits()
    })
}

/// Any address, and addresses in and just around the special networks.
fn v4() -> impl Strategy<Value = Ipv4Addr> {
    let near = (
        prop::sample::select(&NOT_PUBLIC[..]),
        any::<u32>(),
        0..3_u32,
    )
        .prop_map(|((network, length), noise, side)| {
            let last = u32::MAX.checked_shr(length).unwrap_or(0);
            let inside = network.to_bits() | (noise & last);
            let networks_away = side.wrapping_sub(1);
            let moved = inside.wrapping_add(networks_away.wrapping_mul(last.wrapping_add(1)));
            Ipv4Addr::from_bits(moved)
        });
    prop_oneof![any::<u32>().prop_map(Ipv4Addr::from_bits), near]
}

proptest! {
    #[test]
    fn an_address_is_public_exactly_outside_the_special_networks(address in v4()) {
        prop_assert_eq!(is_public(address.into()), !in_a_special_network(address));
    }

    #[test]
    fn an_address_that_carries_another_is_what_it_carries(address in v4(), rest in any::<u64>()) {
        let [a, b, c, d] = address.octets().map(u16::from);
        let (high, low) = (a << 8 | b, c << 8 | d);
        let class = classify(address.into());
        let tail = Ipv6Addr::from_bits(u128::from(rest)).segments();
        let carriers = [
            address.to_ipv6_mapped(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, 0, tail[4], tail[5], tail[6], tail[7]),
        ];
        for carrier in carriers {
            prop_assert_eq!(classify(carrier.into()), class, "{}", carrier);
        }
    }

    #[test]
    fn nothing_outside_global_unicast_is_public_but_what_carries(bits in any::<u128>()) {
        let address = Ipv6Addr::from_bits(bits);
        let global = bits >> 125 == 1;
        let carries = bits >> 32 == 0xffff || bits >> 32 == 0x0064_ff9b_u128 << 64;
        prop_assert!(global || carries || !is_public(address.into()), "{}", address);
    }
}
