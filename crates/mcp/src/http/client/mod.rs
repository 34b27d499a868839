//! Servers that are reached at an address, made to look like servers on pipes.
//!
//! [`Remote::start`] gives a [`stdio::Server`](crate::stdio::Server): each line that is written to it becomes a POST, and
//! each message that comes back, as JSON or as an event of a stream, becomes a line. No sockets are opened here: whoever
//! implements [`Web`] does, vets the address, and adds the credentials.
//!
//! INVARIANT (HarmsItself): a server that hangs, floods or breaks off uses up its own exchanges, queue and time, and
//! nobody else's.

mod exchange;
mod fields;
mod limits;
mod link;
pub mod oauth;
mod pipe;
mod session;
pub mod sse;
mod standing;

pub use fields::encoded_value;
pub use limits::*;
pub use link::Remote;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A way to one server: it alone knows the address and the credentials.
pub trait Web: Send + Sync {
    /// Sends a request to the server's endpoint, and returns the answer as soon as its head is there. It gives up early
    /// where `is_cancelled` is set meanwhile.
    ///
    /// # Errors
    /// If the request is refused, or nobody answers.
    fn send(&self, request: &Request, is_cancelled: &AtomicBool) -> Result<Answer, WebError>;
}

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Verb {
    Get,
    Post,
    Delete,
}

/// A request to the server's endpoint.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub verb: Verb,
    /// Header fields; none of them is a secret.
    pub headers: Vec<(&'static str, String)>,
    /// Further header fields, whose names the server's schemas choose: `Mcp-Param-…`.
    pub parameters: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Time until the head of the answer is there.
    pub wait: Duration,
}

/// An answer, whose body is still to come.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Header fields, names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Box<dyn Body>,
}

impl Answer {
    /// Returns the value of a header field, by its name in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// Returns the media type, without parameters, in small letters.
    #[must_use]
    pub fn media_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }
}

/// A body that comes in pieces.
pub trait Body: Send {
    /// Waits so long for the next piece.
    ///
    /// # Errors
    /// If it broke off.
    fn next(&mut self, wait: Duration) -> Result<Piece, WebError>;
}

/// A piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Some bytes.
    Data(Vec<u8>),
    /// Nothing came in time.
    Still,
    /// The body is whole.
    End,
}

/// A failure to reach a server, in a sentence that holds nothing secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WebError(pub String);

/// Reads a body to its end.
///
/// # Errors
/// If it breaks off, takes longer than [`BODY_WAIT`], has more than `bytes_max`, or nobody wants it any more.
pub fn read_all(
    body: &mut dyn Body,
    bytes_max: usize,
    is_cancelled: &AtomicBool,
) -> Result<Vec<u8>, WebError> {
    let (mut all, end) = (Vec::new(), Instant::now() + BODY_WAIT);
    while Instant::now() < end && !is_cancelled.load(Ordering::SeqCst) {
        match body.next(LOOK)? {
            Piece::Data(data) if all.len().saturating_add(data.len()) > bytes_max => {
                return Err(WebError(format!("the answer has more than {bytes_max} bytes")));
            }
            Piece::Data(data) => all.extend_from_slice(&data),
            Piece::Still => {}
            Piece::End => return Ok(all),
        }
    }
    Err(WebError("the answer took too long".to_owned()))
}

/// Waits a moment for the end of a body of which nothing more is wanted: a connection that was read to the end of an answer
/// serves the next request.
fn leave(body: &mut dyn Body) {
    let end = Instant::now() + LEAVE_WAIT;
    let mut bytes = 0_usize;
    while Instant::now() < end && bytes < LEAVE_BYTES_MAX {
        match body.next(LEAVE_WAIT) {
            Ok(Piece::Data(data)) => bytes = bytes.saturating_add(data.len()),
            Ok(Piece::Still) => {}
            Ok(Piece::End) | Err(_) => return,
        }
    }
}
