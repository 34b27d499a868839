//! Who may call the gateway by HTTP: whoever can read a file of the operator's, or has an access token.

use std::fs::File;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ::mcp::http::server::PATH;
use ::mcp::http::server::auth::{Authenticator, LocalToken, Oauth, OauthSettings};
use ::mcp::http::server::limits::KEYS_BYTES_MAX;
use serde::Deserialize;

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

/// The file of this machine's token, in the state directory.
const TOKEN_FILE: &str = "mcp-http.token";
/// More than a token is in no such file.
const TOKEN_FILE_BYTES_MAX: u64 = 1024;

/// The token of this machine: the one that is kept, or a new one. Only the operator can read it.
pub(super) fn local(home: &Path) -> Result<Credentials, Failure> {
    let file = home.join(TOKEN_FILE);
    let wrong =
        |why: &dyn std::fmt::Display| Failure::unable(format!("`{}`: {why}", file.display()));
    let kept = files::private::read_if_there(&file, TOKEN_FILE_BYTES_MAX)
        .map_err(|error| wrong(&error))?;
    let text = match kept {
        Some(bytes) => String::from_utf8(bytes).map_err(|error| wrong(&error))?,
        None => {
            let text = LocalToken::random_text().map_err(|error| wrong(&error))?;
            files::private::replace(&file, text.as_bytes()).map_err(|error| wrong(&error))?;
            text
        }
    };
    let token = LocalToken::parse(text.trim_end()).map_err(|error| wrong(&error))?;
    Ok(Credentials { auth: Authenticator::Local(token), token_file: Some(file) })
}

/// An authorization server, as the configuration names it.
pub(super) fn oauth(config: OauthConfig, address: SocketAddr) -> Result<Credentials, Failure> {
    let OauthConfig { issuer, audience, jwks_file, jwks_url, scopes, resource } = config;
    let file = match (jwks_file, jwks_url) {
        (Some(file), None) => file,
        (_, Some(_)) => {
            return Err(Failure::usage(
                "keys are not fetched by `jwks_url` yet: save them and name the file with `jwks_file`",
            ));
        }
        (None, None) => return Err(Failure::usage("`oauth` needs `jwks_file`")),
    };
    let is_address = audience.starts_with("https://") || audience.starts_with("http://");
    let named = resource.or_else(|| is_address.then(|| audience.clone()));
    let resource = named.unwrap_or_else(|| format!("http://{address}{PATH}"));
    let settings = OauthSettings { issuer, audience, scopes, resource };
    let source = Box::new(move || read(&file));
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
