//! Tokens: asked for with a code or with an older one, and read with care.

use super::Fetch;
use super::grant::{Code, Pending};
use serde_json::Value;
use url::{Url, form_urlencoded};
use zeroize::Zeroizing;

/// Bytes of the longest token.
pub const TOKEN_BYTES_MAX: usize = 32 * 1024;
/// Bytes of the shortest token: one that is shorter could not be taken out of texts.
pub const TOKEN_BYTES_MIN: usize = 8;
/// Bytes of room for a form, so that it never moves and leaves no copy behind.
const FORM_ROOM: usize = 128 * 1024;

/// Tokens for one resource.
pub struct Tokens {
    /// By which requests are made.
    pub access: Zeroizing<String>,
    /// By which new ones are asked for.
    pub refresh: Option<Zeroizing<String>>,
}

/// A failure to get tokens. It says nothing of what the issuer answered, which may repeat what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// Nobody answered, or the address is refused.
    #[error("the issuer could not be asked for a token: {0}")]
    Unreachable(String),
    /// It refused.
    #[error("the issuer gave no token (HTTP {0}); log in again")]
    Refused(u16),
    /// It gave something else.
    #[error("what the issuer gave is no bearer token that can be used")]
    Unusable,
}

impl Pending {
    /// Gets tokens for a code.
    ///
    /// # Errors
    /// If the issuer gives none.
    pub fn redeem(
        &self,
        fetch: &dyn Fetch,
        code: &Code,
        client_secret: Option<&str>,
    ) -> Result<Tokens, TokenError> {
        let issuer = &self.discovered().issuer;
        ask(fetch, &issuer.token_endpoint, self.form(code, client_secret))
    }
}

/// Gets new tokens for the same resource.
///
/// # Errors
/// If the issuer gives none.
pub fn refresh(
    fetch: &dyn Fetch,
    token_endpoint: &Url,
    (client_id, client_secret): (&str, Option<&str>),
    resource: &str,
    token: &str,
) -> Result<Tokens, TokenError> {
    let form = form(&[
        ("grant_type", "refresh_token"),
        ("refresh_token", token),
        ("client_id", client_id),
        ("resource", resource),
        ("client_secret", client_secret.unwrap_or_default()),
    ]);
    ask(fetch, token_endpoint, form)
}

/// Writes a form; members without a value are left out.
pub(super) fn form(members: &[(&str, &str)]) -> Zeroizing<String> {
    let mut form = form_urlencoded::Serializer::new(String::with_capacity(FORM_ROOM));
    form.extend_pairs(members.iter().filter(|it| !it.1.is_empty()));
    Zeroizing::new(form.finish())
}

fn ask(fetch: &dyn Fetch, url: &Url, form: Zeroizing<String>) -> Result<Tokens, TokenError> {
    let media_type = "application/x-www-form-urlencoded";
    let fetched = fetch.post(url, media_type, form).map_err(TokenError::Unreachable)?;
    if fetched.status != 200 {
        return Err(TokenError::Refused(fetched.status));
    }
    let mut value: Value =
        serde_json::from_slice(&fetched.body).map_err(|_| TokenError::Unusable)?;
    let mut take = |name: &str| match value.get_mut(name).map(Value::take) {
        Some(Value::String(text)) => Some(Zeroizing::new(text)),
        Some(_) | None => None,
    };
    let kind = take("token_type").unwrap_or_default();
    let access = take("access_token").filter(is_usable).ok_or(TokenError::Unusable)?;
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err(TokenError::Unusable);
    }
    Ok(Tokens { access, refresh: take("refresh_token").filter(is_usable) })
}

/// Can it stand in a header, and be kept?
fn is_usable(token: &Zeroizing<String>) -> bool {
    (TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&token.len())
        && token.bytes().all(|it| (0x21..0x7f).contains(&it))
}
