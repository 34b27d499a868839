//! Hosts of the inner network that the operator has opened: each by its name or address, at one port, as far as it leads to
//! the addresses that were listed.

use std::net::IpAddr;
use std::sync::Arc;

use super::domains;
use super::lists::{Class, classes};
use super::names::is_metadata;
use super::prefix::{Prefix, PrefixError};
use super::{Host, Refused, Target};
use crate::net::Rule;

/// Hosts that can be opened.
pub const INNER_HOSTS_MAX: usize = 64;
/// Ranges of addresses of one host.
pub const PREFIXES_PER_HOST_MAX: usize = 64;

/// All hosts of the inner network that are open; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inner(Arc<[InnerHost]>);

/// A host of the inner network that is open at one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerHost {
    host: Host,
    port: u16,
    prefixes: Vec<Prefix>,
}

/// Why a host cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InnerError {
    /// It is no host.
    #[error("`{host}` {why}: name one host or one address")]
    NotAHost {
        /// As it was written.
        host: String,
        /// In words that begin with a verb.
        why: &'static str,
    },
    /// A name under which clouds keep credentials.
    #[error("`{0}` is where clouds keep credentials, and can never be opened")]
    Metadata(String),
    /// A name that leads wherever it says.
    #[error("`{0}` leads wherever its owner likes: name the address itself")]
    LeadsAnywhere(String),
    /// There is no port 0.
    #[error("there is no port 0: name the port of `{0}`")]
    NoPort(String),
    /// A name without addresses.
    #[error("`{0}` needs `addresses`: the ranges that it may lead to, as `10.1.2.3/32`")]
    NoAddresses(String),
    /// Too many ranges.
    #[error("`{0}` has more than {PREFIXES_PER_HOST_MAX} ranges of addresses")]
    ManyPrefixes(String),
    /// An address that its own ranges do not hold.
    #[error("`{0}` is not among its own `addresses`: leave them out, or list it")]
    Outside(IpAddr),
    /// The address can never be opened.
    #[error(transparent)]
    Address(#[from] PrefixError),
    /// The same host and port twice.
    #[error("`{host}` at port {port} is there twice: put its addresses into one entry")]
    Twice {
        /// Which.
        host: Host,
        /// At which port.
        port: u16,
    },
    /// Too many hosts.
    #[error("at most {INNER_HOSTS_MAX} hosts of the inner network can be opened")]
    ManyHosts,
}

impl Inner {
    /// Opens these hosts.
    ///
    /// # Errors
    /// If there are too many, or one is there twice.
    pub fn new(hosts: Vec<InnerHost>) -> Result<Self, InnerError> {
        if hosts.len() > INNER_HOSTS_MAX {
            return Err(InnerError::ManyHosts);
        }
        for (at, it) in hosts.iter().enumerate() {
            if hosts.iter().take(at).any(|before| before.is(&it.host, it.port)) {
                return Err(InnerError::Twice { host: it.host.clone(), port: it.port });
            }
        }
        Ok(Self(hosts.into()))
    }

    /// Is nothing open?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that is open.
    pub fn iter(&self) -> impl Iterator<Item = &InnerHost> {
        self.0.iter()
    }

    /// The entry that opens the host at the port, if there is one.
    #[must_use]
    pub fn find(&self, host: &Host, port: u16) -> Option<&InnerHost> {
        self.0.iter().find(|it| it.is(host, port))
    }

    /// Is the host open at the port? Where it leads is not looked at.
    #[must_use]
    pub fn opens(&self, host: &Host, port: u16) -> bool {
        self.find(host, port).is_some()
    }

    /// Is the text one URL of a host that is open, or such a host with its port?
    #[must_use]
    pub fn names(&self, text: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let text = text.trim();
        let target = match text.split_once("://") {
            Some(("http" | "https", _)) => Target::within(text, self),
            Some((_, rest)) => Target::within(&format!("https://{}/", place(rest)), self),
            None => {
                Target::within(&format!("https://{}", with_port(text).unwrap_or_default()), self)
            }
        };
        target.is_ok_and(|it| self.opens(it.host(), it.port()))
    }
}

