//! A URL as it will be asked for, or why it will not.

use std::net::IpAddr;

use url::Url;

use super::names::vet_name;
use super::{Refused, vet};

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
    /// A name in ASCII, in small letters, without a last dot, with at least two labels.
    Name(String),
    /// A public address.
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
        let written = written_host(text)?;
        let url = Url::parse(text)
            .map_err(|error| Refused::new("net-not-a-url", format!("not a URL: {error}")))?;
        Self::of(url, Some(written))
    }

    /// The target that `reference` names from here, as a redirect does.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn join(&self, reference: &str) -> Result<Self, Refused> {
        let joined = self.url.join(reference).map_err(|error| {
            Refused::new("net-not-a-url", format!("not a URL to go on to: {error}"))
        })?;
        // Absolute ones are read as if they had come from outside, with their spelling.
        if reference.contains("//")
            || reference.contains(['\\', '@'])
            || joined.host() != self.url.host()
        {
            let text = if reference.starts_with("//") {
                format!("{}:{reference}", self.scheme.as_str())
            } else if reference.contains("://") {
                reference.to_owned()
            } else {
                joined.to_string()
            };
            return Self::parse(&text);
        }
        Self::of(joined, None)
    }

    fn of(mut url: Url, written: Option<&str>) -> Result<Self, Refused> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => {
                let reason = format!("`{other}` is out of reach: only http and https are not");
                return Err(Refused::new("net-scheme", reason));
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(userinfo());
        }
        let port = url.port().unwrap_or(scheme.default_port());
        if port == 0 {
            return Err(Refused::new("net-port", "there is no port 0"));
        }
        url.set_fragment(None);
        let host = match url.host() {
            Some(url::Host::Domain(name)) => Host::Name(plain_name(name)?),
            Some(url::Host::Ipv4(address)) => {
                // `010.8.8.8` is 8.8.8.8 to some and 10.8.8.8 to others.
                if written.is_some_and(|it| it != address.to_string()) {
                    let reason = format!("`{address}` is written in an unusual way");
                    return Err(vet(address.into())
                        .err()
                        .unwrap_or_else(|| Refused::new("net-exotic-address", reason)));
                }
                Host::Address(address.into())
            }
            Some(url::Host::Ipv6(address)) => Host::Address(address.into()),
            None => return Err(Refused::new("net-no-host", "the URL names no host")),
        };
        match &host {
            Host::Name(name) => vet_name(name)?,
            Host::Address(address) => vet(*address)?,
        }
        Ok(Self { url, scheme, host, port })
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

/// The host as it stands in the text, without port; refuses texts that have more than one reading.
fn written_host(text: &str) -> Result<&str, Refused> {
    if text.len() > URL_BYTES_MAX {
        let reason = format!("a URL has at most {URL_BYTES_MAX} bytes");
        return Err(Refused::new("net-too-long", reason));
    }
    if text.contains(|it: char| it.is_control() || it.is_whitespace()) {
        return Err(Refused::new("net-spelling", "a URL has no blanks and no control characters"));
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        let word = text.split(':').next().filter(|it| text.contains(':') && !it.contains('/'));
        return Err(match word {
            Some(word)
                if !word.eq_ignore_ascii_case("http") && !word.eq_ignore_ascii_case("https") =>
            {
                Refused::new("net-scheme", "only http and https are not out of reach")
            }
            Some(_) | None => {
                Refused::new("net-not-a-url", "a URL begins with http:// or https://")
            }
        });
    };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(Refused::new("net-scheme", "only http and https are not out of reach"));
    }
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if after.split(['?', '#']).next().unwrap_or_default().contains('\\') {
        return Err(Refused::new("net-spelling", "a URL has no backslashes before its query"));
    }
    if authority.contains('@') {
        return Err(userinfo());
    }
    if authority.is_empty() {
        return Err(Refused::new("net-no-host", "the URL names no host"));
    }
    let port =
        authority.rfind(':').filter(|it| !authority.get(*it..).unwrap_or_default().contains(']'));
    Ok(authority.get(..port.unwrap_or(authority.len())).unwrap_or(authority))
}

fn userinfo() -> Refused {
    Refused::new("net-userinfo", "a URL has no user name or password before its host")
}

/// A name without its last dot.
fn plain_name(name: &str) -> Result<String, Refused> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let fits = |label: &str| (1..=63).contains(&label.len());
    if name.len() > 253 || !name.split('.').all(fits) {
        return Err(Refused::new("net-name", "the name of the host is no name"));
    }
    Ok(name.to_ascii_lowercase())
}
