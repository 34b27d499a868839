//! A person's login: the address to open, and what comes back.

use super::Discovered;
use super::metadata::shown;
use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use url::{Url, form_urlencoded};
use zeroize::Zeroizing;

/// Where a person comes back to, at a port of this machine.
pub const CALLBACK_PATH: &str = "/callback";
/// Bytes of randomness of what nobody may guess.
const RANDOM_BYTES: usize = 32;
/// Bytes of what comes back.
const QUERY_BYTES_MAX: usize = 8192;

/// A login that waits for the person to come back.
pub struct Pending {
    discovered: Discovered,
    client_id: String,
    redirect_uri: String,
    state: Zeroizing<String>,
    verifier: Zeroizing<String>,
}

/// A code that tokens are given for, once.
pub struct Code(pub(super) Zeroizing<String>);

/// A refusal of what came back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// No randomness.
    #[error("the system gave no random bytes, so no login can be told from another")]
    Random,
    /// Another login, or nobody's.
    #[error("what came back is not of this login (its `state` differs); nothing was done with it")]
    State,
    /// Another issuer.
    #[error("`{0}` came back and not the issuer that was asked; nothing was done with its code")]
    Issuer(String),
    /// The issuer refused.
    #[error("the issuer refused: {0}")]
    Refused(String),
    /// There is no code.
    #[error("what came back holds no code, or two; log in again")]
    NoCode,
}

impl Pending {
    /// Prepares a login of `client_id`, to come back to this port of this machine.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn new(discovered: Discovered, client_id: &str, port: u16) -> Result<Self, GrantError> {
        Ok(Self {
            discovered,
            client_id: client_id.to_owned(),
            redirect_uri: redirect_uri(port),
            state: random()?,
            verifier: random()?,
        })
    }

    /// Returns what was found out about the server.
    #[must_use]
    pub fn discovered(&self) -> &Discovered {
        &self.discovered
    }

    /// Returns the address that the person opens.
    #[must_use]
    pub fn authorization_url(&self) -> Url {
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(self.verifier.as_bytes()));
        let mut url = self.discovered.issuer.authorization_endpoint.clone();
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", &self.redirect_uri)
            .append_pair("state", &self.state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &self.discovered.resource);
        if let Some(scope) = &self.discovered.scope {
            query.append_pair("scope", scope);
        }
        drop(query);
        url
    }

    /// Checks what came back, as the query of the address that the person came back to: that it is of this login and of
    /// the issuer that was asked.
    ///
    /// # Errors
    /// If it is not, or holds no code.
    pub fn check(&self, query: &str) -> Result<Code, GrantError> {
        let query = query.get(..QUERY_BYTES_MAX).unwrap_or(query);
        let one = |name: &str| {
            let mut all = form_urlencoded::parse(query.as_bytes()).filter(|it| it.0 == name);
            let first = all.next().map(|it| it.1.into_owned());
            // One that is there twice is read in two ways.
            if all.next().is_some() { None } else { first }
        };
        let state = Zeroizing::new(one("state").unwrap_or_default());
        if !bool::from(state.as_bytes().ct_eq(self.state.as_bytes())) {
            return Err(GrantError::State);
        }
        let issuer = &self.discovered.issuer;
        let names_one = form_urlencoded::parse(query.as_bytes()).any(|it| it.0 == "iss");
        if names_one || issuer.says_its_name {
            let said = one("iss").unwrap_or_default();
            if said != issuer.name {
                return Err(GrantError::Issuer(shown(&said)));
            }
        }
        if let Some(error) = one("error") {
            return Err(GrantError::Refused(shown(&error)));
        }
        let code = one("code").filter(|it| !it.is_empty()).ok_or(GrantError::NoCode)?;
        Ok(Code(Zeroizing::new(code)))
    }

    /// Returns the form by which tokens are asked for.
    pub(super) fn form(&self, code: &Code, client_secret: Option<&str>) -> Zeroizing<String> {
        super::token::form(&[
            ("grant_type", "authorization_code"),
            ("code", &code.0),
            ("redirect_uri", &self.redirect_uri),
            ("client_id", &self.client_id),
            ("code_verifier", &self.verifier),
            ("resource", &self.discovered.resource),
            ("client_secret", client_secret.unwrap_or_default()),
        ])
    }
}

