//! OAuth 2.1 as a client of MCP servers: discovery, a person's login, tokens.
//!
//! What a server says is believed in one direction only: it names who issues its tokens (RFC 9728), the issuer names its
//! own endpoints (RFC 8414), and each document is about the very thing that it was asked for. Tokens are for one
//! resource (RFC 8707). No sockets are opened here: whoever implements [`Fetch`] vets every address.

mod challenge;
mod grant;
mod metadata;
mod registration;
mod token;

pub use challenge::Challenge;
pub use grant::{CALLBACK_PATH, Code, GrantError, Pending};
pub use metadata::{Discovered, DiscoveryError, Issuer, discover};
pub use registration::{Registered, register};
pub use token::{TOKEN_BYTES_MAX, TOKEN_BYTES_MIN, TokenError, Tokens, refresh};

use url::Url;
use zeroize::Zeroizing;

/// Bytes of a document of a server or an issuer.
pub const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of an address within one.
pub const URL_BYTES_MAX: usize = 2048;

/// A way to servers that were found and not named: every address is vetted, and no redirect is followed.
pub trait Fetch {
    /// Gets a document.
    ///
    /// # Errors
    /// If the address is refused, or nobody answers.
    fn get(&self, url: &Url) -> Result<Fetched, String>;

    /// Posts a form or a document.
    ///
    /// # Errors
    /// As [`Fetch::get`].
    fn post(&self, url: &Url, media_type: &str, body: Zeroizing<String>)
    -> Result<Fetched, String>;
}

/// An answer.
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// The body, of at most [`DOCUMENT_BYTES_MAX`].
    pub body: Zeroizing<Vec<u8>>,
}

/// Reads an address of a document: https, or plain http on this machine, where nobody listens in between. Nothing else
/// is ever opened or shown.
fn address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok().filter(|_| text.len() <= URL_BYTES_MAX)?;
    let is_here = match url.host()? {
        url::Host::Domain(name) => name == "localhost",
        url::Host::Ipv4(it) => it.is_loopback(),
        url::Host::Ipv6(it) => it.is_loopback(),
    };
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_here);
    let is_plain = url.username().is_empty() && url.password().is_none();
    (is_safe && is_plain && url.fragment().is_none()).then_some(url)
}
