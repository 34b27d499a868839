//! Where a request says it comes from and goes to: names of a list alone, so that no page of a browser reaches us by a
//! name that it has made lead here.

use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Uri};
use std::net::SocketAddr;

/// Names by which we may be called, and pages that may call.
#[derive(Clone, Debug)]
pub struct Origins {
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// A refusal because of `Host` or `Origin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Foreign {
    #[error("the field `Host` names nobody here; the operator can allow it with `--allow-host`")]
    Host,
    #[error("pages of this `Origin` may not call; the operator can allow it with `--allow-origin`")]
    Origin,
}

impl Origins {
    /// Returns the lists for an endpoint at `address`: names of this machine where it listens there alone, and what the
    /// operator adds. Names of hosts stand without a port, origins as browsers write them.
    #[must_use]
    pub fn of(address: SocketAddr, hosts: &[String], origins: &[String]) -> Self {
        let own = address.ip();
        let mut all: Vec<String> = hosts.iter().map(|it| it.to_ascii_lowercase()).collect();
        if own.is_loopback() {
            all.extend(LOOPBACK.map(str::to_owned));
        } else if !own.is_unspecified() {
            all.push(if own.is_ipv6() { format!("[{own}]") } else { own.to_string() });
        }
        let port = address.port();
        let mut from: Vec<String> = origins.iter().map(|it| it.to_ascii_lowercase()).collect();
        from.extend(all.iter().map(|host| format!("http://{host}:{port}")));
        Self { hosts: all, origins: from }
    }

    /// Checks a request's `Host`, which must be there once, and its `Origin`, if it has one.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Foreign> {
        let mut named = headers.get_all(HOST).iter();
        let host = named.next().and_then(|it| it.to_str().ok()).ok_or(Foreign::Host)?;
        if named.next().is_some() || !self.is_host(host) {
            return Err(Foreign::Host);
        }
        if uri.authority().is_some_and(|it| !self.is_host(it.as_str())) {
            return Err(Foreign::Host);
        }
        let is_known = |origin: &HeaderValue| {
            let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
            self.origins.contains(&origin)
        };
        if headers.get_all(ORIGIN).iter().all(is_known) { Ok(()) } else { Err(Foreign::Origin) }
    }

    fn is_host(&self, authority: &str) -> bool {
        let (host, port) = match authority.rsplit_once(':') {
            // The colons of an address stand in brackets.
            Some((host, port)) if !port.ends_with(']') => (host, port),
            Some(_) | None => (authority, "0"),
        };
        let host = host.to_ascii_lowercase();
        port.parse::<u16>().is_ok() && self.hosts.contains(&host)
    }
}

/// Names of this machine itself.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origins: &Origins, host: &[&str], origin: &[&str]) -> Result<(), Foreign> {
        let mut map = HeaderMap::new();
        for host in host {
            map.append(HOST, HeaderValue::from_str(host).unwrap());
        }
        for origin in origin {
            map.append(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        origins.check(&Uri::from_static("/mcp"), &map)
    }

    #[test]
    fn only_names_of_this_machine_reach_an_endpoint_of_this_machine() {
        let own = Origins::of("127.0.0.1:8080".parse().unwrap(), &[], &[]);
        for host in ["127.0.0.1:8080", "localhost", "LOCALHOST:9", "[::1]:8080", "[::1]"] {
            assert_eq!(check(&own, &[host], &[]), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost@evil.example",
            "localhost:x",
            "",
            "::1",
            "127.1",
            "localhost:8080:1",
            "0.0.0.0",
        ] {
            assert_eq!(check(&own, &[host], &[]), Err(Foreign::Host), "{host}");
        }
        assert_eq!(check(&own, &[], &[]), Err(Foreign::Host));
        assert_eq!(check(&own, &["localhost", "localhost"], &[]), Err(Foreign::Host));
        let absolute = Uri::from_static("http://evil.example/mcp");
        let mut map = HeaderMap::new();
        map.insert(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(own.check(&absolute, &map), Err(Foreign::Host));
    }

    #[test]
    fn pages_call_only_from_here_or_where_the_operator_said() {
        let more = ["https://App.example".to_owned()];
        let own = Origins::of("127.0.0.1:8080".parse().unwrap(), &["gate.example".into()], &more);
        let host = &["gate.example"];
        for good in ["http://localhost:8080", "https://app.example"] {
            assert_eq!(check(&own, host, &[good]), Ok(()), "{good}");
        }
        for bad in
            ["null", "http://localhost:9", "https://localhost:8080", "https://app.example.evil"]
        {
            assert_eq!(check(&own, host, &[bad]), Err(Foreign::Origin), "{bad}");
            assert_eq!(check(&own, host, &["https://app.example", bad]), Err(Foreign::Origin));
        }
    }
}
