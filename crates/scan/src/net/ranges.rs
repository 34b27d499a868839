//! The table of addresses that are not of the public network: one row per range, with its source.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Refused;
use super::embedded::embedded;

/// A range of addresses, and whether it is reached from everywhere.
struct Row<A> {
    rule: &'static str,
    base: A,
    bits: u32,
    /// Is it part of the public network although a wider row is not?
    global: bool,
    about: &'static str,
}

const fn v4(rule: &'static str, base: [u8; 4], bits: u32, about: &'static str) -> Row<Ipv4Addr> {
    let [a, b, c, d] = base;
    Row { rule, base: Ipv4Addr::new(a, b, c, d), bits, global: false, about }
}

const fn v6(rule: &'static str, base: [u16; 8], bits: u32, about: &'static str) -> Row<Ipv6Addr> {
    let [a, b, c, d, e, f, g, h] = base;
    Row { rule, base: Ipv6Addr::new(a, b, c, d, e, f, g, h), bits, global: false, about }
}

const fn global<A: Copy>(row: Row<A>) -> Row<A> {
    Row { rule: row.rule, base: row.base, bits: row.bits, global: true, about: row.about }
}

/// The first row that holds an address is its row, so narrow ones stand before wide ones.
#[rustfmt::skip]
const V4: &[Row<Ipv4Addr>] = &[
    v4("net-v4-metadata", [169, 254, 169, 254], 32, "where clouds keep credentials"),
    v4("net-v4-metadata", [168, 63, 129, 16], 32, "Azure's wire server"),
    v4("net-v4-metadata", [192, 0, 0, 192], 32, "where Oracle's cloud keeps credentials"),
    v4("net-v4-metadata", [100, 100, 100, 200], 32, "where Alibaba's cloud keeps credentials"),
    v4("net-v4-this-network", [0, 0, 0, 0], 8, "this network, RFC 791"),
    v4("net-v4-private", [10, 0, 0, 0], 8, "private use, RFC 1918"),
    v4("net-v4-shared", [100, 64, 0, 0], 10, "shared address space of carriers, RFC 6598"),
    v4("net-v4-loopback", [127, 0, 0, 0], 8, "this machine, RFC 1122"),
    v4("net-v4-link-local", [169, 254, 0, 0], 16, "link local, RFC 3927"),
    v4("net-v4-private", [172, 16, 0, 0], 12, "private use, RFC 1918"),
    global(v4("net-v4-anycast", [192, 0, 0, 9], 32, "port control anycast, RFC 7723")),
    global(v4("net-v4-anycast", [192, 0, 0, 10], 32, "relay anycast, RFC 8155")),
    v4("net-v4-protocol", [192, 0, 0, 0], 24, "protocol assignments, RFC 6890"),
    v4("net-v4-documentation", [192, 0, 2, 0], 24, "documentation, RFC 5737"),
    v4("net-v4-6to4-relay", [192, 88, 99, 0], 24, "6to4 relays, RFC 7526"),
    v4("net-v4-private", [192, 168, 0, 0], 16, "private use, RFC 1918"),
    v4("net-v4-benchmark", [198, 18, 0, 0], 15, "benchmarks, RFC 2544"),
    v4("net-v4-documentation", [198, 51, 100, 0], 24, "documentation, RFC 5737"),
    v4("net-v4-documentation", [203, 0, 113, 0], 24, "documentation, RFC 5737"),
    v4("net-v4-multicast", [224, 0, 0, 0], 4, "multicast, RFC 5771"),
    v4("net-v4-broadcast", [255, 255, 255, 255], 32, "broadcast, RFC 919"),
    v4("net-v4-reserved", [240, 0, 0, 0], 4, "reserved, RFC 1112"),
];

