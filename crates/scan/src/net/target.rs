//! A URL as it will be asked for, or why it will not.

use std::net::IpAddr;

use url::{ParseError, Url};

use super::names::vet_name;
use super::spelling::{no_scheme, plain_name, plain_text, userinfo, written_host};
use super::{Inner, Refused, vet};
use crate::net::Rule;

/// The longest URL that is read, in bytes.
pub const URL_BYTES_MAX: usize = 8192;

/// How it is asked for. There are no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Without encryption.
    Http,
    /// With TLS.
    Https,
}

impl Scheme {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Where it is asked for if nothing is said.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Whom is asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A name in ASCII, in small letters, without a last dot, with at least two labels unless the operator opened it.
    Name(String),
    /// A public address; of a target that was read as one on this machine, that of this machine; or one that the operator
    /// opened.
    Address(IpAddr),
}

impl std::fmt::Display for Host {
    /// As in a URL, but without brackets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// A URL whose text leads outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    url: Url,
    scheme: Scheme,
    host: Host,
    port: u16,
}

impl Target {
    /// Reads `text` as a browser would, and refuses what another reader could take for something else.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        Self::read(text, host)
    }

    /// Reads an address of this machine, in its plain spelling: what the operator has written into the settings for a
    /// program of their own. What agents, pages and servers say is read by [`Target::parse`] alone; and whoever dials
    /// does not dial this one unless it was opened there as well.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn dangerously_on_this_machine(text: &str) -> Result<Self, Refused> {
        Self::read(text, loopback)
    }

    /// Reads `text` as [`Target::parse`] does, or as one of the hosts of the inner network that the operator has opened:
    /// by exactly that name or address, in its plain spelling, at exactly that port. Where a name leads is for whoever dials
    /// it to find out.
    ///
    /// # Errors
    /// The rule that refuses it for whoever opened nothing.
    pub fn within(text: &str, inner: &Inner) -> Result<Self, Refused> {
        Self::parse(text).or_else(|refused| match inner.is_empty() {
            true => Err(refused),
            false => {
                Self::read(text, |url, written| opened(url, written, inner)).map_err(|_| refused)
            }
        })
    }

    fn read(
        text: &str,
        host: impl Fn(&Url, &str) -> Result<Host, Refused>,
    ) -> Result<Self, Refused> {
        let written = written_host(text)?;
        let mut url = Url::parse(text).map_err(not_a_url)?;
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return Err(no_scheme()),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(userinfo());
        }
        let port = url.port().unwrap_or(scheme.default_port());
        if port == 0 {
            return Err(Refused::new(Rule::Port, "there is no port 0"));
        }
        let host = host(&url, written)?;
        if url.fragment().is_some() {
            url.set_fragment(None);
        }
        check_length(&url)?;
        Ok(Self { url, scheme, host, port })
    }

    /// Something else of the same origin; what is of another is read as if it had come from outside.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn beside(&self, url: Url) -> Result<Self, Refused> {
        if url.origin() != self.url.origin() {
            return Self::parse(url.as_str());
        }
        check_length(&url)?;
        Ok(Self { url, ..self.clone() })
    }

    /// The target that `reference` names from here, as a redirect does.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn join(&self, reference: &str) -> Result<Self, Refused> {
        self.join_within(reference, &Inner::default())
    }

    /// The same where the operator has opened hosts of the inner network: what is opened is for who asks for it, so a
    /// redirect leads there only from the very same origin.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn join_within(&self, reference: &str, inner: &Inner) -> Result<Self, Refused> {
        let next = self.joined(reference, inner)?;
        let elsewhere = next.url.origin() != self.url.origin();
        if elsewhere && inner.opens(&next.host, next.port) {
            let reason = format!(
                "`{}` is opened for who asks for it by its name, and no redirect leads there",
                next.host
            );
            return Err(Refused::new(Rule::EgressInner, reason));
        }
        Ok(next)
    }

    fn joined(&self, reference: &str, inner: &Inner) -> Result<Self, Refused> {
        plain_text(reference)?;
        // One that names a host is read as if it had come from outside, with its spelling.
        if reference.starts_with("//") {
            return Self::within(&format!("{}:{reference}", self.scheme.as_str()), inner);
        }
        let has_scheme = reference
            .split_once(':')
            .is_some_and(|(word, _)| !word.is_empty() && !word.contains(['/', '?', '#', '\\']));
        if has_scheme {
            let next = Self::within(reference, inner)?;
            return match (self.scheme, next.scheme) {
                (Scheme::Https, Scheme::Http) => {
                    let reason = "what was asked for with TLS does not lead on without it";
                    Err(Refused::new(Rule::Downgrade, reason))
                }
                (Scheme::Http, _) | (Scheme::Https, Scheme::Https) => Ok(next),
            };
        }
        let joined = self.url.join(reference).map_err(not_a_url)?;
        if joined.origin() != self.url.origin() {
            let reason = "a URL that leads to another host begins with two slashes";
            return Err(Refused::new(Rule::Spelling, reason));
        }
        Self::within(joined.as_str(), inner)
    }

    /// The URL in its normal form, without a fragment.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// How it is asked for.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Whom is asked.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// At which port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// The host, if it leads outside. `written`: as it stands in the text.
