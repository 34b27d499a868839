//! Logins at MCP servers: what is known beside the tokens, which are in the vault.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use data_encoding::HEXLOWER;
use host::doors::mcp::LOGIN_PREFIX;
use scan::net::{Scheme, Target};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The file of the state directory.
const FILE: &str = "mcp-logins.json";
/// Held by who changes it, or asks for new tokens.
const LOCK: &str = "mcp-logins.lock";
/// The longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Bytes of a digest that tell the secrets of two logins apart.
const DIGEST_BYTES: usize = 4;

/// A login at one server. It counts for exactly the address that it was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    /// The server's address.
    pub(super) url: String,
    /// What the tokens are for.
    pub(super) resource: String,
    /// Who issued them.
    pub(super) issuer: String,
    /// Where new ones are given.
    pub(super) token_endpoint: String,
    /// As whom we are known there.
    pub(super) client_id: String,
    /// The secret that is the access token.
    pub(super) access: String,
    /// The secret by which new ones are asked for.
    pub(super) refresh: Option<String>,
    /// The secret of the client, where the issuer gave one.
    pub(super) client_secret: Option<String>,
}

/// All logins, by the servers' names.
#[derive(Default, Serialize, Deserialize)]
struct Logins(BTreeMap<String, Login>);

/// Returns the login at a server; none where it was made for another address.
pub(super) fn find(home: &Path, server: &str, url: Option<&str>) -> io::Result<Option<Login>> {
    let found = read(home)?.0.remove(server);
    Ok(found.filter(|it| url.is_none_or(|url| it.url == url)))
}

/// Keeps a login in the place of an earlier one.
pub(super) fn keep(home: &Path, server: &str, login: Login) -> io::Result<()> {
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

/// Returns the name of a secret of a login: no two servers and no two addresses share one.
pub(super) fn secret_name(server: &str, url: &str, what: &str) -> String {
    let digest = Sha256::digest(format!("{server}\0{url}").as_bytes());
    let digest = HEXLOWER.encode(digest.get(..DIGEST_BYTES).unwrap_or_default());
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' };
    let server: String = server.chars().map(plain).collect();
    format!("{LOGIN_PREFIX}{server}_{digest}_{what}")
}

/// Returns the entry of the vault that binds a secret to the origin of an address.
pub(super) fn origin(target: &Target) -> String {
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
    fn secrets_of_two_servers_or_addresses_never_share_a_name() {
        let name = |server: &str, url: &str| secret_name(server, url, "ACCESS");
        let one = name("a.b", "https://a.example/mcp");
        assert!(one.starts_with("MCP_A_B_") && one.ends_with("_ACCESS"), "{one}");
        assert!(vault::Name::parse(&one).is_ok());
        assert_ne!(one, name("a-b", "https://a.example/mcp"));
        assert_ne!(one, name("a.b", "https://a.example/mcp2"));
    }

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
