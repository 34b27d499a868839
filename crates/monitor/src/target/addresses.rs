//! Addresses that are written as numbers, in every spelling that a resolver takes, and which of them lie
//! inside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address that `host` is. `loosely`: also one that is not written as four numbers with dots, as
/// `127.1`, `0x7f000001` and `2130706433` are read by the system's own resolver.
pub(super) fn parse(host: &str, loosely: bool) -> Option<IpAddr> {
    let host = host.split('%').next().unwrap_or(host);
    if let Ok(address) = host.parse::<IpAddr>() {
        return Some(address);
    }
    loosely.then(|| as_numbers(host)).flatten().map(IpAddr::V4)
}

/// One to four numbers, decimal, octal or hexadecimal; the last fills what is left.
fn as_numbers(host: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    let mut bits = 0_u32;
    for (at, number) in first.iter().enumerate() {
        let byte = u8::try_from(*number).ok()?;
        let shift = 24_u32.checked_sub(u32::try_from(at).ok()?.checked_mul(8)?)?;
        bits |= u32::from(byte).checked_shl(shift)?;
    }
    let room = 32_u32.checked_sub(u32::try_from(first.len()).ok()?.checked_mul(8)?)?;
    let fits = room == 32 || last.checked_shr(room)? == 0;
    (room > 0 && fits).then(|| Ipv4Addr::from(bits | last))
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some("") => Some(0),
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None if text.starts_with('+') => None,
        None => text.parse().ok(),
    }
}

/// Is it of this machine, of an inner network, or of nobody?
pub(super) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => match inner(address) {
            Some(inner) => is_private_v4(inner),
            None => {
                let first = address.segments().first().copied().unwrap_or_default();
                address.is_unspecified()
                    || address.is_loopback()
                    || address.is_multicast()
                    || first & 0xfe00 == 0xfc00
                    || first & 0xffc0 == 0xfe80
            }
        },
    }
}

/// Is it where clouds keep credentials for whoever asks?
pub(super) fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => inner(address).is_some_and(|it| it.is_link_local()),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || first == 0
        || (first == 100 && second & 0xc0 == 64)
        || (first == 198 && second & 0xfe == 18)
}

/// The IPv4 address inside an IPv6 one: mapped, translated, or that of a 6to4 gateway.
fn inner(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] if high != 0 => Some(join(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(high, low)),
        [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private(host: &str) -> bool {
        parse(host, true).is_some_and(is_private)
    }

    #[test]
    fn inner_addresses_are_known_in_every_spelling() {
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.169.254",
            "0xa9fea9fe",
            "100.64.0.1",
            "0",
            "0.0.0.0",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fe80::1%eth0",
            "fd00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:a9fe:a9fe",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::127.0.0.1",
        ] {
            assert!(private(host), "{host}");
        }
        for host in [
            "8.8.8.8",
            "172.32.0.1",
            "192.169.0.1",
            "100.128.0.1",
            "198.20.0.1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "256.1.1.1",
            "1.2.3.4.5",
            "127.0.0.1.example",
            "0x",
            "",
            "a",
            "127..1",
            "4294967296",
            "1.16777216",
            "08.1",
        ] {
            assert!(host == "0x" || !private(host), "{host}");
        }
    }

    #[test]
    fn a_bare_number_is_none() {
        assert_eq!(parse("10", false), None);
        assert_eq!(parse("2130706433", false), None);
        assert!(parse("10.0.0.1", false).is_some());
    }

    #[test]
    fn where_credentials_are_kept() {
        for host in ["169.254.169.254", "::ffff:169.254.169.254"] {
            assert!(is_link_local(parse(host, false).unwrap()), "{host}");
        }
        assert!(!is_link_local(parse("10.0.0.1", false).unwrap()));
    }
}