fn host(url: &Url, written: &str) -> Result<Host, Refused> {
    match url.host() {
        Some(url::Host::Domain(name)) => {
            let name = plain_name(name)?;
            vet_name(name)?;
            Ok(Host::Name(name.to_owned()))
        }
        Some(url::Host::Ipv4(address)) => {
            vet(address.into())?;
            // `010.8.8.8` is 8.8.8.8 to some and 10.8.8.8 to others.
            if written.parse() != Ok(address) {
                let reason = format!("`{address}` is written in an unusual way");
                return Err(Refused::new(Rule::ExoticAddress, reason));
            }
            Ok(Host::Address(address.into()))
        }
        Some(url::Host::Ipv6(address)) => {
            vet(address.into())?;
            Ok(Host::Address(address.into()))
        }
        None => Err(Refused::new(Rule::NoHost, "the URL names no host")),
    }
}

/// A host that the operator has opened at the port of the URL, in its plain spelling.
fn opened(url: &Url, written: &str, inner: &Inner) -> Result<Host, Refused> {
    let host = match url.host() {
        Some(url::Host::Domain(name)) => Some(Host::Name(plain_name(name)?.to_owned())),
        Some(url::Host::Ipv4(address)) if written.parse() == Ok(address) => {
            Some(Host::Address(address.into()))
        }
        Some(url::Host::Ipv6(address)) => Some(Host::Address(address.into())),
        Some(url::Host::Ipv4(_)) | None => None,
    };
    let is_open = |it: &Host| url.port_or_known_default().is_some_and(|port| inner.opens(it, port));
    host.filter(is_open).ok_or_else(|| {
        Refused::new(Rule::EgressInner, "the operator has not opened this host at this port")
    })
}

/// A loopback address, if it is written as one.
fn loopback(url: &Url, written: &str) -> Result<Host, Refused> {
    let address = match url.host() {
        Some(url::Host::Ipv4(address)) if written.parse() == Ok(address) => Some(address.into()),
        Some(url::Host::Ipv6(address)) => Some(address.into()),
        Some(url::Host::Ipv4(_) | url::Host::Domain(_)) | None => None,
    };
    let reason = "an address of this machine is written as `127.0.0.1` or `[::1]`";
    let address = address.filter(IpAddr::is_loopback);
    address.map(Host::Address).ok_or_else(|| Refused::new(Rule::NotAllowed, reason))
}

/// The parser writes some characters in three.
fn check_length(url: &Url) -> Result<(), Refused> {
    if url.as_str().len() <= URL_BYTES_MAX {
        return Ok(());
    }
    let reason = format!("a URL has at most {URL_BYTES_MAX} bytes in its normal form");
    Err(Refused::new(Rule::TooLong, reason))
}

fn not_a_url(error: ParseError) -> Refused {
    let rule = if error == ParseError::InvalidPort { Rule::Port } else { Rule::NotAUrl };
    Refused::new(rule, format!("not a URL: {error}"))
}
