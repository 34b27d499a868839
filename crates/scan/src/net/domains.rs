//! Lists of domains: what may be asked, and what may not.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use psl::Psl as _;

use super::embedded::innermost;
use super::lists::suffixes;
use super::spelling::plain_name;
use super::{Host, Refused, Scheme, Target};
use crate::net::Rule;

/// A list of domains and addresses.
///
/// `example.com` is that name alone; `*.example.com` is every name under it, and itself. Before a name
/// may stand `http://` and behind it a port: they matter to [`Domains::permits`] alone.
#[derive(Clone, Debug, Default)]
pub struct Domains {
    names: HashMap<Box<str>, Doors>,
    /// With everything under them.
    trees: HashMap<Box<str>, Doors>,
    addresses: HashMap<IpAddr, Doors>,
}

/// By which ways a host may be asked: `None` is the port that is the scheme's own.
type Doors = HashSet<(Scheme, Option<u16>)>;

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` {why}")]
pub struct DomainError {
    /// As it was written.
    pub pattern: String,
    /// In one sentence that begins with a verb.
    pub why: &'static str,
}

/// Public suffixes whose customers are one operator's own projects more often than not, and which the
/// manuals of agents give as the example of a pattern.
const TREES_ANYWAY: &[&str] = &["supabase.co"];

impl Domains {
    /// Reads patterns.
    ///
    /// # Errors
    /// The first that is none, or that is wider than anybody can mean: `*`, `*.com`, `*.co.uk`.
    pub fn parse(patterns: &[impl AsRef<str>]) -> Result<Self, DomainError> {
        let mut all = Self::default();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            all.add(pattern).map_err(|why| DomainError { pattern: pattern.to_owned(), why })?;
        }
        Ok(all)
    }

    /// Is the host on the list?
    #[must_use]
    pub fn contains(&self, host: &Host) -> bool {
        self.doors(host).next().is_some()
    }

    /// Is the host on the list, and may it be asked in this way? An entry means https at its own port,
    /// unless it says `http://` or another port.
    ///
    /// # Errors
    /// What is not on the list, and what entry would be needed.
    pub fn permits(&self, target: &Target) -> Result<(), Refused> {
        let refused = |reason: String| Err(Refused::new(Rule::NotAllowed, reason));
        let (host, scheme, port) = (target.host(), target.scheme(), target.port());
        if !self.contains(host) {
            return refused(format!("`{host}` is not on the list of what is allowed"));
        }
        let own = (port == scheme.default_port()).then_some((scheme, None));
        let wanted = [own, Some((scheme, Some(port)))];
        if self.doors(host).any(|doors| wanted.iter().flatten().any(|it| doors.contains(it))) {
            return Ok(());
        }
        match (scheme, own) {
            (Scheme::Http, Some(_)) => refused(format!(
                "`{host}` is allowed over https alone; an entry `http://{host}` would allow this"
            )),
            (Scheme::Http, None) => refused(format!(
                "`{host}` is not allowed at port {port} over http; an entry `http://{host}:{port}` would allow this"
            )),
            (Scheme::Https, _) => refused(format!(
                "`{host}` is not allowed at port {port}; an entry `{host}:{port}` would allow this"
            )),
        }
    }

    fn doors(&self, host: &Host) -> impl Iterator<Item = &Doors> {
        let (name, address) = match host {
            Host::Name(name) => (Some(name.as_str()), None),
            Host::Address(address) => (None, self.addresses.get(&innermost(*address))),
        };
        let exact = name.and_then(|it| self.names.get(it));
        let trees = name.into_iter().flat_map(suffixes).filter_map(|it| self.trees.get(it));
        exact.into_iter().chain(trees).chain(address)
    }

    fn add(&mut self, pattern: &str) -> Result<(), &'static str> {
        let (scheme, rest) = match pattern.split_once("://") {
            Some((word, rest)) if word.eq_ignore_ascii_case("http") => (Scheme::Http, rest),
            Some((word, rest)) if word.eq_ignore_ascii_case("https") => (Scheme::Https, rest),
            Some(_) => return Err("has a scheme that is neither http nor https"),
            None => (Scheme::Https, pattern),
        };
        let (host, port) = split_port(rest)?;
        let doors = match (scheme, port) {
            (Scheme::Https, port) => Doors::from([(Scheme::Https, port)]),
            (Scheme::Http, port) => Doors::from([(Scheme::Http, port), (Scheme::Https, port)]),
        };
        if let Some(address) = address(host) {
            self.addresses.entry(innermost(address)).or_default().extend(doors);
            return Ok(());
        }
        let (list, name) = match host.strip_prefix("*.") {
            Some(rest) => (&mut self.trees, tree(rest)?),
            None if host == "*" => return Err("would be every domain there is"),
            None => (&mut self.names, name(host)?),
        };
        list.entry(name).or_default().extend(doors);
        Ok(())
    }
}

