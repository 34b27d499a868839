//! Classes of hosts, by name: who serves to carry data off, who tunnels to somebody's machine.

use std::net::IpAddr;

use policy::{Target, Targets};
use scan::net::{Inner, Rule};
use scan::{is_invisible, net};
use unicode_normalization::UnicodeNormalization as _;

/// Names of this machine.
const LOCAL: &[&str] = &["localhost", "localhost.localdomain", "ip6-localhost"];

/// Behind these schemes comes a host, with or without the slashes.
const WEB: &[&str] = &["http", "https", "ws", "wss", "ftp"];

/// The classes of an address or a host name. Whether a name resolves to a private address is for whoever
/// dials it to find out.
#[must_use]
pub fn class_of_host(text: &str) -> Targets {
    class(text, Written::Somewhere)
}

/// The same where the operator has opened hosts of the inner network: what names exactly one of them, at its port, leads to
/// no private address.
pub(super) fn class_of_host_within(text: &str, inner: &Inner) -> Targets {
    lifted(class_of_host(super::head(text)), text, inner)
}

fn lifted(found: Targets, text: &str, inner: &Inner) -> Targets {
    let is_open = found.contains(Target::PrivateAddress) && inner.names(text);
    if is_open { found.without(Target::PrivateAddress) } else { found }
}

/// The same of what a call names as the place that it goes to: there a bare name is one.
pub(super) fn class_of_destination(text: &str, inner: &Inner) -> Targets {
    // Mail goes to people, not to machines.
    let is_mail = text.contains('@') && !text.contains('/');
    if is_mail {
        return Targets::NONE;
    }
    lifted(class(super::head(text), Written::AsDestination), text, inner)
}

/// Does the text begin like an address of the web? Then it is the same whatever a call takes it for.
pub(super) fn has_web_scheme(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    WEB.iter().any(|it| scheme.eq_ignore_ascii_case(it))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Somewhere,
    AsDestination,
}

fn class(text: &str, written: Written) -> Targets {
    let text = plain(text);
    let slashed = text.replace('\\', "/");
    let place = Place::of(&slashed, written);
    let mut found = place.as_ref().map_or(Targets::NONE, Place::class);
    if text.contains('\\') {
        // Some readers end the host at a backslash, and some do not.
        found = Place::of(&text, written).map_or(found, |it| found.union(it.class()));
    }
    // Percent signs, tabs and slashes that are not there: a browser sees through them.
    let is_web = text.split_once(':').is_some_and(|(scheme, _)| WEB.contains(&scheme));
    if let Some(host) = is_web.then(|| net::seen_host(&text)).flatten() {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let seen = Place { host, has_scheme: true, is_web: true, is_used: true };
        // Mostly it sees what is written.
        if place.as_ref() != Some(&seen) {
            found = found.union(seen.class());
        }
    }
    found
}

/// Where a text points to.
#[derive(PartialEq, Eq)]
struct Place<'a> {
    host: &'a str,
    has_scheme: bool,
    /// Is it surely the host of an address, and not a word of some program's own?
    is_web: bool,
    /// Is it written as something to go to, by a scheme, a port or a path?
    is_used: bool,
}

