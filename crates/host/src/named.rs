//! The way to an MCP server that a person has named by its address.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use egress::{Client, Limits, NamedServers, Rules, Trust, TrustError};
use policy::access::Global;
use scan::net::{DomainError, Domains, Host, Inner, InnerError, InnerHost, Refused, Target};

use crate::admission::{self, AdmissionError};
use crate::web::dialer_of;

/// What a stream of a server may carry as it travels, in bytes: who reads it counts what it reads.
const STREAM_BYTES_MAX: usize = usize::MAX >> 1;
/// Time after which a server that speaks HTTP/2 is asked whether it is there, twice.
const IDLE: Duration = Duration::from_secs(120);
/// Connections at one time; who drives a server counts its own.
const CONNECTIONS_MAX: usize = 256;

/// A way to one server, and to whatever it says issues its tokens.
#[derive(Clone)]
pub struct NamedWay {
    servers: NamedServers,
    endpoint: Target,
    /// What the settings open, without what the person has named.
    settings: Inner,
}

/// Who opens an address of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenedBy {
    /// The person who wrote it on the command line: exactly that address, at that port.
    CommandLine,
    /// The settings alone: `egress: {inner: …}`.
    Settings,
}

/// Why there is no way to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamedError {
    /// The settings are not understood.
    #[error(transparent)]
    Settings(#[from] AdmissionError),
    /// What is blocked is not understood.
    #[error(transparent)]
    Blocked(#[from] DomainError),
    /// The address leads where nobody may go.
    #[error("{0}; an inner host is opened in `config.yaml`: `egress: {{inner: …}}`")]
    Refused(#[from] Refused),
    /// The address can never be opened.
    #[error(transparent)]
    Inner(#[from] InnerError),
    /// Nobody vouches for servers.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The system gives no threads.
    #[error("no threads for the server: {0}")]
    Io(#[from] io::Error),
}

impl NamedWay {
    /// Returns the way to the server at `url`, by the settings in `home`. `localhost` is read as `127.0.0.1`: no name
    /// server is asked where this machine is.
    ///
    /// # Errors
    /// If the address is refused, or the settings are not understood.
    pub fn to(home: &Path, url: &str, by: OpenedBy) -> Result<Self, NamedError> {
        let settings = admission::settings(home)?;
        let egress = settings.as_ref().map(Global::egress);
        let inner = egress.map(|it| it.inner.clone()).unwrap_or_default();
        let blocked = egress.and_then(|it| it.blocked_domains.as_deref()).unwrap_or_default();
        let url = on_this_machine(url);
        let opened = match by {
            OpenedBy::CommandLine => opening(&inner, &url)?,
            OpenedBy::Settings => inner.clone(),
        };
        let limits = Limits {
            head: Duration::MAX,
            idle: IDLE,
            wire_bytes: STREAM_BYTES_MAX,
            per_session: CONNECTIONS_MAX,
            per_host: CONNECTIONS_MAX,
            ..Limits::default()
        };
        let dialer = dialer_of(settings.as_ref(), &limits)?.dangerously_opening(opened.clone());
        let client = Client::new(Arc::new(dialer), &Trust::System, limits)?;
        let rules = Rules { block: Domains::parse(blocked)?, inner: opened, ..Rules::default() };
        let servers = NamedServers::dangerously_without_permits(client, rules)?;
        let endpoint = servers.read(&url)?;
        Ok(Self { servers, endpoint, settings: inner })
    }

    /// Returns who asks.
    #[must_use]
    pub fn servers(&self) -> &NamedServers {
        &self.servers
    }

    /// Returns the server's address.
    #[must_use]
    pub fn endpoint(&self) -> &Target {
        &self.endpoint
    }

    /// Reads an address that the server or an issuer has named: one that leads outside, that the settings open, or that is
    /// of the server's own origin. That a person has named the server opens nothing else.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn found(&self, url: &str) -> Result<Target, Refused> {
        let is_own = |it: &Target| it.url().origin() == self.endpoint.url().origin();
        if let Some(own) = self.servers.read(url).ok().filter(is_own) {
            return Ok(own);
        }
        Target::within(url, &self.settings)?;
        self.servers.read(url)
    }
}

/// The name that every machine has for itself, by its number.
fn on_this_machine(url: &str) -> String {
    for scheme in ["http://", "https://"] {
        let Some(rest) = url.strip_prefix(scheme).and_then(|it| it.strip_prefix("localhost"))
        else {
            continue;
        };
        if rest.is_empty() || rest.starts_with([':', '/', '?']) {
            return format!("{scheme}127.0.0.1{rest}");
        }
    }
    url.to_owned()
}

/// What is open, and the address of this machine that the person has written.
fn opening(inner: &Inner, url: &str) -> Result<Inner, NamedError> {
    let Ok(target) = Target::dangerously_on_this_machine(url) else { return Ok(inner.clone()) };
    let Host::Address(address) = target.host() else { return Ok(inner.clone()) };
    if inner.opens(target.host(), target.port()) {
        return Ok(inner.clone());
    }
    let named = InnerHost::new(&address.to_string(), target.port(), Vec::new())?;
    Ok(Inner::new(inner.iter().cloned().chain([named]).collect())?)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_opens_exactly_one_address_of_this_machine_and_what_is_found_opens_none() {
        let home = tempfile::tempdir().unwrap();
        let way = |url: &str, by: OpenedBy| NamedWay::to(home.path(), url, by);
        let here = way("http://localhost:3000/mcp", OpenedBy::CommandLine).unwrap();
        assert_eq!(here.endpoint().url().as_str(), "http://127.0.0.1:3000/mcp");
        assert!(here.found("http://127.0.0.1:3000/other").is_ok(), "its own origin");
        for other in [
            "http://127.0.0.1:3001/",
            "http://127.0.0.2:3000/",
            "http://10.0.0.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[fd00:ec2::254]/",
            "http://metadata.google.internal/",
        ] {
            assert!(here.found(other).is_err(), "{other}");
        }
        assert!(here.found("https://login.example/").is_ok());
        assert!(way("http://127.0.0.1:3000/mcp", OpenedBy::Settings).is_err());
        for never in ["http://169.254.169.254/mcp", "http://10.0.0.1:3000/mcp", "http://0.0.0.0:1/"]
        {
            assert!(way(never, OpenedBy::CommandLine).is_err(), "{never}");
        }
    }

    #[test]
    fn the_settings_open_what_they_name_and_block_what_they_block() {
        let home = tempfile::tempdir().unwrap();
        let text =
            "egress: {inner: [{host: 127.0.0.1, port: 3000}], blockedDomains: [bad.example]}\n";
        std::fs::write(home.path().join("config.yaml"), text).unwrap();
        let way = |url: &str| NamedWay::to(home.path(), url, OpenedBy::Settings);
        assert!(way("http://127.0.0.1:3000/mcp").is_ok());
        assert!(way("http://127.0.0.1:3001/mcp").is_err());
        assert!(way("https://bad.example/mcp").is_err());
        let outside = way("https://good.example/mcp").unwrap();
        assert!(outside.found("http://127.0.0.1:3000/token").is_ok(), "the operator opened it");
    }
}
