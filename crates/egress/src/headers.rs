//! Header fields: which a caller may set, and which go on to another host.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use scan::net::{Refused, Target};

/// Fields that say who speaks, with whom, or how a message is framed, and those by which a cloud's keeper of
/// credentials knows its own. They are ours to set or nobody's.
const NOT_FOR_CALLERS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "metadata",
    "metadata-flavor",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];
/// The same by how they begin.
const NOT_FOR_CALLERS_BEGINNING: &[&str] = &[
    "proxy-",
    "sec-",
    "x-aws-ec2-metadata-",
    "x-forwarded-",
    "x-google-metadata-",
    "x-original-",
    "x-real-ip",
    "x-rewrite-",
];
/// Fields that hold what one host knows of its user.
const CREDENTIALS: &[&str] = &["authorization", "cookie", "cookie2", "x-api-key", "x-auth-token"];

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
        let reserved = NOT_FOR_CALLERS.contains(&lower.as_str())
            || NOT_FOR_CALLERS_BEGINNING.iter().any(|it| lower.starts_with(it));
        if reserved {
            let reason = format!("the header field `{lower}` is not for callers to set");
            return Err(Refused { rule: "egress-header", reason });
        }
        let bad = || Refused {
            rule: "egress-header",
            reason: format!("`{lower}` is no header field that can be sent"),
        };
        let name = HeaderName::try_from(lower.as_str()).map_err(|_| bad())?;
        let value = HeaderValue::try_from(value).map_err(|_| bad())?;
        headers.append(name, value);
    }
    Ok(headers)
}

/// Takes off what `to` must not see, if it is not the host that the fields were meant for.
pub(crate) fn on_to(headers: &mut HeaderMap, from: &Target, to: &Target) {
    let same = from.scheme() == to.scheme() && from.host() == to.host() && from.port() == to.port();
    if !same {
        CREDENTIALS.iter().for_each(|it| drop(headers.remove(*it)));
    }
}
