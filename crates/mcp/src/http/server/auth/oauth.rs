//! An OAuth 2.1 resource server: who its authorization server is, and what a token must be to count.

use super::jwks::{Keys, KeysError};
use super::jwt::{self, Expected, TokenError};
use super::{Principal, Refused};
use crate::http::server::limits::{KEYS_AGE_MAX, KEYS_FRESH, KEYS_WAIT};
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

/// A reader of the keys, as they are now. It may take its time: it is called on a thread that nobody waits for but
/// whoever brings a token by an unknown key.
pub type KeySource = Arc<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>;

/// A resource server.
pub struct Oauth {
    settings: OauthSettings,
    source: KeySource,
    known: Mutex<Known>,
    /// Held while keys are read, so that they are read once for all who want others.
    reading: tokio::sync::Mutex<()>,
}

struct Known {
    keys: Arc<Keys>,
    /// When they were read.
    read_at: Instant,
    /// When it was tried last.
    tried_at: Instant,
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
        let now = Instant::now();
        let known = Known { keys: Arc::new(Keys::parse(&bytes)?), read_at: now, tried_at: now };
        Ok(Self { settings, source, known: Mutex::new(known), reading: Default::default() })
    }

    pub(super) async fn check(&self, token: &str, now: i64) -> Result<Principal, Refused> {
        let OauthSettings { issuer, audience, scopes, .. } = &self.settings;
        let expected = Expected { issuer, audience, now };
        let claims = self.verify(token, &expected).await.map_err(Refused::Invalid)?;
        if !scopes.iter().all(|it| claims.scopes.contains(it)) {
            return Err(Refused::Scope(self.scopes()));
        }
        Ok(Principal::new(json!([issuer, claims.subject, claims.client]).to_string()))
    }

    /// Verifies with the keys that are known. Keys change: one that is not known is looked for, and old ones are read
    /// again, but not too often.
    async fn verify(
        &self,
        token: &str,
        expected: &Expected<'_>,
    ) -> Result<jwt::Claims, TokenError> {
        let verified = self.verify_now(token, expected);
        let is_unknown = verified == Err(TokenError::Key);
        if !self.wants_reading(is_unknown) {
            return verified;
        }
        // INVARIANT (NobodyWaits): a client whose key is known goes on with it while others are read.
        let Some(_only) = self.first_or_waiting(is_unknown).await else { return verified };
        if self.wants_reading(is_unknown) {
            self.read().await;
        }
        self.verify_now(token, expected)
    }

    fn verify_now(&self, token: &str, expected: &Expected<'_>) -> Result<jwt::Claims, TokenError> {
        let known = self.known();
        let (keys, age) = (Arc::clone(&known.keys), known.read_at.elapsed());
        drop(known);
        // INVARIANT (FailClosed): an issuer that has not been heard of for so long vouches for nobody.
        if age >= KEYS_AGE_MAX {
            return Err(TokenError::Key);
        }
        jwt::verify(token, &keys, expected)
    }

    fn wants_reading(&self, is_unknown: bool) -> bool {
        let known = self.known();
        let is_old = known.read_at.elapsed() >= KEYS_FRESH;
        (is_unknown || is_old) && known.tried_at.elapsed() >= KEYS_WAIT
    }

    async fn first_or_waiting(&self, may_wait: bool) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        if may_wait { Some(self.reading.lock().await) } else { self.reading.try_lock().ok() }
    }

    /// Reads the keys. If that fails, those that are known stay.
    async fn read(&self) {
        self.known().tried_at = Instant::now();
        let source = Arc::clone(&self.source);
        let read = tokio::task::spawn_blocking(move || Keys::parse(&source().ok()?).ok()).await;
        if let Ok(Some(keys)) = read {
            let mut known = self.known();
            known.keys = Arc::new(keys);
            known.read_at = Instant::now();
        }
    }

    /// Lets this much time pass for the keys that are known.
    #[cfg(test)]
    pub(super) fn make_old(&self, by: std::time::Duration) {
        let mut known = self.known();
        known.read_at = known.read_at.checked_sub(by).unwrap_or(known.read_at);
        known.tried_at = known.tried_at.checked_sub(by).unwrap_or(known.tried_at);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
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
