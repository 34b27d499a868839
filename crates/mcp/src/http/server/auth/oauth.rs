//! An OAuth 2.1 resource server: who its authorization server is, and what a token must be to count.

use super::jwks::{Keys, KeysError};
use super::jwt::{self, Expected, TokenError};
use super::{Principal, Refused};
use crate::http::server::limits::KEYS_WAIT;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What the operator says of the authorization server.
#[derive(Clone, Debug)]
pub struct OauthSettings {
    /// The issuer, exactly as tokens name it.
    pub issuer: String,
    /// The audience that tokens must be for.
    pub audience: String,
    /// Scopes that every token must have.
    pub scopes: Vec<String>,
    /// The address of the endpoint, as clients know it.
    pub resource: String,
}

/// A reader of the keys, as they are now.
pub type KeySource = Box<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>;

/// A resource server.
pub struct Oauth {
    settings: OauthSettings,
    source: KeySource,
    known: Mutex<Known>,
}

struct Known {
    keys: Arc<Keys>,
    read_at: Instant,
}

/// A refusal to be a resource server with these settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OauthError {
    /// Keys that cannot be read.
    #[error("the keys of the authorization server cannot be read: {0}")]
    Source(String),
    /// Keys that cannot be used.
    #[error("the keys of the authorization server cannot be used: {0}")]
    Keys(#[from] KeysError),
    /// An issuer, audience or scope that is empty, or an address that is none.
    #[error("`{0}` of `oauth` must be {1}")]
    Setting(&'static str, &'static str),
}

impl Oauth {
    /// Makes a resource server, once its keys could be read.
    ///
    /// # Errors
    /// If a setting does not fit, or the keys cannot be read.
    pub fn new(settings: OauthSettings, source: KeySource) -> Result<Self, OauthError> {
        for (name, value) in [("issuer", &settings.issuer), ("audience", &settings.audience)] {
            if value.is_empty() {
                return Err(OauthError::Setting(name, "a text that is not empty"));
            }
        }
        let is_scope = |it: &String| {
            !it.is_empty()
                && it.bytes().all(|it| it.is_ascii_graphic() && it != b'"' && it != b'\\')
        };
        if !settings.scopes.iter().all(is_scope) {
            return Err(OauthError::Setting("scopes", "a list of words without quotes"));
        }
        if split(&settings.resource).is_none() {
            return Err(OauthError::Setting("resource", "an http or https address"));
        }
        let bytes = source().map_err(OauthError::Source)?;
        let known = Known { keys: Arc::new(Keys::parse(&bytes)?), read_at: Instant::now() };
        Ok(Self { settings, source, known: Mutex::new(known) })
    }

    pub(super) fn check(&self, token: &str, now: i64) -> Result<Principal, Refused> {
        let OauthSettings { issuer, audience, scopes, .. } = &self.settings;
        let expected = Expected { issuer, audience, now };
        let claims = self.verify(token, &expected).map_err(Refused::Invalid)?;
        if !scopes.iter().all(|it| claims.scopes.contains(it)) {
            return Err(Refused::Scope(self.scopes()));
        }
        Ok(Principal::new(json!([issuer, claims.subject, claims.client]).to_string()))
    }

    /// Verifies with the keys that are known. Keys change: one that is not known is looked for, but not too often.
    fn verify(&self, token: &str, expected: &Expected<'_>) -> Result<jwt::Claims, TokenError> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = Arc::clone(&lock().keys);
        let verified = jwt::verify(token, &keys, expected);
        let mut known = lock();
        if verified != Err(TokenError::Key) || known.read_at.elapsed() < KEYS_WAIT {
            return verified;
        }
        known.read_at = Instant::now();
        let read = (self.source)().ok().and_then(|it| Keys::parse(&it).ok());
        let Some(keys) = read else { return verified };
        known.keys = Arc::new(keys);
        jwt::verify(token, &known.keys, expected)
    }

    pub(super) fn scopes(&self) -> String {
        self.settings.scopes.join(" ")
    }

    /// The address of the metadata (RFC 9728): the path of the resource stands behind the well-known one.
    pub(super) fn metadata_url(&self) -> String {
        let (origin, path) = split(&self.settings.resource).unwrap_or_default();
        format!("{origin}{WELL_KNOWN}{path}")
    }

    pub(super) fn metadata(&self) -> String {
        let OauthSettings { issuer, scopes, resource, .. } = &self.settings;
        json!({
            "resource": resource,
            "authorization_servers": [issuer],
            "scopes_supported": scopes,
            "bearer_methods_supported": ["header"],
        })
        .to_string()
    }
}

/// An address as origin and path.
fn split(address: &str) -> Option<(&str, &str)> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    let is_plain =
        rest.bytes().all(|it| it.is_ascii_graphic() && !matches!(it, b'"' | b'\\' | b'#' | b'?'));
    let host = rest.split('/').next().filter(|it| !it.is_empty())?;
    let end = address.len() - rest.len() + host.len();
    is_plain
        .then(|| address.split_at(end))
        .map(|(origin, path)| (origin, path.trim_end_matches('/')))
}

/// Where the metadata of a protected resource stands.
pub(in crate::http::server) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
