//! Classes of hosts, by name: who serves to carry data off, who tunnels to somebody's machine.

use std::net::IpAddr;

use policy::{Target, Targets};
use scan::{is_invisible, net};
use unicode_normalization::UnicodeNormalization as _;

/// Names of this machine.
const LOCAL: &[&str] = &["localhost", "localhost.localdomain", "ip6-localhost"];

/// The classes of an address or a host name. Whether a name resolves to a private address is for whoever
/// dials it to find out.
#[must_use]
pub fn class_of_host(text: &str) -> Targets {
    let text = plain(text);
    let Some(place) = Place::of(&text) else { return Targets::NONE };
    let mut found = Targets::NONE;
    if net::is_carrier(place.host) {
        found = found.with(Target::BlockedDomain);
    }
    if net::is_tunnel(place.host) {
        found = found.with(Target::TunnelDomain);
    }
    let is_under = |it: &&str| {
        place.host.strip_suffix(it).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if LOCAL.iter().any(is_under) || place.is_private_address() {
        found = found.with(Target::PrivateAddress);
    }
    found
}

/// Where a text points to.
struct Place<'a> {
    host: &'a str,
    has_scheme: bool,
    /// Is it written as something to go to, by a scheme, a port or a path?
    is_used: bool,
}

impl<'a> Place<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (has_scheme, after) = match text.split_once("://") {
            Some((_, after)) => (true, after),
            None => (text.starts_with("//"), text),
        };
        let after = after.trim_start_matches('/');
        let (authority, rest) = after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len()));
        let host = authority.rsplit('@').next()?;
        let (host, port) = match host.strip_prefix('[') {
            Some(inner) => inner.split_once(']')?,
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let host = host.trim_end_matches('.');
        // `10.0.0.0/8` is a range, and no page.
        let is_page = rest.starts_with(['/', '?', '#'])
            && !rest.trim_start_matches('/').starts_with(|it: char| it.is_ascii_digit());
        let is_used = has_scheme || port.len() > 1 || is_page;
        (!host.is_empty()).then_some(Self { host, has_scheme, is_used })
    }

    /// A bare number may be anything. Four of them with dots are an address, and a private one is
    /// counted where it is used as one; that of a cloud's keeper of credentials everywhere.
    fn is_private_address(&self) -> bool {
        let host = self.host.split('%').next().unwrap_or(self.host);
        let address = match host.parse::<IpAddr>() {
            Ok(address) => Some(address),
            Err(_) if self.has_scheme => net::address(host),
            Err(_) => None,
        };
        let Some(Err(refused)) = address.map(net::vet) else { return false };
        self.is_used || matches!(refused.rule, "net-v4-metadata" | "net-v4-link-local")
    }
}

/// The form in which hosts are compared.
fn plain(text: &str) -> String {
    let text = text.trim();
    if text.is_ascii() {
        return text.to_ascii_lowercase().replace('\\', "/");
    }
    let text: String = text.nfkc().filter(|it| !is_invisible(*it)).collect();
    let text = text.to_lowercase().replace('\\', "/");
    text.chars().map(|it| if "。．｡".contains(it) { '.' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_are_known_in_any_spelling() {
        for text in [
            "https://webhook.site/abc",
            "HTTPS://X@Webhook.Site",
            "webhook.site.",
            "wss://a.b.webhook.site?x",
            " https:\\\\webhook.site\\",
            "https://webhook。site/",
        ] {
            assert!(class_of_host(text).contains(Target::BlockedDomain), "{text}");
        }
        for text in ["https://notwebhook.site", "https://webhook.site.example", "webhook", ""] {
            assert!(!class_of_host(text).contains(Target::BlockedDomain), "{text}");
        }
        for text in [
            "http://localhost:80/",
            "localhost",
            "http://127.1/",
            "http://[::1]:80/",
            "127.0.0.1:8080",
            "10.0.0.1/admin",
            "http://169.254.169.254/latest/",
            "169.254.169.254",
            "//0x7f000001",
            "http://①②⑦.0.0.1/",
        ] {
            assert!(class_of_host(text).contains(Target::PrivateAddress), "{text}");
        }
        for text in [
            "10.0.0.1",
            "10.0.0.0/8",
            "2024/notes.md",
            "12:30",
            "1.2.3",
            "http://8.8.8.8/",
            "[1]",
            "[",
            "::",
        ] {
            assert!(!class_of_host(text).contains(Target::PrivateAddress), "{text}");
        }
        assert!(class_of_host("x.ngrok.io").contains(Target::TunnelDomain));
    }

    #[test]
    fn inner_addresses_are_known_in_every_spelling() {
        let private = |host: &str| {
            class_of_host(&format!("http://{host}/x")).contains(Target::PrivateAddress)
        };
        for host in [
            "127.0.1",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "172.31.255.255",
            "0xa9fea9fe",
            "100.64.0.1",
            "0",
            "0.0.0.0",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::]",
            "[fe80::1%eth0]",
            "[fd00::1]",
            "[ff02::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[::127.0.0.1]",
        ] {
            assert!(private(host), "{host}");
        }
        for host in [
            "172.32.0.1",
            "192.169.0.1",
            "100.128.0.1",
            "198.20.0.1",
            "[2606:4700::1111]",
            "[::ffff:8.8.8.8]",
            "256.1.1.1",
            "1.2.3.4.5",
            "127.0.0.1.example",
            "127..1",
            "4294967296",
            "08.1",
        ] {
            assert!(!private(host), "{host}");
        }
        // Where credentials are kept, it need not be used to count.
        assert!(class_of_host("[::ffff:169.254.169.254]").contains(Target::PrivateAddress));
        assert!(!class_of_host("[::ffff:10.0.0.1]").contains(Target::PrivateAddress));
    }
}
