//! IPv4 addresses that travel inside IPv6 ones.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The IPv4 address inside: mapped, compatible, translated, NAT64 in all its splits, 6to4, Teredo, ISATAP.
pub(super) fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            Some(join(high, low))
        }
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(high, low)),
        // RFC 6052 puts the address behind the prefix and leaves the ninth byte out.
        [0x64, 0xff9b, 1, high, low, _, _, _] if low & 0xff00 == 0 => {
            let [_, middle] = low.to_be_bytes();
            let [first, second] = high.to_be_bytes();
            let last = address.octets().get(10).copied().unwrap_or_default();
            Some(Ipv4Addr::new(first, second, middle, last))
        }
        [0x64, 0xff9b, 1, _, _, _, high, low] => Some(join(high, low)),
        [0x2002, high, low, ..] => Some(join(high, low)),
        // Teredo hides the client's address by turning its bits round.
        [0x2001, 0, _, _, _, _, high, low] => Some(join(!high, !low)),
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(join(high, low)),
        _ => None,
    }
}