/// Returns the address on this machine that a person comes back to. By its number: a name could lead elsewhere.
pub(super) fn redirect_uri(port: u16) -> String {
    format!("http://127.0.0.1:{port}{CALLBACK_PATH}")
}

fn random() -> Result<Zeroizing<String>, GrantError> {
    let mut bytes = Zeroizing::new([0; RANDOM_BYTES]);
    getrandom::fill(&mut *bytes).map_err(|_| GrantError::Random)?;
    Ok(Zeroizing::new(BASE64URL_NOPAD.encode(&*bytes)))
}

#[cfg(test)]
mod tests {
    use super::super::Issuer;
    use super::*;

    fn pending(says_its_name: bool) -> Pending {
        let url = |text: &str| Url::parse(text).unwrap();
        let issuer = Issuer {
            name: "https://issuer.example".to_owned(),
            authorization_endpoint: url("https://issuer.example/authorize?tenant=1"),
            token_endpoint: url("https://issuer.example/token"),
            registration_endpoint: None,
            says_its_name,
        };
        let resource = "https://a.example/mcp".to_owned();
        let discovered = Discovered { resource, scope: Some("files".to_owned()), issuer };
        Pending::new(discovered, "client-1", 4711).unwrap()
    }

    #[test]
    fn the_address_binds_the_login_to_the_resource_and_the_verifier() {
        let pending = pending(false);
        let url = pending.authorization_url();
        let asked: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let one = |name: &str| asked.iter().find(|it| it.0 == name).unwrap().1.clone();
        assert_eq!((one("tenant"), one("code_challenge_method")), ("1".into(), "S256".into()));
        assert_eq!(one("resource"), "https://a.example/mcp");
        assert_eq!(one("redirect_uri"), "http://127.0.0.1:4711/callback");
        let digest = BASE64URL_NOPAD.encode(&Sha256::digest(pending.verifier.as_bytes()));
        assert_eq!(one("code_challenge"), digest);
        assert!(!url.as_str().contains(pending.verifier.as_str()));
    }

    #[test]
    fn what_comes_back_is_of_this_login_and_of_the_issuer_that_was_asked() {
        let pending = pending(false);
        let state = pending.state.clone();
        let state = state.as_str();
        let check = |query: String| pending.check(&query).map(|it| it.0.to_string());
        assert_eq!(check(format!("state={state}&code=c1")), Ok("c1".to_owned()));
        let named = format!("state={state}&code=c1&iss=https%3A%2F%2Fissuer.example");
        assert_eq!(check(named.clone()), Ok("c1".to_owned()));
        for (query, error) in [
            ("code=c1".to_owned(), GrantError::State),
            ("state=&code=c1".to_owned(), GrantError::State),
            ("state=x&code=c1".to_owned(), GrantError::State),
            (format!("state={state}&state={state}&code=c1"), GrantError::State),
            (format!("state={state}&code=c1&code=c2"), GrantError::NoCode),
            (format!("state={state}"), GrantError::NoCode),
            (
                format!("state={state}&code=c1&iss=https%3A%2F%2Fevil.example"),
                GrantError::Issuer("https://evil.example".to_owned()),
            ),
            (
                format!("{named}&iss=https%3A%2F%2Fissuer.example"),
                GrantError::Issuer(String::new()),
            ),
            (
                format!("state={state}&error=access_denied"),
                GrantError::Refused("access_denied".to_owned()),
            ),
        ] {
            assert_eq!(check(query.clone()), Err(error), "{query}");
        }
    }

    #[test]
    fn an_issuer_that_says_its_name_must_say_it() {
        let pending = pending(true);
        let query = format!("state={}&code=c1", pending.state.as_str());
        assert_eq!(pending.check(&query).err(), Some(GrantError::Issuer(String::new())));
    }
}
