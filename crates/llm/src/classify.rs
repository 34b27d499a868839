//! What kind of failure an API's error is: by its status, and by the words that stand in fields for programs.

use std::time::Duration;

use serde_json::Value;

use crate::attempt::Failure;
use crate::error::{ErrorKind, LlmError};
use crate::router::REST_MAX;

/// Values of `type` and `code` in errors of the APIs, and what they mean whatever the status is.
const WORDS: &[(&str, ErrorKind)] = &[
    ("authentication_error", ErrorKind::InvalidKey),
    ("permission_error", ErrorKind::InvalidKey),
    ("invalid_api_key", ErrorKind::InvalidKey),
    ("rate_limit_error", ErrorKind::RateLimited),
    ("rate_limit_exceeded", ErrorKind::RateLimited),
    ("insufficient_quota", ErrorKind::RateLimited),
    ("overloaded_error", ErrorKind::Overloaded),
    ("api_error", ErrorKind::Overloaded),
    ("server_error", ErrorKind::Overloaded),
    ("timeout_error", ErrorKind::Overloaded),
    ("context_length_exceeded", ErrorKind::ContextTooLong),
    ("exceed_context_size_error", ErrorKind::ContextTooLong),
    ("request_too_large", ErrorKind::ContextTooLong),
    ("content_filter", ErrorKind::Refused),
    ("content_policy_violation", ErrorKind::Refused),
];
/// How APIs that have no word for it say that a conversation is too long, in their own messages.
const TOO_LONG: &[&str] = &["prompt is too long", "maximum context length", "context window"];

/// The failure that an answer with this status and body is.
pub(crate) fn by_status(status: u16, body: &str, retry_after: Option<&str>) -> Failure {
    let told = Told::of(body);
    let (kind, passes_on) = match status {
        401 | 403 => (ErrorKind::InvalidKey, false),
        408 => (ErrorKind::Unreachable, true),
        409 => (ErrorKind::Overloaded, true),
        429 => (ErrorKind::RateLimited, true),
        413 => (ErrorKind::ContextTooLong, false),
        // A key goes to no other address.
        300..=399 => (ErrorKind::Unreachable, true),
        400..=499 => (told.kind_of_request(), false),
        500.. => (ErrorKind::Overloaded, true),
        _ => (ErrorKind::Unreachable, true),
    };
    let detail = format!("{status} {}", told.message);
    Failure { error: LlmError::new(kind, detail), passes_on, retry_after: seconds(retry_after) }
}

/// The failure that an error in the middle of a stream is.
pub(crate) fn in_stream(error: &Value) -> Failure {
    let told = Told::new(error);
    let kind = told.word.unwrap_or(ErrorKind::Overloaded);
    let passes_on = match kind {
        ErrorKind::Overloaded | ErrorKind::RateLimited | ErrorKind::Unreachable => true,
        ErrorKind::InvalidKey
        | ErrorKind::ContextTooLong
        | ErrorKind::Refused
        | ErrorKind::Invalid => false,
    };
    Failure { error: LlmError::new(kind, told.message), passes_on, retry_after: None }
}

/// What an API says of its error.
struct Told {
    message: String,
    word: Option<ErrorKind>,
    too_long: bool,
}

impl Told {
    fn of(body: &str) -> Self {
        match model::ipc::read_json(body.as_bytes()) {
            Ok(value) => Self::new(value.get("error").unwrap_or(&value)),
            Err(_) => Self { message: body.to_owned(), word: None, too_long: false },
        }
    }

    fn new(error: &Value) -> Self {
        let of = |name: &str| error.get(name).and_then(Value::as_str);
        let message = of("message").or_else(|| error.as_str()).unwrap_or_default().to_owned();
        let words = ["code", "type"].into_iter().filter_map(of);
        let known = |word: &str| WORDS.iter().find(|it| it.0 == word).map(|it| it.1);
        let word = words.into_iter().find_map(known);
        let small = message.to_ascii_lowercase();
        let too_long = TOO_LONG.iter().any(|it| small.contains(it));
        Self { message, word, too_long }
    }

    /// The kind of an error that says the request is wrong.
    fn kind_of_request(&self) -> ErrorKind {
        match self.word {
            Some(kind @ (ErrorKind::ContextTooLong | ErrorKind::Refused)) => kind,
            Some(_) | None if self.too_long => ErrorKind::ContextTooLong,
            Some(_) | None => ErrorKind::Invalid,
        }
    }
}

/// A wait in whole seconds. A date is not read: what is longer than we would wait counts as that anyway.
fn seconds(text: Option<&str>) -> Option<Duration> {
    let seconds: f64 = text?.trim().parse().ok()?;
    let is_wait = seconds.is_finite() && seconds >= 0.0;
    is_wait.then(|| Duration::from_secs_f64(seconds.min(REST_MAX.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_a_number_of_seconds_within_bounds() {
        assert_eq!(seconds(Some("20")), Some(Duration::from_secs(20)));
        assert_eq!(seconds(Some(" 0.5 ")), Some(Duration::from_millis(500)));
        assert_eq!(seconds(Some("1e300")), Some(REST_MAX));
        for none in ["-1", "NaN", "inf", "Wed, 21 Oct 2026 07:28:00 GMT", ""] {
            assert_eq!(seconds(Some(none)), None, "{none}");
        }
    }
}
