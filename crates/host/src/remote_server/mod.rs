//! MCP servers that are reached at an address, with what is sent along: header fields in which secrets are named, and the
//! token of a login, which is renewed when it ends.
//!
//! INVARIANT (BoundToHosts): a secret is given for the address that it is sent to, and credentials never follow a redirect to
//! another origin.

mod credentials;
mod endpoint;
mod fetch;
pub mod logins;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ::mcp::http::client::Remote;
use ::mcp::stdio::Server;
use zeroize::Zeroizing;

use crate::named::NamedWay;
use crate::tool_servers::Template;
use credentials::Credentials;
use endpoint::Endpoint;
pub use fetch::Found;

/// Who gives a server its secrets: each use is judged and recorded.
pub trait Keys: Send + Sync {
    /// Returns a secret, for the address that it is sent to.
    ///
    /// # Errors
    /// If it is not given.
    fn secret(&self, server: &str, name: &str, url: &str) -> Result<Zeroizing<String>, String>;

    /// Keeps new values of the tokens of a login.
    ///
    /// # Errors
    /// If they are not kept.
    fn renewed(&self, server: &str, tokens: Vec<(String, String)>) -> Result<(), String>;

    /// Hears once why a server does not work: some clients show no more than that.
    fn tell(&self, server: &str, why: &str);
}

/// What is sent along to a server.
pub struct SentAlong {
    /// Header fields.
    pub headers: Vec<(String, Template)>,
    /// Is it the token of a login, if there is one for exactly this server and address?
    pub login: bool,
}

/// Prepares a server with an address. Nothing is sent before the client says something.
#[must_use]
pub fn connect(
    home: &Path,
    server: &str,
    way: NamedWay,
    along: SentAlong,
    keys: Arc<dyn Keys>,
) -> (Remote, Server) {
    let target = way.endpoint().clone();
    let credentials = Credentials {
        server: server.to_owned(),
        url: target.url().to_string(),
        home: home.to_owned(),
        keys,
        headers: along.headers,
        login: along.login,
        filled: Mutex::new(None),
    };
    let (has_told, has_answered) = (AtomicBool::new(false), AtomicBool::new(false));
    let target = Mutex::new(target);
    let endpoint = Endpoint { way, target, credentials, has_told, has_answered };
    Remote::start(server, Arc::new(endpoint))
}
