//! The way to a messenger, as this crate needs it. It opens nothing itself.

use std::time::Duration;

pub use model::WireError;
use serde_json::Value;

/// The longest answer of a messenger that is read, in bytes.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Asks one messenger, with the token by which it knows us.
pub trait Wire {
    /// Asks, and gives the whole answer. Redirects are not followed.
    ///
    /// # Errors
    /// If there is no token, the address is refused, nobody answers in time, or the answer has no end.
    fn ask(&self, request: &Request) -> Result<Response, WireError>;
}

/// A question to a messenger. The token is not in it: who carries it puts that in.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// How it is asked.
    pub verb: Verb,
    /// The path beneath the messenger's address, behind the token if that stands in the path, with its query.
    pub path: String,
    /// Where the token stands.
    pub token: TokenPlace,
    /// What is sent along.
    pub body: Option<Value>,
    /// How long the answer may take.
    pub wait: Duration,
}

/// A way of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// For something.
    Get,
    /// To take something.
    Post,
}

/// Where the token of a question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenPlace {
    /// At the beginning of the path, behind this.
    Path(&'static str),
    /// In the field `authorization`, behind this.
    Header(&'static str),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// The field `retry-after`, in seconds.
    pub retry_after: Option<u64>,
    /// The body, at most [`ANSWER_BYTES_MAX`].
    pub body: Vec<u8>,
}
