//! The table of addresses that are not of the public network: one row per range, with its source.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Refused;
use super::embedded::embedded;
use crate::net::Rule;

/// A row of the table: a range of addresses, and whether it is reached from everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The rule by which its addresses are refused.
    pub rule: Rule,
    base: IpAddr,
    bits: u32,
    /// What becomes of its addresses.
    pub kind: RangeKind,
    /// What it is for, and who says so.
    pub about: &'static str,
}

/// What becomes of the addresses of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeKind {
    /// They are refused.
    Special,
    /// They pass, although a wider range may be refused. An address inside is judged as well.
    Global,
}

impl fmt::Display for Range {
    /// As in `10.0.0.0/8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}

impl Range {
    const fn global(self) -> Self {
        Self { kind: RangeKind::Global, ..self }
    }

    fn holds(&self, address: IpAddr) -> bool {
        agree(self.base, address, self.bits)
    }

    /// Do the two ranges share an address? Of two that do, one lies in the other.
    pub(super) fn overlaps(&self, base: IpAddr, bits: u32) -> bool {
        agree(self.base, base, self.bits.min(bits))
    }

    /// Does it hold every address of its kind that no other row holds?
    pub(super) fn is_the_rest(&self) -> bool {
        self.bits == 0
    }
}

/// Are the first `bits` of two addresses of one kind the same?
pub(super) fn agree(one: IpAddr, other: IpAddr, bits: u32) -> bool {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            let shift = 32_u32.saturating_sub(bits);
            (one.to_bits() ^ other.to_bits()).checked_shr(shift).unwrap_or_default() == 0
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            let shift = 128_u32.saturating_sub(bits);
            (one.to_bits() ^ other.to_bits()).checked_shr(shift).unwrap_or_default() == 0
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

/// The row of an address, without what may be inside it.
pub(super) fn row(address: IpAddr) -> Option<&'static Range> {
    let table = if address.is_ipv4() { V4 } else { V6 };
    table.iter().find(|it| it.holds(address))
}

const fn v4(rule: Rule, base: [u8; 4], bits: u32, about: &'static str) -> Range {
    let [a, b, c, d] = base;
    let base = IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    Range { rule, base, bits, kind: RangeKind::Special, about }
}

/// The rest of the address is zero.
const fn v6(rule: Rule, base: [u16; 4], bits: u32, about: &'static str) -> Range {
    let [a, b, c, d] = base;
    v6_long(rule, [a, b, c, d, 0, 0, 0, 0], bits, about)
}

const fn v6_long(rule: Rule, base: [u16; 8], bits: u32, about: &'static str) -> Range {
    let [a, b, c, d, e, f, g, h] = base;
    let base = IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h));
    Range { rule, base, bits, kind: RangeKind::Special, about }
}

