//! IPv4 addresses that travel inside IPv6 ones.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address that is reached in the end: the one inside, if there is one.
pub(super) fn innermost(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(outer) => embedded(outer).map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// The IPv4 address inside: mapped, compatible, translated, NAT64 in all its splits, 6to4, Teredo, ISATAP.
pub(super) fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            Some(join(high, low))
        }
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(high, low)),
        [0x64, 0xff9b, 1, ..] => Some(local_nat64(address.octets())),
        [0x2002, high, low, ..] => Some(join(high, low)),
        // Teredo hides the client's address by turning its bits round.
        [0x2001, 0, _, _, _, _, high, low] => Some(join(!high, !low)),
        // Two bits say whether the interface's id is unique, and whether it is of a group.
        [_, _, _, _, flags, 0x5efe, high, low] if flags & !0x0300 == 0 => Some(join(high, low)),
        _ => None,
    }
}

/// RFC 6052 puts the address behind a prefix of 48, 56, 64 or 96 bits and leaves the ninth byte out. What
/// follows the address is zero, which tells them apart.
fn local_nat64(octets: [u8; 16]) -> Ipv4Addr {
    match octets {
        [.., a, b, 0, c, d, 0, 0, 0, 0, 0] => Ipv4Addr::new(a, b, c, d),
        [_, _, _, _, _, _, _, a, 0, b, c, d, 0, 0, 0, 0] => Ipv4Addr::new(a, b, c, d),
        [_, _, _, _, _, _, _, _, 0, a, b, c, d, 0, 0, 0] => Ipv4Addr::new(a, b, c, d),
        [.., a, b, c, d] => Ipv4Addr::new(a, b, c, d),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedding_is_unwrapped() {
        for (outer, inner) in [
            ("::ffff:127.0.0.1", "127.0.0.1"),
            ("::127.0.0.1", "127.0.0.1"),
            ("::ffff:0:127.0.0.1", "127.0.0.1"),
            ("64:ff9b::7f00:1", "127.0.0.1"),
            ("64:ff9b:1::7f00:1", "127.0.0.1"),
            ("64:ff9b:1:7f00:0:100::", "127.0.0.1"),
            ("64:ff9b:1:aa7f:0:1::", "127.0.0.1"),
            ("64:ff9b:1:aabb:7f:0:100:0", "127.0.0.1"),
            ("2002:7f00:1::", "127.0.0.1"),
            ("2001:0:4136:e378:8000:63bf:80ff:fffe", "127.0.0.1"),
            ("fe80::5efe:127.0.0.1", "127.0.0.1"),
            ("2606:4700::200:5efe:10.0.0.1", "10.0.0.1"),
            ("2606:4700::300:5efe:10.0.0.1", "10.0.0.1"),
        ] {
            let found = embedded(outer.parse().unwrap());
            assert_eq!(found.map(|it| it.to_string()).as_deref(), Some(inner), "{outer}");
        }
        for plain in ["::", "::1", "2606:4700::1", "2606:4700::400:5efe:10.0.0.1"] {
            assert_eq!(embedded(plain.parse().unwrap()), None, "{plain}");
        }
    }
}
