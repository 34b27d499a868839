//! Addresses on the web.

use std::net::Ipv6Addr;

use serde_json::{Value, json};

use super::issue::Reader;
use super::limits::URL_UNITS_MAX;
use super::shape::Shape;
use super::text::bounded;

/// An absolute `http` or `https` URL with a host and without a user name. It holds nothing that one
/// reader drops and another keeps: no white space, no control characters, no backslashes.
///
/// This is the form alone. Where the host leads to is decided when it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WebUrl(String);

impl WebUrl {
    /// The URL as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Shape for WebUrl {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let text = bounded(value, URL_UNITS_MAX, reader)?;
        match check(&text) {
            Ok(()) => Some(Self(text)),
            Err(message) => reader.refuse(message),
        }
    }

    fn to_value(&self) -> Value {
        self.as_str().into()
    }

    fn schema() -> Value {
        let pattern = r"^[hH][tT][tT][pP][sS]?://[^\s\\]+$";
        json!({"type": "string", "format": "uri", "maxLength": URL_UNITS_MAX, "pattern": pattern})
    }
}

fn check(text: &str) -> Result<(), &'static str> {
    let foul = |it: char| it.is_whitespace() || it.is_control() || it == '\\';
    if text.contains(foul) {
        return Err("a URL has no white space, control characters or backslashes");
    }
    let (scheme, rest) = text.split_once("://").ok_or("must be an absolute URL")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err("must be an http or https URL");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("a URL has no user name or password");
    }
    let (host, port) = split_port(authority);
    if !is_host(host) {
        return Err("must have the name or address of a host");
    }
    if port.is_some_and(|port| !is_port(port)) {
        return Err("must have a port from 1 to 65535, or none");
    }
    Ok(())
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        // The colons inside brackets belong to the address.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        Some(_) | None => (authority, None),
    }
}

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[') {
        return address.strip_suffix(']').is_some_and(|it| it.parse::<Ipv6Addr>().is_ok());
    }
    let legal = |it: char| it.is_alphanumeric() || matches!(it, '-' | '.' | '_');
    host.chars().any(char::is_alphanumeric) && host.chars().all(legal)
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|it| it.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|it| it > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_web_addresses_are_urls() {
        for good in [
            "http://example.com",
            "HTTPS://EXAMPLE.COM:8080/a?b#c",
            "https://[2001:db8::1]/",
            "https://[::1]:443",
            "http://127.0.0.1?x=@y",
            "https://münchen.example/straße?q=a:b@c",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn what_readers_could_take_for_something_else_is_refused() {
        for bad in [
            "",
            "not-a-url",
            "//example.com/",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "ftp://example.com/",
            "javascript://example.com/%0aalert(1)",
            "http://",
            "http:///path",
            "http://.../",
            "http://exa mple.com",
            "http://example.com\t/",
            "http://example.com\n",
            "http:\\\\example.com",
            "http://example.com\\@evil.example/",
            "http://user:secret@example.com/",
            "http://example.com@evil.example/",
            "http://exam%70le.com/",
            "http://[::1",
            "http://[::1]x/",
            "http://[1.2.3.4]/",
            "http://a:b:c/",
            "http://example.com:/",
            "http://example.com:0/",
            "http://example.com:65536/",
            "http://example.com:+80/",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