#[rustfmt::skip]
const V6: &[Row<Ipv6Addr>] = &[
    v6("net-v6-unspecified", [0, 0, 0, 0, 0, 0, 0, 0], 128, "no address, RFC 4291"),
    v6("net-v6-loopback", [0, 0, 0, 0, 0, 0, 0, 1], 128, "this machine, RFC 4291"),
    global(v6("net-v6-mapped", [0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "mapped IPv4, RFC 4291")),
    v6("net-v6-compatible", [0, 0, 0, 0, 0, 0, 0, 0], 96, "compatible IPv4, RFC 4291"),
    v6("net-v6-translated", [0, 0, 0, 0, 0xffff, 0, 0, 0], 96, "translated IPv4, RFC 2765"),
    global(v6("net-v6-nat64", [0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "NAT64, RFC 6052")),
    v6("net-v6-nat64-local", [0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "local NAT64, RFC 8215"),
    v6("net-v6-discard", [0x100, 0, 0, 0, 0, 0, 0, 0], 64, "discard, RFC 6666"),
    v6("net-v6-dummy", [0x100, 0, 0, 1, 0, 0, 0, 0], 64, "dummy prefix, RFC 9780"),
    v6("net-v6-teredo", [0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "Teredo, RFC 4380"),
    global(v6("net-v6-anycast", [0x2001, 1, 0, 0, 0, 0, 0, 1], 128, "port control anycast, RFC 7723")),
    global(v6("net-v6-anycast", [0x2001, 1, 0, 0, 0, 0, 0, 2], 128, "relay anycast, RFC 8155")),
    v6("net-v6-benchmark", [0x2001, 2, 0, 0, 0, 0, 0, 0], 48, "benchmarks, RFC 5180"),
    global(v6("net-v6-amt", [0x2001, 3, 0, 0, 0, 0, 0, 0], 32, "AMT, RFC 7450")),
    global(v6("net-v6-as112", [0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48, "AS112, RFC 7535")),
    v6("net-v6-orchid", [0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28, "hash identities, RFC 4843"),
    v6("net-v6-orchid", [0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28, "hash identities, RFC 7343"),
    global(v6("net-v6-drone", [0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28, "remote ids, RFC 9374")),
    v6("net-v6-protocol", [0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "protocol assignments, RFC 2928"),
    v6("net-v6-documentation", [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation, RFC 3849"),
    v6("net-v6-6to4", [0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4, RFC 3056"),
    v6("net-v6-documentation", [0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation, RFC 9637"),
    v6("net-v6-segments", [0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, "segment routing, RFC 9602"),
    v6("net-v6-metadata", [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32, "where Amazon's cloud keeps credentials"),
    v6("net-v6-metadata", [0xfd20, 0xce, 0, 0, 0, 0, 0, 0], 32, "where Google's cloud keeps credentials"),
    v6("net-v6-unique-local", [0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "private use, RFC 4193"),
    v6("net-v6-link-local", [0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "link local, RFC 4291"),
    v6("net-v6-site-local", [0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "site local, RFC 3879"),
    v6("net-v6-multicast", [0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast, RFC 4291"),
    global(v6("net-v6-global", [0x2000, 0, 0, 0, 0, 0, 0, 0], 3, "global unicast, RFC 4291")),
    v6("net-v6-unassigned", [0, 0, 0, 0, 0, 0, 0, 0], 0, "not assigned, RFC 4291"),
];

/// Is it an address of the public network, and so is every address inside it?
///
/// # Errors
/// The row that holds it, if it is not.
pub fn vet(address: IpAddr) -> Result<(), Refused> {
    if let IpAddr::V6(outer) = address
        && let Some(inner) = embedded(outer)
    {
        judge(IpAddr::V4(inner), address)?;
    }
    judge(address, address)
}

/// Are there any, and are all of them of the public network?
///
/// # Errors
/// Of the first that is not: a name that leads inside and outside leads inside.
pub fn vet_all(addresses: &[IpAddr]) -> Result<(), Refused> {
    if addresses.is_empty() {
        return Err(Refused::new("net-no-address", "the name has no address"));
    }
    addresses.iter().try_for_each(|it| vet(*it))
}

/// Looks `address` up, which stands for `written`.
fn judge(address: IpAddr, written: IpAddr) -> Result<(), Refused> {
    let (rule, about) = match address {
        IpAddr::V4(address) => {
            let bits = address.to_bits();
            let row =
                V4.iter().find(|it| shifted(bits, it.bits) == shifted(it.base.to_bits(), it.bits));
            match row {
                Some(row) if !row.global => (row.rule, row.about),
                Some(_) | None => return Ok(()),
            }
        }
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            let within = |row: &&Row<Ipv6Addr>| {
                let shift = 128_u32.saturating_sub(row.bits);
                bits.checked_shr(shift) == row.base.to_bits().checked_shr(shift)
            };
            match V6.iter().find(within) {
                Some(row) if row.global => return Ok(()),
                Some(row) => (row.rule, row.about),
                None => ("net-v6-unassigned", "not assigned"),
            }
        }
    };
    let inside = if address == written { String::new() } else { format!(", that is {address}") };
    Err(Refused::new(rule, format!("`{written}`{inside} is not a public address ({about})")))
}

/// The first `bits` of an IPv4 address.
fn shifted(address: u32, bits: u32) -> Option<u32> {
    address.checked_shr(32_u32.saturating_sub(bits))
}
