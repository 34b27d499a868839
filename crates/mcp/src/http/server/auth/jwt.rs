//! Access tokens in the form of JWTs (RFC 9068, RFC 8725): verified first, believed afterwards.

use super::super::limits::CLOCK_SKEW_SECONDS;
use super::jwks::{Algorithm, Keys};
use crate::strict;
use data_encoding::BASE64URL_NOPAD;
use serde_json::Value;

/// What is expected of a token.
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) audience: &'a str,
    /// Seconds since 1970.
    pub(super) now: i64,
}

/// What a token says, once it was verified.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claims {
    pub(super) subject: String,
    pub(super) client: String,
    pub(super) scopes: Vec<String>,
}

/// A refusal of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not the token of this machine.
    #[error("it is not this machine's")]
    Unknown,
    /// Longer than a token may be.
    #[error("it is too long")]
    TooLong,
    /// Not three parts of base64url with JSON in them.
    #[error("it is no bearer token in the form of a JWT")]
    Shape,
    /// An algorithm that is not taken, `none` among them.
    #[error("its algorithm is none of RS256, ES256, EdDSA")]
    Algorithm,
    /// A kind of token that is no access token.
    #[error("it is no access token, or wants an extension that is not known here")]
    Kind,
    /// No key, or more than one that could be meant.
    #[error("no key of the authorization server is the one it names")]
    Key,
    /// Signed by somebody else, or changed.
    #[error("its signature is wrong")]
    Signature,
    /// By another authorization server.
    #[error("it is from another issuer")]
    Issuer,
    /// For another resource.
    #[error("it is for another audience")]
    Audience,
    /// Too late.
    #[error("it has expired")]
    Expired,
    /// Too early.
    #[error("it is not valid yet")]
    NotYet,
    /// It does not say for whom.
    #[error("it does not say for whom it is")]
    Subject,
    /// Bound to a key that a bearer cannot show.
    #[error("it is bound to a key, which cannot be checked here")]
    Bound,
}

/// Verifies a token.
pub(super) fn verify(
    token: &str,
    keys: &Keys,
    expected: &Expected<'_>,
) -> Result<Claims, TokenError> {
    let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Shape)?;
    let (header, payload) = signed.split_once('.').ok_or(TokenError::Shape)?;
    let header = part(header)?;
    let algorithm = header.get("alg").and_then(Value::as_str).and_then(Algorithm::parse);
    let algorithm = algorithm.ok_or(TokenError::Algorithm)?;
    if header.get("crit").is_some() || !is_access_token(header.get("typ")) {
        return Err(TokenError::Kind);
    }
    // Keys that the header itself brings or points to (`jwk`, `jku`, `x5c`, `x5u`) are never looked at.
    let id = match header.get("kid") {
        None => None,
        Some(id) => Some(id.as_str().ok_or(TokenError::Shape)?),
    };
    let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).map_err(|_| TokenError::Shape)?;
    match keys.verify(id, algorithm, signed.as_bytes(), &signature) {
        Some(true) => claims(&part(payload)?, expected),
        Some(false) => Err(TokenError::Signature),
        None => Err(TokenError::Key),
    }
}

fn claims(payload: &Value, expected: &Expected<'_>) -> Result<Claims, TokenError> {
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    if text("iss") != Some(expected.issuer) {
        return Err(TokenError::Issuer);
    }
    let is_for_us = match payload.get("aud") {
        Some(Value::String(one)) => one == expected.audience,
        Some(Value::Array(all)) => all.iter().any(|it| it.as_str() == Some(expected.audience)),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => false,
    };
    if !is_for_us {
        return Err(TokenError::Audience);
    }
    let until = seconds(payload, "exp")?.ok_or(TokenError::Expired)?;
    if expected.now >= until.saturating_add(CLOCK_SKEW_SECONDS) {
        return Err(TokenError::Expired);
    }
    let from = seconds(payload, "nbf")?.unwrap_or(i64::MIN);
    if expected.now < from.saturating_sub(CLOCK_SKEW_SECONDS) {
        return Err(TokenError::NotYet);
    }
    if payload.get("cnf").is_some() {
        return Err(TokenError::Bound);
    }
    let subject = text("sub").filter(|it| !it.is_empty()).ok_or(TokenError::Subject)?;
    let client = text("client_id").or_else(|| text("azp")).unwrap_or_default();
    Ok(Claims { subject: subject.to_owned(), client: client.to_owned(), scopes: scopes(payload) })
}

/// One part of a token: base64url without padding, and JSON that can be read in one way only.
fn part(text: &str) -> Result<Value, TokenError> {
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| TokenError::Shape)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| TokenError::Shape)?;
    strict::parse(text).ok().filter(Value::is_object).ok_or(TokenError::Shape)
}

fn is_access_token(kind: Option<&Value>) -> bool {
    let Some(kind) = kind else { return true };
    let kind = kind.as_str().unwrap_or_default().to_ascii_lowercase();
    let kind = kind.strip_prefix("application/").unwrap_or(&kind);
    matches!(kind, "at+jwt" | "jwt")
}

/// A time in whole seconds; one that is no number is refused.
fn seconds(payload: &Value, name: &str) -> Result<Option<i64>, TokenError> {
    let Some(value) = payload.get(name) else { return Ok(None) };
    let whole = value.as_i64();
    #[expect(clippy::cast_possible_truncation, reason = "a cast of floats ends at the largest")]
    let part = || value.as_f64().map(|it| it.floor() as i64);
    whole.or_else(part).map(Some).ok_or(TokenError::Shape)
}

/// Scopes, in either of the two ways that servers write them.
fn scopes(payload: &Value) -> Vec<String> {
    let one = payload.get("scope").and_then(Value::as_str).unwrap_or_default();
    let list = payload.get("scp").and_then(Value::as_array).into_iter().flatten();
    let more = list.filter_map(Value::as_str);
    one.split(' ').filter(|it| !it.is_empty()).chain(more).map(str::to_owned).collect()
}
