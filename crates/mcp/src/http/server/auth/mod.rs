//! Who calls: a token of this machine, or an access token of an authorization server. Without one nobody gets further.

mod jwks;
mod jwt;
mod oauth;
#[cfg(test)]
mod tests;
mod token;

pub use jwks::{Keys, KeysError};
pub use jwt::TokenError;
pub(super) use oauth::WELL_KNOWN;
pub use oauth::{KeySource, Oauth, OauthError, OauthSettings};
pub use token::{NewToken, TOKENS_MAX, TokenDigest, TokenSource, TokenTable, TokenUnfit};

use super::limits::TOKEN_BYTES_MAX;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use std::fmt;

/// A client, as its token says. Sessions of one are never another's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal {
    name: String,
    /// By which token of this machine: another of the same name is another client's.
    token: Option<TokenDigest>,
}

impl Principal {
    pub(super) fn new(name: String) -> Self {
        Self { name, token: None }
    }

    /// Returns the client's name, for records.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A way to tell who calls.
pub enum Authenticator {
    /// By the tokens of this machine, as they are now.
    Local(TokenSource),
    /// By access tokens, as an OAuth 2.1 resource server.
    Oauth(Box<Oauth>),
}

/// A refusal of a caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("send a token: `Authorization: Bearer …`")]
    Missing,
    #[error("the token is not valid: {0}")]
    Invalid(TokenError),
    #[error("the token lacks a scope; it needs `{0}`")]
    Scope(String),
}

impl Authenticator {
    /// Tells who calls, by the field `Authorization` alone.
    pub(super) async fn check(&self, headers: &HeaderMap, now: i64) -> Result<Principal, Refused> {
        let token = bearer(headers)?;
        match self {
            Self::Local(tokens) => {
                let found = tokens().find(token).cloned();
                let (name, digest) = found.ok_or(Refused::Invalid(TokenError::Unknown))?;
                Ok(Principal { name, token: Some(digest) })
            }
            Self::Oauth(oauth) => oauth.check(token, now).await,
        }
    }

    /// Whether somebody may still be this client: a token that was taken back is nobody's.
    pub(super) fn may_be(&self, client: &Principal) -> bool {
        match self {
            Self::Local(tokens) => {
                client.token.as_ref().is_some_and(|it| tokens().has(&client.name, it))
            }
            // An access token ends by itself, and its issuer is not asked about it.
            Self::Oauth(_) => true,
        }
    }

    /// Whether there are several clients who must leave each other room.
    pub(super) fn tells_apart(&self) -> bool {
        match self {
            Self::Local(tokens) => tokens().len() > 1,
            Self::Oauth(_) => true,
        }
    }

    /// Writes the field `WWW-Authenticate` for a refusal.
    pub(super) fn challenge(&self, refused: &Refused) -> String {
        let mut parts = vec!["realm=\"lazaret\"".to_owned()];
        match refused {
            Refused::Missing => {}
            Refused::Invalid(_) => parts.push("error=\"invalid_token\"".to_owned()),
            Refused::Scope(_) => parts.push("error=\"insufficient_scope\"".to_owned()),
        }
        if let Self::Oauth(oauth) = self {
            parts.push(format!("resource_metadata=\"{}\"", oauth.metadata_url()));
            if !oauth.scopes().is_empty() {
                parts.push(format!("scope=\"{}\"", oauth.scopes()));
            }
        }
        format!("Bearer {}", parts.join(", "))
    }

    /// Returns the metadata of the protected resource, where there is an authorization server.
    pub(super) fn metadata(&self) -> Option<String> {
        match self {
            Self::Local(_) => None,
            Self::Oauth(oauth) => Some(oauth.metadata()),
        }
    }
}

/// The token of a request: one field, of one scheme.
fn bearer(headers: &HeaderMap) -> Result<&str, Refused> {
    let mut fields = headers.get_all(AUTHORIZATION).iter();
    let field = fields.next().ok_or(Refused::Missing)?;
    let shape = || Refused::Invalid(TokenError::Shape);
    if fields.next().is_some() {
        return Err(shape());
    }
    let (scheme, token) =
        field.to_str().ok().and_then(|it| it.split_once(' ')).ok_or_else(shape)?;
    let token = token.trim_matches(' ');
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(shape());
    }
    if token.len() > TOKEN_BYTES_MAX {
        return Err(Refused::Invalid(TokenError::TooLong));
    }
    Ok(token)
}
