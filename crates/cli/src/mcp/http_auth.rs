//! Who may call the gateway by HTTP: whoever has a token of this machine, or an access token.

use std::fs::File;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::mcp::http::client::oauth::Fetch as _;
use ::mcp::http::server::PATH;
use ::mcp::http::server::auth::{Authenticator, KeySource, Oauth, OauthSettings};
use ::mcp::http::server::limits::KEYS_BYTES_MAX;
use host::remote_server::Found;
use host::{NamedWay, OpenedBy};
use scan::net::Scheme;
use serde::Deserialize;

use super::http_tokens;
use crate::failure::Failure;

/// What the configuration says of the authorization server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OauthConfig {
    issuer: String,
    audience: String,
    jwks_file: Option<PathBuf>,
    jwks_url: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    /// The endpoint's address as clients know it, where it is not the one that we listen on.
    resource: Option<String>,
}

/// A way to tell who calls, and where its secret lies.
pub(super) struct Credentials {
    pub(super) auth: Authenticator,
    pub(super) token_file: Option<PathBuf>,
}

/// Tokens of this machine. Where there is none, one is made that only the operator can read.
pub(super) fn local(home: &Path) -> Result<Credentials, Failure> {
    let token_file = http_tokens::open_file(home).map_err(Failure::unable)?;
    let tokens = http_tokens::source(home.to_owned()).map_err(Failure::unable)?;
    Ok(Credentials { auth: Authenticator::Local(tokens), token_file })
}

/// An authorization server, as the configuration names it.
pub(super) fn oauth(
    config: OauthConfig,
    home: &Path,
    address: SocketAddr,
) -> Result<Credentials, Failure> {
    let OauthConfig { issuer, audience, jwks_file, jwks_url, scopes, resource } = config;
    let source: KeySource = match (jwks_file, jwks_url) {
        (Some(file), None) => Arc::new(move || read(&file)),
        (None, Some(url)) => fetched(home, &url)?,
        (Some(_), Some(_)) => {
            return Err(Failure::usage("`oauth` has both `jwks_file` and `jwks_url`; keep one"));
        }
        (None, None) => return Err(Failure::usage("`oauth` needs `jwks_url` or `jwks_file`")),
    };
    let is_address = audience.starts_with("https://") || audience.starts_with("http://");
    let named = resource.or_else(|| is_address.then(|| audience.clone()));
    let resource = named.unwrap_or_else(|| format!("http://{address}{PATH}"));
    let settings = OauthSettings { issuer, audience, scopes, resource };
    let oauth = Oauth::new(settings, source).map_err(Failure::usage)?;
    Ok(Credentials { auth: Authenticator::Oauth(Box::new(oauth)), token_file: None })
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let wrong = |error: std::io::Error| format!("`{}`: {error}", file.display());
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(wrong)?;
    opened.take(KEYS_BYTES_MAX).read_to_end(&mut bytes).map_err(wrong)?;
    Ok(bytes)
}

/// Keys at an address, by the one way out: every address is vetted each time, and no redirect is followed. Whoever could
/// change them on their way could let anybody in, so that they come by TLS or do not leave this machine.
fn fetched(home: &Path, url: &str) -> Result<KeySource, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure::usage(format!("`jwks_url`: {why}"));
    let way = NamedWay::to(home, url, OpenedBy::Settings).map_err(|error| wrong(&error))?;
    let target = way.endpoint();
    let is_here = matches!(target.host(), scan::net::Host::Address(it) if it.is_loopback());
    if target.scheme() != Scheme::Https && !is_here {
        return Err(wrong(&"it must begin with https://"));
    }
    let url = target.url().clone();
    Ok(Arc::new(move || {
        let fetched = Found { way: &way }.get(&url)?;
        match fetched.status {
            200 => Ok(fetched.body.to_vec()),
            status => Err(format!("`{url}` answers with the status {status}")),
        }
    }))
}
