//! Discovery: who issues the tokens of a server, and where.

use super::{Challenge, Fetch, address};
use serde::Deserialize;
use url::Url;

/// Issuers that a server may name.
const ISSUERS_MAX: usize = 16;
/// Bytes of the scopes that are asked for.
const SCOPE_BYTES_MAX: usize = 1024;

/// What was found out about a server.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// What its tokens are for.
    pub resource: String,
    /// Scopes to ask for; none where nobody says.
    pub scope: Option<String>,
    /// Who issues its tokens.
    pub issuer: Issuer,
}

/// Who issues tokens.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// Its name, exactly as it is spelt.
    pub name: String,
    /// Where a person logs in.
    pub authorization_endpoint: Url,
    /// Where tokens are given.
    pub token_endpoint: Url,
    /// Where clients make themselves known, if they can.
    pub registration_endpoint: Option<Url>,
    /// Whether it says its name when a person comes back from it (RFC 9207).
    pub says_its_name: bool,
}

/// A failure to find out who issues a server's tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The server's description was not found.
    #[error(
        "the server says nowhere who issues its tokens ({0}); give it a token by a header instead"
    )]
    NoResource(String),
    /// The server's description is elsewhere.
    #[error(
        "the server describes itself at `{0}`, which is not its own origin; it is not believed"
    )]
    ResourceElsewhere(String),
    /// The description is of something else.
    #[error("the server's description is about `{0}` and not about the server; it is not believed")]
    OtherResource(String),
    /// No issuer can be used.
    #[error("the server names no issuer with an https address; it cannot be logged in to")]
    NoIssuer,
    /// The issuer's description was not found.
    #[error("the issuer `{issuer}` has no description that can be used ({why})")]
    NoIssuerMetadata {
        /// Which.
        issuer: String,
        /// Why.
        why: String,
    },
    /// The issuer's description is of another.
    #[error("the description of the issuer `{asked}` is that of `{found}`; it is not believed")]
    OtherIssuer {
        /// As the server names it.
        asked: String,
        /// As its description does.
        found: String,
    },
    /// The issuer does not know PKCE.
    #[error("the issuer `{0}` does not say that it knows PKCE with S256; a code could be stolen")]
    NoPkce(String),
}

#[derive(Deserialize)]
struct ResourceMetadata {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

#[derive(Deserialize)]
struct IssuerMetadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: Option<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// Finds out who issues the tokens of the server at `endpoint`.
///
/// # Errors
/// If a document is missing, or is about something else than what it was asked for.
pub fn discover(
    fetch: &dyn Fetch,
    endpoint: &Url,
    challenge: &Challenge,
) -> Result<Discovered, DiscoveryError> {
    let described = resource(fetch, endpoint, challenge)?;
    let mut last = DiscoveryError::NoIssuer;
    for name in described.authorization_servers.iter().take(ISSUERS_MAX) {
        let Some(url) = address(name).filter(|it| it.query().is_none()) else { continue };
        match issuer(fetch, name, &url) {
            Ok(issuer) => {
                let scope = scope(challenge, &described.scopes_supported);
                return Ok(Discovered { resource: described.resource, scope, issuer });
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The description of the server: where it says, at its own origin, or where it belongs.
fn resource(
    fetch: &dyn Fetch,
    endpoint: &Url,
    challenge: &Challenge,
) -> Result<ResourceMetadata, DiscoveryError> {
    let places = match &challenge.resource_metadata {
        Some(text) => {
            let url = address(text).filter(|it| it.origin() == endpoint.origin());
            vec![url.ok_or_else(|| DiscoveryError::ResourceElsewhere(shown(text)))?]
        }
        None => vec![
            well_known(endpoint, "oauth-protected-resource", endpoint.path()),
            well_known(endpoint, "oauth-protected-resource", ""),
        ],
    };
    let mut why = "nothing is there".to_owned();
    for place in places {
        let found: ResourceMetadata = match document(fetch, &place) {
            Ok(found) => found,
            Err(error) => {
                why = error;
                continue;
            }
        };
        // Tokens for another resource must not be got in this one's name, nor the other way round.
        let is_ours = address(&found.resource).is_some_and(|it| is_within(endpoint, &it));
        return if is_ours {
            Ok(found)
        } else {
            Err(DiscoveryError::OtherResource(shown(&found.resource)))
        };
    }
    Err(DiscoveryError::NoResource(why))
}

/// Is the endpoint the resource, or a part of it?
fn is_within(endpoint: &Url, resource: &Url) -> bool {
    let (path, base) = (endpoint.path(), resource.path().trim_end_matches('/'));
    let rest = path.strip_prefix(base);
    endpoint.origin() == resource.origin()
        && rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

fn issuer(fetch: &dyn Fetch, name: &str, url: &Url) -> Result<Issuer, DiscoveryError> {
    let unusable = |why: String| DiscoveryError::NoIssuerMetadata { issuer: shown(name), why };
    let path = url.path().trim_end_matches('/');
    let mut appended = url.clone();
    appended.set_path(&format!("{path}/.well-known/openid-configuration"));
    let places = [
        well_known(url, "oauth-authorization-server", path),
        well_known(url, "openid-configuration", path),
        appended,
    ];
    let mut why = "nothing is there".to_owned();
    let mut found = None;
    for place in places {
        match document::<IssuerMetadata>(fetch, &place) {
            Ok(metadata) => {
                found = Some(metadata);
                break;
            }
            Err(error) => why = error,
        }
    }
    let found = found.ok_or_else(|| unusable(why))?;
    // Compared letter by letter, so that no issuer speaks in the name of another.
    if found.issuer != name {
        let found = shown(&found.issuer);
        return Err(DiscoveryError::OtherIssuer { asked: shown(name), found });
    }
    if !found.code_challenge_methods_supported.iter().any(|it| it == "S256") {
        return Err(DiscoveryError::NoPkce(shown(name)));
    }
    let at = |text: &str| {
        address(text).ok_or_else(|| unusable("an endpoint of it has no https address".to_owned()))
    };
    Ok(Issuer {
        name: name.to_owned(),
        authorization_endpoint: at(&found.authorization_endpoint)?,
        token_endpoint: at(&found.token_endpoint)?,
        registration_endpoint: found.registration_endpoint.as_deref().map(at).transpose()?,
        says_its_name: found.authorization_response_iss_parameter_supported,
    })
}

/// What the request needs, else all that there is.
fn scope(challenge: &Challenge, supported: &[String]) -> Option<String> {
    let wanted = challenge.scope.clone().unwrap_or_else(|| supported.join(" "));
    let is_plain = wanted.bytes().all(|it| (0x20..0x7f).contains(&it) && it != b'"' && it != b'\\');
    Some(wanted).filter(|it| is_plain && !it.trim().is_empty() && it.len() <= SCOPE_BYTES_MAX)
}

fn well_known(url: &Url, what: &str, path: &str) -> Url {
    let mut made = url.clone();
    made.set_query(None);
    made.set_path(&format!("/.well-known/{what}{}", path.trim_end_matches('/')));
    made
}

fn document<T: for<'a> Deserialize<'a>>(fetch: &dyn Fetch, url: &Url) -> Result<T, String> {
    let fetched = fetch.get(url)?;
    if fetched.status != 200 {
        return Err(format!("HTTP {}", fetched.status));
    }
    serde_json::from_slice(&fetched.body).map_err(|_| "it is not understood".to_owned())
}

/// A text of a stranger's, short and in plain signs.
pub(super) fn shown(text: &str) -> String {
    crate::shown::log_value(text)
}

#[cfg(test)]
mod tests;