/// The first row that holds an address is its row, so narrow ones stand before wide ones.
#[rustfmt::skip]
const V4: &[Range] = &[
    v4(Rule::V4Metadata, [169, 254, 169, 254], 32, "where clouds keep credentials"),
    v4(Rule::V4Metadata, [169, 254, 170, 2], 32, "where Amazon's containers get credentials"),
    v4(Rule::V4Metadata, [169, 254, 170, 23], 32, "where Amazon's pods get credentials"),
    v4(Rule::V4Metadata, [169, 254, 42, 42], 32, "where Scaleway keeps credentials"),
    v4(Rule::V4Metadata, [168, 63, 129, 16], 32, "Azure's wire server"),
    v4(Rule::V4Metadata, [192, 0, 0, 192], 32, "where Oracle's cloud keeps credentials"),
    v4(Rule::V4Metadata, [100, 100, 100, 200], 32, "where Alibaba's cloud keeps credentials"),
    v4(Rule::V4ThisNetwork, [0, 0, 0, 0], 8, "this network, RFC 791"),
    v4(Rule::V4Private, [10, 0, 0, 0], 8, "private use, RFC 1918"),
    v4(Rule::V4Shared, [100, 64, 0, 0], 10, "shared address space of carriers, RFC 6598"),
    v4(Rule::V4Loopback, [127, 0, 0, 0], 8, "this machine, RFC 1122"),
    v4(Rule::V4LinkLocal, [169, 254, 0, 0], 16, "link local, RFC 3927"),
    v4(Rule::V4Private, [172, 16, 0, 0], 12, "private use, RFC 1918"),
    v4(Rule::V4Continuity, [192, 0, 0, 0], 29, "service continuity, RFC 7335"),
    v4(Rule::V4Dummy, [192, 0, 0, 8], 32, "dummy address, RFC 7600"),
    v4(Rule::V4Anycast, [192, 0, 0, 9], 32, "port control anycast, RFC 7723").global(),
    v4(Rule::V4Anycast, [192, 0, 0, 10], 32, "relay anycast, RFC 8155").global(),
    v4(Rule::V4Nat64Discovery, [192, 0, 0, 170], 31, "discovery of NAT64, RFC 7050"),
    v4(Rule::V4Protocol, [192, 0, 0, 0], 24, "protocol assignments, RFC 6890"),
    v4(Rule::V4Documentation, [192, 0, 2, 0], 24, "documentation, RFC 5737"),
    v4(Rule::V4As112, [192, 31, 196, 0], 24, "AS112, RFC 7535").global(),
    v4(Rule::V4Amt, [192, 52, 193, 0], 24, "AMT, RFC 7450").global(),
    v4(Rule::V46to4Relay, [192, 88, 99, 0], 24, "6to4 relays, RFC 7526"),
    v4(Rule::V4Private, [192, 168, 0, 0], 16, "private use, RFC 1918"),
    v4(Rule::V4As112, [192, 175, 48, 0], 24, "AS112, RFC 7534").global(),
    v4(Rule::V4Benchmark, [198, 18, 0, 0], 15, "benchmarks, RFC 2544"),
    v4(Rule::V4Documentation, [198, 51, 100, 0], 24, "documentation, RFC 5737"),
    v4(Rule::V4Documentation, [203, 0, 113, 0], 24, "documentation, RFC 5737"),
    v4(Rule::V4Documentation, [233, 252, 0, 0], 24, "documentation of multicast, RFC 6676"),
    v4(Rule::V4Multicast, [224, 0, 0, 0], 4, "multicast, RFC 5771"),
    v4(Rule::V4Broadcast, [255, 255, 255, 255], 32, "broadcast, RFC 919"),
    v4(Rule::V4Reserved, [240, 0, 0, 0], 4, "reserved, RFC 1112"),
    v4(Rule::V4Global, [0, 0, 0, 0], 0, "everything else, RFC 791").global(),
];

