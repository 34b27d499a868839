//! Names under services that answer with the address that stands in the name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Refused, vet};

/// Services that answer with whatever address stands before their domain.
pub(super) const SERVICES: &[&str] = &[
    "backname.io",
    "ip6.name",
    "ipq.co",
    "local-ip.co",
    "local-ip.sh",
    "nip.io",
    "plex.direct",
    "sslip.io",
    "traefik.me",
    "xip.io",
    "xip.name",
];
/// The one that also takes a number to the base of 36.
const BASE36: &str = "xip.io";

/// Refuses a name under such a `service` with an address in it that is not public.
pub(super) fn vet_name(name: &str, service: &str) -> Result<(), Refused> {
    let before = name.strip_suffix(service).unwrap_or(name);
    for address in addresses(before.trim_end_matches('.'), service) {
        vet(address).map_err(|refused| {
            Refused::new(refused.rule, format!("`{name}` leads to {}", refused.reason))
        })?;
    }
    Ok(())
}

/// Every address that the service may read in it: dotted, with dashes, in hexadecimal, of either kind.
fn addresses(text: &str, service: &str) -> Vec<IpAddr> {
    let words: Vec<&str> = text.split(['.', '-']).collect();
    let numbers: Vec<Option<u8>> = words.iter().map(|it| it.parse().ok()).collect();
    let mut found: Vec<IpAddr> = Vec::new();
    for window in numbers.windows(4) {
        if let [Some(a), Some(b), Some(c), Some(d)] = window {
            found.push(Ipv4Addr::new(*a, *b, *c, *d).into());
        }
    }
    for word in words {
        if word.len() == 8
            && let Ok(bits) = u32::from_str_radix(word, 16)
        {
            found.push(Ipv4Addr::from(bits).into());
        }
        if service == BASE36
            && let Ok(bits) = u32::from_str_radix(word, 36)
        {
            found.extend([bits, bits.swap_bytes()].map(|it| IpAddr::from(Ipv4Addr::from(it))));
        }
    }
    let with_colons = |label: &str| label.replace('-', ":").parse::<Ipv6Addr>().ok();
    found.extend(text.split('.').filter_map(with_colons).map(IpAddr::from));
    found
}

#[cfg(test)]
mod tests {
    use super::super::names::vet_name;

    #[test]
    fn the_address_in_the_name_is_judged() {
        for name in [
            "127.0.0.1.nip.io",
            "company.127.0.0.1.nip.io",
            "app-127-0-0-1.nip.io",
            "169-254-169-254.sslip.io",
            "a9fea9fe.nip.io",
            "app-7f000001.nip.io",
            "10.0.0.1.xip.io",
            "www.owasp.org.1ynrnhl.xip.io",
            "--1.sslip.io",
            "fe80--1.sslip.io",
            "www.64-ff9b--7f00-1.sslip.io",
            "192-168-1-7.abcdef.plex.direct",
        ] {
            assert!(vet_name(name).is_err(), "{name}");
        }
        for name in [
            "nip.io",
            "www.sslip.io",
            "8.8.8.8.nip.io",
            "app-8-8-8-8.nip.io",
            "2606-4700--1111.sslip.io",
            "08080808.nip.io",
            "127.0.0.1.example.com",
            "notnip.io",
        ] {
            assert_eq!(vet_name(name), Ok(()), "{name}");
        }
    }
}