impl<'a> Place<'a> {
    fn of(text: &'a str, written: Written) -> Option<Self> {
        let (has_scheme, is_web, after) = match (text.split_once("://"), text.split_once(':')) {
            (_, Some((scheme, after))) if WEB.contains(&scheme) => (true, true, after),
            (Some((_, after)), _) => (true, false, after),
            (None, _) => (text.starts_with("//"), false, text),
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
        let is_named = written == Written::AsDestination && host.contains(['.', ':']);
        let is_used = has_scheme || is_named || port.len() > 1 || is_page;
        let (has_scheme, is_web) = (has_scheme || is_named, is_web || is_named);
        (!host.is_empty()).then_some(Self { host, has_scheme, is_web, is_used })
    }

    fn class(&self) -> Targets {
        let mut found = Targets::NONE;
        if net::is_carrier(self.host) {
            found = found.with(Target::BlockedDomain);
        }
        if net::is_tunnel(self.host) {
            found = found.with(Target::TunnelDomain);
        }
        if self.is_inside() || self.is_private_address() {
            found = found.with(Target::PrivateAddress);
        }
        found
    }

    /// A name of this machine or of the inner network. Without a scheme many things are written like one.
    fn is_inside(&self) -> bool {
        let is_under = |it: &&str| {
            self.host.strip_suffix(it).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let is_metadata = || self.host.contains('.') && net::is_metadata(self.host);
        let leads_inside = || self.is_web && self.is_name() && net::leads_inside(self.host);
        LOCAL.iter().any(is_under) || is_metadata() || leads_inside()
    }

    fn is_name(&self) -> bool {
        let usual = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
        let has_letter = self.host.bytes().any(|it| it.is_ascii_alphabetic());
        has_letter && self.host.bytes().all(usual) && net::address(self.host).is_none()
    }

    /// A bare number may be anything. Four of them with dots are an address, and a private one is
    /// counted where it is used as one; that of a cloud's keeper of credentials everywhere.
    fn is_private_address(&self) -> bool {
        let host = self.host.split('%').next().unwrap_or(self.host);
        let address = match host.parse::<IpAddr>() {
            Ok(address) => Some(address),
            // `0x7f000001:80` is nothing but an address, `2024:30` may be anything.
            Err(_) if self.has_scheme || (self.is_used && host.starts_with("0x")) => {
                net::address(host)
            }
            Err(_) => None,
        };
        let Some(Err(refused)) = address.map(net::vet) else { return false };
        self.is_used || matches!(refused.rule, Rule::V4Metadata | Rule::V4LinkLocal)
    }
}

/// The form in which hosts are compared. Browsers leave out tabs and line ends wherever they stand.
fn plain(text: &str) -> String {
    let text: String = text.trim().chars().filter(|it| !matches!(it, '\t' | '\n' | '\r')).collect();
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let text: String = text.nfkc().filter(|it| !is_invisible(*it)).collect();
    let text = text.to_lowercase();
    text.chars().map(|it| if "。．｡".contains(it) { '.' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_its_scheme_is_the_same_wherever_it_stands() {
        let hosts = [
            "webhook.site",
            "WEBHOOK.SITE.",
            "a.webhook.site",
            "localhost",
            "localhost:80",
            "127.1",
            "0x7f000001",
            "2130706433",
            "[::1]:80",
            "[fe80::1%25eth0]",
            "169.254.169.254",
            "metadata.google.internal",
            "10.0.0.1",
            "10.0.0.0/8",
            "user@webhook.site",
            "a.example",
            "a",
            "",
            "webhook。site",
            "web%68ook.site",
            "a b",
            "x.ngrok.io",
            "\u{200b}webhook.site",
            "127.0.0.1.nip.io",
            "a\\webhook.site",
            "webhook.site\\@a.example",
        ];
        let mut of_note = 0;
        for scheme in
            ["http://", "https://", "HTTPS:", "ws:/", "wss:///", "ftp:\\\\", "http:\\", "https:"]
        {
            for host in hosts {
                for rest in ["", "/", "/x?y=z", "?x", "#y", "\\z", "/8"] {
                    let text = format!("{scheme}{host}{rest}");
                    assert!(has_web_scheme(&text));
                    let found = class_of_host(&text);
                    assert_eq!(class(&text, Written::AsDestination), found, "{text}");
                    of_note += usize::from(found != Targets::NONE);
                }
            }
        }
        assert!(of_note > 500, "{of_note}");
        for other in ["", "a.example", " http://a.example", "mailto:a@b.c", "gopher://a", "a:80"] {
            assert!(!has_web_scheme(other), "{other}");
        }
    }

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
