//! How a URL is written, before anybody parses it; and how a host may be written.

use std::net::IpAddr;

use super::{Refused, URL_BYTES_MAX};
use crate::net::Rule;

/// The longest name of a host, in bytes, and of one of its labels.
const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// The host as it stands in the text, without port; refuses texts that have more than one reading.
pub(super) fn written_host(text: &str) -> Result<&str, Refused> {
    plain_text(text)?;
    let Some((scheme, rest)) = text.split_once("://") else { return Err(not_whole(text)) };
    if !is_web(scheme) {
        return Err(no_scheme());
    }
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if after.split(['?', '#']).next().unwrap_or_default().contains('\\') {
        return Err(Refused::new(Rule::Spelling, "a URL has no backslashes before its query"));
    }
    if authority.contains('@') {
        return Err(userinfo());
    }
    if authority.is_empty() {
        return Err(Refused::new(Rule::NoHost, "the URL names no host"));
    }
    if authority.contains(|it: char| it.is_whitespace() || it == '%') {
        let reason = "a host is written without blanks and without percent signs";
        return Err(Refused::new(Rule::Spelling, reason));
    }
    // Some readers let only a slash end the host.
    if !after.starts_with('/') && after.split('/').next().unwrap_or_default().contains('@') {
        let reason = "an `@` comes only behind a slash that ends the host";
        return Err(Refused::new(Rule::Spelling, reason));
    }
    let port =
        authority.rfind(':').filter(|it| !authority.get(*it..).unwrap_or_default().contains(']'));
    Ok(authority.get(..port.unwrap_or(authority.len())).unwrap_or(authority))
}

/// Refuses what is no text of an address, whole or not.
pub(super) fn plain_text(text: &str) -> Result<(), Refused> {
    if text.len() > URL_BYTES_MAX {
        let reason = format!("a URL has at most {URL_BYTES_MAX} bytes");
        return Err(Refused::new(Rule::TooLong, reason));
    }
    let has_control = if text.is_ascii() {
        text.bytes().any(|it| it.is_ascii_control())
    } else {
        text.contains(char::is_control)
    };
    if has_control || text.trim().len() != text.len() {
        let reason = "a URL has no control characters, and no blanks around it";
        return Err(Refused::new(Rule::Spelling, reason));
    }
    Ok(())
}

pub(super) fn is_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Why a text without `://` is refused.
fn not_whole(text: &str) -> Refused {
    match text.split_once(':') {
        Some((word, _)) if !word.contains('/') && !is_web(word) => no_scheme(),
        Some(_) | None => Refused::new(Rule::NotAUrl, "a URL begins with http:// or https://"),
    }
}

pub(super) fn no_scheme() -> Refused {
    Refused::new(Rule::Scheme, "out of reach: a URL begins with http:// or https://")
}

pub(super) fn userinfo() -> Refused {
    Refused::new(Rule::Userinfo, "a URL has no user name or password before its host")
}

/// A name in ASCII and in small letters, as the parser gives it, without its last dot.
pub(super) fn plain_name(name: &str) -> Result<&str, Refused> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let fits = |label: &str| (1..=LABEL_BYTES_MAX).contains(&label.len());
    let usual =
        |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, b'-' | b'_' | b'.');
    if name.len() > NAME_BYTES_MAX || !name.split('.').all(fits) || !name.bytes().all(usual) {
        return Err(Refused::new(Rule::Name, "the host is neither a name nor an address"));
    }
    Ok(name)
}

/// The host that a browser would see in `text`, whether or not it is refused: in its normal form, in
/// brackets if it is an IPv6 address, without a last dot.
#[must_use]
pub fn seen_host(text: &str) -> Option<String> {
    let url = url::Url::parse(text.get(..URL_BYTES_MAX).unwrap_or(text)).ok()?;
    let host = url.host_str().filter(|it| !it.is_empty())?;
    Some(host.strip_suffix('.').unwrap_or(host).to_owned())
}

/// The address that `host` is, in every spelling that resolvers take: `127.1`, `0x7f000001` and
/// `2130706433` are all 127.0.0.1. Without brackets; a zone behind `%` does not matter.
#[must_use]
pub fn address(host: &str) -> Option<IpAddr> {
    let host = host.split('%').next().unwrap_or(host);
    if let Ok(address) = host.parse() {
        return Some(address);
    }
    // A name's last label is no number, so most names need not be parsed.
    let last = host.strip_suffix('.').unwrap_or(host).rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with(|it: char| it.is_ascii_digit() || !it.is_ascii());
    if !is_number {
        return None;
    }
    match url::Host::parse(host).ok()? {
        url::Host::Ipv4(address) => Some(address.into()),
        url::Host::Domain(_) | url::Host::Ipv6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_in_every_spelling() {
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0X7F.1",
            "0177.0.0.1",
            "017700000001",
            "①②⑦.0.0.1",
            "127。0。0。1",
        ] {
            assert_eq!(address(host), Some(IpAddr::from([127, 0, 0, 1])), "{host}");
        }
        assert_eq!(address("fe80::1%eth0"), "fe80::1".parse().ok());
        for host in [
            "256.1.1.1",
            "1.2.3.4.5",
            "127.0.0.1.example",
            "",
            "a",
            "127..1",
            "4294967296",
            "1.16777216",
            "08.1",
            "[::1]",
        ] {
            assert_eq!(address(host), None, "{host}");
        }
    }
}