/// The port behind a name or an address in brackets, if there is one.
fn split_port(text: &str) -> Result<(&str, Option<u16>), &'static str> {
    let Some((host, port)) = text
        .rsplit_once(':')
        .filter(|(host, port)| !port.contains(']') && (!host.contains(':') || host.ends_with(']')))
    else {
        return Ok((text, None));
    };
    let is_number = port.bytes().all(|it| it.is_ascii_digit());
    match port.parse() {
        Ok(number) if is_number && number > 0 => Ok((host, Some(number))),
        Ok(_) | Err(_) => Err("has a port that is none"),
    }
}

/// An address in its usual spelling, in brackets or not.
pub(super) fn address(text: &str) -> Option<IpAddr> {
    let inner = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    match inner {
        Some(inner) => inner.parse().ok().map(IpAddr::V6),
        None => text.parse().ok(),
    }
}

/// A name, in the form in which the parser of URLs gives it.
pub(super) fn name(text: &str) -> Result<Box<str>, &'static str> {
    const NO_NAME: &str = "is not the name of a domain";
    if text.is_empty() {
        return Err("is empty");
    }
    if text.contains('*') {
        return Err("has a `*` that does not stand for all that comes before the first dot");
    }
    if text.contains(['/', '?', '#', '@', '%', '\\', ':']) || text.contains(char::is_whitespace) {
        return Err(NO_NAME);
    }
    match url::Host::parse(text) {
        Ok(url::Host::Domain(name)) => plain_name(&name).map(Box::from).map_err(|_| NO_NAME),
        Ok(url::Host::Ipv4(_)) => Err("is an address in an unusual spelling"),
        Ok(url::Host::Ipv6(_)) | Err(_) => Err(NO_NAME),
    }
}

/// Parts below which providers give names to their customers. The list of public suffixes can be asked, but not
/// leafed through, so whether a provider stands above such a place is found by asking for these.
#[rustfmt::skip]
const GIVEN_AWAY: &[&str] = &[
    "x", "a", "app", "blob.core", "cloudapp", "compute", "compute-1", "elb", "ip", "lambda-url.us-east-1",
    "members", "nodes", "paas", "r", "s3", "s3-website-us-east-1", "servicebus", "us-east-1",
    "user", "web.core",
];

/// Places of the same kind that the list does not know.
const SHARED: &[&str] = &["cloudapp.azure.com", "azure.com"];

/// A name under which nobody but its owner can have names.
fn tree(text: &str) -> Result<Box<str>, &'static str> {
    let name = name(text)?;
    // The list has its names in letters, not in punycode.
    let (letters, _) = idna::domain_to_unicode(&name);
    let is_suffix = |it: &str| psl::List.suffix(it.as_bytes()).is_some_and(|all| all == it);
    let is_shared = |it: &str| {
        is_suffix(it)
            || SHARED.contains(&it)
            || GIVEN_AWAY.iter().any(|below| is_suffix(&format!("{below}.{it}")))
    };
    if (is_shared(&name) || is_shared(&letters)) && !TREES_ANYWAY.contains(&&*name) {
        return Err("is wider than anybody can mean: everybody can have names under it");
    }
    Ok(name)
}
