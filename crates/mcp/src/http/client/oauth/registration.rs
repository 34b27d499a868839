//! Dynamic registration (RFC 7591): a client makes itself known to an issuer.

use super::grant::redirect_uri;
use super::{Fetch, TokenError};
use serde::Deserialize;
use serde_json::json;
use url::Url;
use zeroize::Zeroizing;

/// Bytes of a client's id.
const CLIENT_ID_BYTES_MAX: usize = 1024;

/// A client, as an issuer knows it.
pub struct Registered {
    /// Its id.
    pub client_id: String,
    /// Its secret, where the issuer gives one although none was asked for.
    pub client_secret: Option<Zeroizing<String>>,
}

#[derive(Deserialize)]
struct Answer {
    client_id: String,
    client_secret: Option<String>,
}

/// Makes us known at an issuer, for a login that comes back to this port of this machine.
///
/// # Errors
/// If the issuer refuses.
pub fn register(fetch: &dyn Fetch, endpoint: &Url, port: u16) -> Result<Registered, TokenError> {
    let wanted = json!({
        "client_name": "Lazaret",
        "redirect_uris": [redirect_uri(port)],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    let body = Zeroizing::new(wanted.to_string());
    let fetched =
        fetch.post(endpoint, "application/json", body).map_err(TokenError::Unreachable)?;
    if !matches!(fetched.status, 200 | 201) {
        return Err(TokenError::Refused(fetched.status));
    }
    let answer: Answer = serde_json::from_slice(&fetched.body).map_err(|_| TokenError::Unusable)?;
    let is_plain = answer.client_id.bytes().all(|it| (0x21..0x7f).contains(&it));
    if answer.client_id.is_empty() || answer.client_id.len() > CLIENT_ID_BYTES_MAX || !is_plain {
        return Err(TokenError::Unusable);
    }
    let client_secret = answer.client_secret.filter(|it| !it.is_empty()).map(Zeroizing::new);
    Ok(Registered { client_id: answer.client_id, client_secret })
}
