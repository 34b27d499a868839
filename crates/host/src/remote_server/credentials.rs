//! What is sent along to a server: header fields of the configuration, and the token of a login.
//!
//! Values come from the vault, by whoever binds each to the server's origin and records each use.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ::mcp::http::client::WebError;
use ::mcp::http::client::oauth;
use url::Url;
use zeroize::Zeroizing;

use super::Keys;
use super::fetch::Found;
use super::logins::{self, Login};
use crate::named::NamedWay;
use crate::tool_servers::Template;

/// What is sent along to one server.
pub(super) struct Credentials {
    pub(super) server: String,
    /// The server's address, as secrets are bound to it.
    pub(super) url: String,
    pub(super) home: PathBuf,
    pub(super) keys: Arc<dyn Keys>,
    pub(super) headers: Vec<(String, Template)>,
    /// Is the token of a login sent along, if there is one?
    pub(super) login: bool,
    pub(super) filled: Mutex<Option<Arc<Filled>>>,
}

/// The fields as they are sent.
#[derive(PartialEq, Eq)]
pub(super) struct Filled(pub(super) Vec<(String, Zeroizing<String>)>);

impl Credentials {
    /// Returns the fields, from the vault when they are needed first.
    pub(super) fn fields(&self) -> Result<Arc<Filled>, WebError> {
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(filled) = &*filled {
            return Ok(Arc::clone(filled));
        }
        let new = Arc::new(self.fill()?);
        *filled = Some(Arc::clone(&new));
        Ok(new)
    }

    /// Gets new values after the server refused those that were `used`; `false` where there are no others.
    pub(super) fn renew(&self, used: &Filled, way: &NamedWay) -> Result<bool, WebError> {
        let failed = |error: &dyn std::fmt::Display| WebError(error.to_string());
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        if filled.as_ref().is_some_and(|it| **it != *used) {
            // Somebody else was refused before, and has renewed them.
            return Ok(true);
        }
        let login = self.login()?;
        let _only = match login {
            // A token by which new ones are asked for is often good for one time.
            Some(_) => Some(logins::lock(&self.home).map_err(|error| failed(&error))?),
            None => None,
        };
        let mut new = self.fill()?;
        if let Some(login) = login.filter(|_| new == *used) {
            let Some(tokens) = self.refreshed(&login, way)? else { return Ok(false) };
            let mut kept = vec![(login.access.clone(), tokens.access.to_string())];
            let refresh = login.refresh.clone().zip(tokens.refresh.map(|it| it.to_string()));
            kept.extend(refresh);
            self.keys.renewed(&self.server, kept).map_err(WebError)?;
            new = self.fill()?;
        }
        let is_other = new != *used;
        *filled = Some(Arc::new(new));
        Ok(is_other)
    }

    fn login(&self) -> Result<Option<Login>, WebError> {
        // A header of the configuration is the operator's own word.
        if !self.login || self.headers.iter().any(|it| it.0.eq_ignore_ascii_case("authorization")) {
            return Ok(None);
        }
        logins::find(&self.home, &self.server, Some(&self.url))
            .map_err(|error| WebError(error.to_string()))
    }

    fn fill(&self) -> Result<Filled, WebError> {
        let secret = |name: &str| self.keys.secret(&self.server, name, &self.url);
        let mut all = Vec::new();
        for (name, template) in &self.headers {
            let value = template.fill(|it| secret(it.as_str())).map_err(WebError)?;
            all.push((name.clone(), value));
        }
        if let Some(login) = self.login()? {
            let token = secret(&login.access).map_err(WebError)?;
            let value = Zeroizing::new(format!("Bearer {}", token.as_str()));
            all.push(("authorization".to_owned(), value));
        }
        Ok(Filled(all))
    }

    /// Asks the issuer for new tokens, once.
    fn refreshed(&self, login: &Login, way: &NamedWay) -> Result<Option<oauth::Tokens>, WebError> {
        let Some(refresh) = &login.refresh else { return Ok(None) };
        let endpoint = Url::parse(&login.token_endpoint)
            .map_err(|_| WebError("the login is not understood; log in again".to_owned()))?;
        // For the issuer alone: they are given for no other address.
        let secret = |name: &str| {
            self.keys.secret(&self.server, name, &login.token_endpoint).map_err(WebError)
        };
        let token = secret(refresh)?;
        let client_secret = login.client_secret.as_deref().map(secret).transpose()?;
        let client = (login.client_id.as_str(), client_secret.as_deref().map(String::as_str));
        let fetch = Found { way };
        match oauth::refresh(&fetch, &endpoint, client, &login.resource, &token) {
            Ok(tokens) => Ok(Some(tokens)),
            Err(oauth::TokenError::Refused(_)) => Ok(None),
            Err(error) => Err(WebError(error.to_string())),
        }
    }
}
