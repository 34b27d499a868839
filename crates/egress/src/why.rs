//! Why an exchange failed, in our own words.
//!
//! INVARIANT (NoEcho): what a server sends with an error, as the debug data of a GOAWAY, is no part of any
//! sentence. An error text stands outside the marks and in the journal, so each is one of those below.

use std::error::Error;
use std::io;

/// What a failed exchange comes down to.
pub(crate) fn why(error: &(dyn Error + 'static)) -> &'static str {
    let mut found = None;
    let mut next = Some(error);
    while let Some(error) = next {
        // The innermost that is known says it best.
        found = said(error).or(found);
        next = error.source();
    }
    found.unwrap_or("the exchange failed")
}

fn said(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<h2::Error>() {
        return Some(of_http2(error));
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return Some(of_io(error.kind()));
    }
    error.downcast_ref::<hyper::Error>().map(of_hyper)
}

fn of_hyper(error: &hyper::Error) -> &'static str {
    if error.is_parse_too_large() {
        "the head of the answer is too long"
    } else if error.is_parse() {
        "the answer is not HTTP"
    } else if error.is_incomplete_message() {
        "the connection ended before the answer was whole"
    } else if error.is_timeout() {
        "nothing came any more"
    } else if error.is_canceled() || error.is_closed() || error.is_shutdown() {
        "the connection was closed"
    } else if error.is_user() || error.is_body_write_aborted() {
        "the request could not be sent as a whole"
    } else {
        "the connection broke off"
    }
}

fn of_http2(error: &h2::Error) -> &'static str {
    if let Some(error) = error.get_io() {
        return of_io(error.kind());
    }
    if error.is_remote() && error.is_go_away() {
        return match error.reason() {
            Some(h2::Reason::NO_ERROR) => "the server ended the connection",
            Some(h2::Reason::ENHANCE_YOUR_CALM) => "the server wants to be asked less",
            Some(_) | None => "the server ended the connection with an error",
        };
    }
    if error.is_remote() && error.is_reset() {
        return match error.reason() {
            Some(h2::Reason::REFUSED_STREAM) => "the server refused the request",
            Some(h2::Reason::HTTP_1_1_REQUIRED) => "the server wants HTTP/1.1",
            Some(_) | None => "the server took its answer back",
        };
    }
    if error.is_library() { "the server broke the rules of HTTP/2" } else { "HTTP/2 failed" }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library's enum, for a sentence and no decision"
)]
fn of_io(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::ConnectionReset => "the server reset the connection",
        io::ErrorKind::TimedOut => "nothing came any more",
        io::ErrorKind::UnexpectedEof => "the connection ended before the answer was whole",
        // What [`crate::wire`] says.
        io::ErrorKind::QuotaExceeded => "the server sent far more than an answer",
        io::ErrorKind::ConnectionAborted => "the connection was closed",
        _ => "the connection broke off",
    }
}
