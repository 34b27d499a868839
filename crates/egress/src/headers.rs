//! Header fields: which a caller may set, and which go on to another host.

use hyper::HeaderMap;
use hyper::header::{CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING};
use scan::net::{Refused, Rule, Target};

use crate::client::AskError;

/// Fields that say who speaks, with whom, or how a message is framed. They are ours to set or nobody's.
const NOT_FOR_CALLERS: &[&str] = &[
    "accept-encoding",
    "client-ip",
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "true-client-ip",
    "upgrade",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-forwarded",
    "x-host",
    "x-http-method",
    "x-http-method-override",
    "x-identity-header",
    "x-method-override",
    "x-real-ip",
    "x-vault-request",
];
/// The same by how they begin.
const NOT_FOR_CALLERS_BEGINNING: &[&str] =
    &["cf-connecting-", "proxy-", "sec-", "x-forwarded-", "x-original-", "x-rewrite-"];
/// By this in their name the keepers of credentials of clouds know their own.
const KEEPERS: &str = "metadata";
/// Fields that say nothing of who asks, and may go on to a host that they were not meant for. Of any other
/// nobody can know whether it is a key.
const GO_ON: &[&str] = &["accept", "accept-language", "cache-control", "pragma", "user-agent"];

/// The fields that a caller wants, if it may have all of them.
///
/// # Errors
/// Of the first that it may not set, or that is none.
pub(crate) fn of_caller<'a>(
    fields: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<HeaderMap, Refused> {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        let lower = name.to_ascii_lowercase();
        let dashed = dashed(&lower);
        let reserved = NOT_FOR_CALLERS.contains(&dashed.as_str())
            || NOT_FOR_CALLERS_BEGINNING.iter().any(|it| dashed.starts_with(it))
            || dashed.contains(KEEPERS);
        if reserved {
            let reason = format!("the header field `{lower}` is not for callers to set");
            return Err(Refused { rule: Rule::EgressHeader, reason });
        }
        let bad = || Refused {
            rule: Rule::EgressHeader,
            reason: format!("`{lower}` is no header field that can be sent"),
        };
        let name = HeaderName::try_from(lower.as_str()).map_err(|_| bad())?;
        let value = HeaderValue::try_from(value).map_err(|_| bad())?;
        headers.append(name, value);
    }
    Ok(headers)
}

/// A name as many servers read it, who take one sign for the other.
pub(crate) fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

/// Takes off what `to` must not see, if it is not the origin that the fields were meant for.
pub(crate) fn on_to(headers: &mut HeaderMap, from: &Target, to: &Target) {
    let same = from.scheme() == to.scheme() && from.host() == to.host() && from.port() == to.port();
    if !same {
        let kept = GO_ON.iter().map(|it| HeaderName::from_static(it));
        *headers =
            kept.filter_map(|it| headers.get(&it).cloned().map(|value| (it, value))).collect();
    }
}

/// Refuses the head of an answer that is longer than it may be. The library bounds only what it reads at a time.
pub(crate) fn check_head(headers: &HeaderMap, most: usize) -> Result<(), AskError> {
    // What stands between a name, its value and the next line.
    const BETWEEN_BYTES: usize = 4;
    let bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + BETWEEN_BYTES)
        .fold(0, usize::saturating_add);
    if bytes > most {
        return Err(AskError::Failed(format!("the head of the answer has more than {most} bytes")));
    }
    Ok(())
}

/// Refuses a message that is packed for its way in any other form than in chunks: nobody here would unpack it.
pub(crate) fn check_framing(headers: &HeaderMap) -> Result<(), AskError> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let first = codings.next().is_none_or(|it| it.as_bytes().eq_ignore_ascii_case(b"chunked"));
    if first && codings.next().is_none() {
        return Ok(());
    }
    let reason = "the message is framed in a way for which nobody had asked";
    Err(AskError::Failed(reason.to_owned()))
}

/// Takes off a length that does not count, because the message says where it ends.
pub(crate) fn one_framing(headers: &mut HeaderMap) {
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_as_long_as_its_lines() {
        let mut headers = HeaderMap::new();
        headers.insert("a", HeaderValue::from_static("0123456789"));
        assert!(check_head(&headers, 15).is_ok());
        assert!(check_head(&headers, 14).is_err());
        headers.append("bc", HeaderValue::from_static(""));
        assert!(check_head(&headers, 21).is_ok());
        assert!(check_head(&headers, 20).is_err());
    }

    #[test]
    fn a_length_beside_chunks_is_taken_off_and_one_alone_is_not() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("5"));
        one_framing(&mut headers);
        assert!(headers.contains_key(CONTENT_LENGTH));
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        one_framing(&mut headers);
        assert!(!headers.contains_key(CONTENT_LENGTH));
    }
}