impl InnerHost {
    /// Opens `host` at `port` as far as it leads into `prefixes`. For an address without any, itself is meant.
    ///
    /// # Errors
    /// If it can never be opened, or not so.
    pub fn new(host: &str, port: u16, mut prefixes: Vec<Prefix>) -> Result<Self, InnerError> {
        let host = host_of(host)?;
        if port == 0 {
            return Err(InnerError::NoPort(host.to_string()));
        }
        if prefixes.len() > PREFIXES_PER_HOST_MAX {
            return Err(InnerError::ManyPrefixes(host.to_string()));
        }
        match &host {
            Host::Address(address) => {
                let itself = Prefix::exactly(*address)?;
                if prefixes.is_empty() {
                    prefixes.push(itself);
                }
                if !prefixes.iter().any(|it| it.holds(*address)) {
                    return Err(InnerError::Outside(*address));
                }
            }
            Host::Name(name) if prefixes.is_empty() => {
                return Err(InnerError::NoAddresses(name.clone()));
            }
            Host::Name(_) => {}
        }
        Ok(Self { host, port, prefixes })
    }

    /// Which host.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// At which port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The addresses that it may lead to.
    #[must_use]
    pub fn prefixes(&self) -> &[Prefix] {
        &self.prefixes
    }

    /// Are there addresses, and are all of them among those that were listed?
    ///
    /// # Errors
    /// Of the first that is not: a name that leads elsewhere as well leads elsewhere.
    pub fn vet_all(&self, addresses: &[IpAddr]) -> Result<(), Refused> {
        if addresses.is_empty() {
            return Err(Refused::new(Rule::NoAddress, "the name has no address"));
        }
        let listed = |it: &&IpAddr| self.prefixes.iter().any(|range| range.holds(**it));
        match addresses.iter().find(|it| !listed(it)) {
            None => Ok(()),
            Some(other) => {
                let host = &self.host;
                let reason = format!(
                    "`{host}` is at {other}, which is not among the addresses that the operator has opened for it"
                );
                Err(Refused::new(Rule::EgressInner, reason))
            }
        }
    }

    fn is(&self, host: &Host, port: u16) -> bool {
        self.port == port && self.host == *host
    }
}

/// A name or an address in its usual spelling.
fn host_of(text: &str) -> Result<Host, InnerError> {
    if let Some(address) = domains::address(text) {
        return Ok(Host::Address(address));
    }
    let shown = || text.chars().take(SHOWN_CHARS_MAX).collect::<String>();
    let name = domains::name(text).map_err(|why| InnerError::NotAHost { host: shown(), why })?;
    if is_metadata(&name) {
        return Err(InnerError::Metadata(name.into()));
    }
    if classes(&name).any(|it| matches!(it.0, Class::LeadsInside | Class::Wildcard)) {
        return Err(InnerError::LeadsAnywhere(name.into()));
    }
    Ok(Host::Name(name.into()))
}

/// How much of a wrong text is shown, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// Whom an address of another scheme names, as `postgres://user@db.corp:5432/name` does: behind the one `@`, before the
/// first slash. Where readers could differ, nobody.
fn place(rest: &str) -> &str {
    let authority = rest.split('/').next().unwrap_or_default();
    let usual = |it: u8| it.is_ascii_alphanumeric() || b"-._~%:@[]".contains(&it);
    if !authority.bytes().all(usual) || authority.matches('@').count() > 1 {
        return "";
    }
    with_port(authority.rsplit('@').next().unwrap_or_default()).unwrap_or_default()
}

/// A host with a port, if it has one; without it nobody knows which is meant.
fn with_port(text: &str) -> Option<&str> {
    let authority = text.split(['/', '?', '#']).next()?;
    let (_, port) = authority.rsplit_once(':')?;
    (!port.is_empty() && port.bytes().all(|it| it.is_ascii_digit())).then_some(text)
}