#[rustfmt::skip]
const V6: &[Range] = &[
    v6(Rule::V6Unspecified, [0, 0, 0, 0], 128, "no address, RFC 4291"),
    v6_long(Rule::V6Loopback, [0, 0, 0, 0, 0, 0, 0, 1], 128, "this machine, RFC 4291"),
    v6_long(Rule::V6Mapped, [0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "mapped IPv4, RFC 4291").global(),
    v6(Rule::V6Compatible, [0, 0, 0, 0], 96, "compatible IPv4, RFC 4291"),
    v6_long(Rule::V6Translated, [0, 0, 0, 0, 0xffff, 0, 0, 0], 96, "translated IPv4, RFC 2765"),
    v6(Rule::V6Nat64, [0x64, 0xff9b, 0, 0], 96, "NAT64, RFC 6052").global(),
    v6(Rule::V6Nat64Local, [0x64, 0xff9b, 1, 0], 48, "local NAT64, RFC 8215"),
    v6(Rule::V6Discard, [0x100, 0, 0, 0], 64, "discard, RFC 6666"),
    v6(Rule::V6Dummy, [0x100, 0, 0, 1], 64, "dummy prefix, RFC 9780"),
    v6(Rule::V6Teredo, [0x2001, 0, 0, 0], 32, "Teredo, RFC 4380"),
    v6_long(Rule::V6Anycast, [0x2001, 1, 0, 0, 0, 0, 0, 1], 128, "port control anycast, RFC 7723").global(),
    v6_long(Rule::V6Anycast, [0x2001, 1, 0, 0, 0, 0, 0, 2], 128, "relay anycast, RFC 8155").global(),
    v6_long(Rule::V6Anycast, [0x2001, 1, 0, 0, 0, 0, 0, 3], 128, "registration anycast, RFC 9665").global(),
    v6(Rule::V6Benchmark, [0x2001, 2, 0, 0], 48, "benchmarks, RFC 5180"),
    v6(Rule::V6Amt, [0x2001, 3, 0, 0], 32, "AMT, RFC 7450").global(),
    v6(Rule::V6As112, [0x2001, 4, 0x112, 0], 48, "AS112, RFC 7535").global(),
    v6(Rule::V6Orchid, [0x2001, 0x10, 0, 0], 28, "hash identities, RFC 4843"),
    v6(Rule::V6Orchid, [0x2001, 0x20, 0, 0], 28, "hash identities, RFC 7343"),
    v6(Rule::V6Drone, [0x2001, 0x30, 0, 0], 28, "remote ids, RFC 9374").global(),
    v6(Rule::V6Protocol, [0x2001, 0, 0, 0], 23, "protocol assignments, RFC 2928"),
    v6(Rule::V6Documentation, [0x2001, 0xdb8, 0, 0], 32, "documentation, RFC 3849"),
    v6(Rule::V66to4, [0x2002, 0, 0, 0], 16, "6to4, RFC 3056"),
    v6(Rule::V6As112, [0x2620, 0x4f, 0x8000, 0], 48, "AS112, RFC 7534").global(),
    v6(Rule::V6Documentation, [0x3fff, 0, 0, 0], 20, "documentation, RFC 9637"),
    v6(Rule::V6Segments, [0x5f00, 0, 0, 0], 16, "segment routing, RFC 9602"),
    v6(Rule::V6Metadata, [0xfd00, 0xec2, 0, 0], 32, "where Amazon's cloud keeps credentials"),
    v6(Rule::V6Metadata, [0xfd20, 0xce, 0, 0], 32, "where Google's cloud keeps credentials"),
    v6(Rule::V6Metadata, [0xfd00, 0x42, 0, 0], 32, "where Scaleway keeps credentials"),
    v6(Rule::V6UniqueLocal, [0xfc00, 0, 0, 0], 7, "private use, RFC 4193"),
    v6(Rule::V6LinkLocal, [0xfe80, 0, 0, 0], 10, "link local, RFC 4291"),
    v6(Rule::V6SiteLocal, [0xfec0, 0, 0, 0], 10, "site local, RFC 3879"),
    v6(Rule::V6Multicast, [0xff00, 0, 0, 0], 8, "multicast, RFC 4291"),
    v6(Rule::V6Global, [0x2000, 0, 0, 0], 3, "global unicast, RFC 4291").global(),
    v6(Rule::V6Unassigned, [0, 0, 0, 0], 0, "not assigned, RFC 4291"),
];

/// The table, IPv4 before IPv6; the first row that holds an address is its row.
pub fn ranges() -> impl Iterator<Item = &'static Range> {
    V4.iter().chain(V6)
}

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
        return Err(Refused::new(Rule::NoAddress, "the name has no address"));
    }
    addresses.iter().try_for_each(|it| vet(*it))
}

/// Looks `address` up, which stands for `written`.
fn judge(address: IpAddr, written: IpAddr) -> Result<(), Refused> {
    let (rule, about) = match row(address) {
        Some(Range { kind: RangeKind::Global, .. }) => return Ok(()),
        Some(row) => (row.rule, row.about),
        None => (Rule::V6Unassigned, "in no row of the table"),
    };
    let inside = if address == written { String::new() } else { format!(", that is {address},") };
    Err(Refused::new(rule, format!("`{written}`{inside} is not a public address: {about}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_hidden_by_one_above_it() {
        for table in [V4, V6] {
            for (at, row) in table.iter().enumerate() {
                let first = table.iter().position(|it| it.holds(row.base)).unwrap();
                let same = table[first].bits > row.bits || first == at;
                assert!(same, "{row} stands behind {}", table[first]);
            }
            assert_eq!(table.last().unwrap().bits, 0, "every address has a row");
        }
    }

    #[test]
    fn every_row_has_a_source() {
        for row in ranges() {
            assert!(
                row.about.contains("RFC ") || row.rule.as_str().ends_with("-metadata"),
                "{row}"
            );
        }
    }
}
