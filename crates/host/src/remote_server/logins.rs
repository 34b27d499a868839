//! Logins at MCP servers: what is known beside the tokens, which are in the vault.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use scan::net::{Scheme, Target};
use serde::{Deserialize, Serialize};

/// The file of the state directory.
const FILE: &str = "mcp-logins.json";
/// Held by who changes it, or asks for new tokens.
const LOCK: &str = "mcp-logins.lock";
/// The longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A login at one server. It counts for exactly the address that it was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The server's address.
    pub url: String,
    /// What the tokens are for.
    pub resource: String,
    /// Who issued them.
    pub issuer: String,
    /// Where new ones are given.
    pub token_endpoint: String,
    /// As whom we are known there.
    pub client_id: String,
    /// The secret that is the access token.
    pub access: String,
    /// The secret by which new ones are asked for.
    pub refresh: Option<String>,
    /// The secret of the client, where the issuer gave one.
    pub client_secret: Option<String>,
}

/// All logins, by the servers' names.
#[derive(Default, Serialize, Deserialize)]
struct Logins(BTreeMap<String, Login>);

/// Returns the login at a server; none where it was made for another address.
///
/// # Errors
/// If what is kept cannot be read.
pub fn find(home: &Path, server: &str, url: Option<&str>) -> io::Result<Option<Login>> {
    let found = read(home)?.0.remove(server);
    Ok(found.filter(|it| url.is_none_or(|url| it.url == url)))
}

/// Keeps a login in the place of an earlier one.
///
/// # Errors
/// If it cannot be kept.
pub fn keep(home: &Path, server: &str, login: Login) -> io::Result<()> {
    let _only = lock(home)?;
    let mut all = read(home)?;
    all.0.insert(server.to_owned(), login);
    files::private::replace(&home.join(FILE), &serde_json::to_vec(&all)?)
}

/// Waits until nobody else changes logins or asks for new tokens.
pub(super) fn lock(home: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = files::private::open_with(&home.join(LOCK), options.write(true).create(true))?;
    file.lock()?;
    Ok(file)
}

fn read(home: &Path) -> io::Result<Logins> {
    let Some(bytes) = files::private::read_if_there(&home.join(FILE), FILE_BYTES_MAX)? else {
        return Ok(Logins::default());
    };
    serde_json::from_slice(&bytes).map_err(|_| {
        io::Error::other(format!("`{FILE}` is not understood; remove it and log in again"))
    })
}

/// Returns the entry of the vault that binds a secret to the origin of an address.
#[must_use]
pub fn origin(target: &Target) -> String {
    let host = target.url().host_str().unwrap_or_default();
    match (target.scheme(), target.port()) {
        (Scheme::Https, 443) => host.to_owned(),
        (scheme, port) => format!("{}://{host}:{port}", scheme.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_counts_for_the_address_that_it_was_made_for() {
        let home = tempfile::tempdir().unwrap();
        let login = Login {
            url: "https://a.example/mcp".to_owned(),
            resource: "https://a.example".to_owned(),
            issuer: "https://i.example".to_owned(),
            token_endpoint: "https://i.example/token".to_owned(),
            client_id: "c".to_owned(),
            access: "MCP_A".to_owned(),
            refresh: None,
            client_secret: None,
        };
        keep(home.path(), "a", login.clone()).unwrap();
        let found = |server: &str, url| find(home.path(), server, url).unwrap();
        assert_eq!(found("a", Some("https://a.example/mcp")), Some(login.clone()));
        assert_eq!(found("a", None), Some(login));
        assert_eq!(found("a", Some("https://evil.example/mcp")), None);
        assert_eq!(found("b", Some("https://a.example/mcp")), None);
    }
}
