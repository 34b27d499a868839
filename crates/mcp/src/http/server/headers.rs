//! Header fields of a request, held against its body: the body decides, and a field that says something else is refused.

use crate::era::{Era, LEGACY_VERSIONS, META_CAPABILITIES, META_VERSION, MODERN_VERSION};
use crate::message::{INVALID_PARAMS, Message};
use crate::shown;
use data_encoding::BASE64;
use hyper::HeaderMap;
use serde_json::{Value, json};

/// Field of the revision.
pub(super) const VERSION: &str = "mcp-protocol-version";
/// Field of the method.
pub(super) const METHOD: &str = "mcp-method";
/// Field of the name or address that a request is about.
pub(super) const NAME: &str = "mcp-name";
/// Field of a legacy session.
pub(super) const SESSION: &str = "mcp-session-id";

/// Error code: header and body disagree.
pub(super) const HEADER_MISMATCH: i64 = -32020;
/// Error code: the client lacks a capability that the request needs.
pub(super) const MISSING_CAPABILITY: i64 = -32021;
/// Error code: a revision that is not spoken here.
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;

/// A refusal of a request because of its fields or of what its body lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error("the field `{field}` must be there once and say what the body says ({body})")]
    Mismatch { field: String, body: String },
    #[error("`params._meta` must have `{0}`")]
    Missing(&'static str),
    #[error("the revision `{0}` is not spoken here; take one of `supported`")]
    Version(String),
}

impl Problem {
    pub(super) fn code(&self) -> i64 {
        match self {
            Self::Mismatch { .. } => HEADER_MISMATCH,
            Self::Missing(_) => INVALID_PARAMS,
            Self::Version(_) => UNSUPPORTED_VERSION,
        }
    }

    /// The error's data, where the protocol has some.
    pub(super) fn data(&self) -> Option<Value> {
        match self {
            Self::Version(requested) => {
                Some(json!({"supported": [MODERN_VERSION], "requested": requested}))
            }
            Self::Mismatch { .. } | Self::Missing(_) => None,
        }
    }
}

/// Checks the fields of a request or notification against its body.
pub(super) fn check(headers: &HeaderMap, message: &Message, era: Era) -> Result<(), Problem> {
    let is_modern = era == Era::Modern;
    if is_modern {
        check_version(headers, message)?;
    } else {
        check_legacy_version(headers)?;
    }
    agree(headers, METHOD, Some(message.method()), is_modern)?;
    let name = match message.method() {
        "tools/call" | "prompts/get" => message.params().get("name"),
        "resources/read" => message.params().get("uri"),
        _ => return Ok(()),
    };
    agree(headers, NAME, name.and_then(Value::as_str), is_modern && name.is_some())
}

/// Checks the revision that a legacy message names beside its body, which names none.
pub(super) fn check_legacy_version(headers: &HeaderMap) -> Result<(), Problem> {
    match field(headers, VERSION, "a revision with a handshake")? {
        Some(version) if !LEGACY_VERSIONS.contains(&version.as_str()) => {
            let body = "a revision with a handshake, or none".to_owned();
            Err(Problem::Mismatch { field: VERSION.to_owned(), body })
        }
        Some(_) | None => Ok(()),
    }
}

fn check_version(headers: &HeaderMap, message: &Message) -> Result<(), Problem> {
    let meta = message.params().get("_meta").unwrap_or(&Value::Null);
    let version =
        meta.get(META_VERSION).and_then(Value::as_str).ok_or(Problem::Missing(META_VERSION))?;
    agree(headers, VERSION, Some(version), true)?;
    if version != MODERN_VERSION {
        return Err(Problem::Version(shown::log_value(version)));
    }
    if !meta.get(META_CAPABILITIES).is_some_and(Value::is_object) {
        return Err(Problem::Missing(META_CAPABILITIES));
    }
    Ok(())
}

/// A field that is there says what the body says; one that must be there is there.
pub(super) fn agree(
    headers: &HeaderMap,
    name: &str,
    body: Option<&str>,
    is_required: bool,
) -> Result<(), Problem> {
    let shown = || body.map_or_else(|| "nothing".to_owned(), shown::log_value);
    let said = field(headers, name, &shown())?;
    match said {
        None if !is_required => Ok(()),
        Some(said) if body == Some(said.as_str()) => Ok(()),
        Some(_) | None => Err(Problem::Mismatch { field: name.to_owned(), body: shown() }),
    }
}

/// The value of a field, decoded; several fields of one name are none that could be believed.
fn field(headers: &HeaderMap, name: &str, body: &str) -> Result<Option<String>, Problem> {
    let mismatch = || Problem::Mismatch { field: name.to_owned(), body: body.to_owned() };
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(mismatch());
    }
    let text = value.to_str().map_err(|_| mismatch())?;
    let Some(inner) = text.strip_prefix(BASE64_BEGIN).and_then(|it| it.strip_suffix(BASE64_END))
    else {
        return Ok(Some(text.to_owned()));
    };
    let bytes = BASE64.decode(inner.as_bytes()).map_err(|_| mismatch())?;
    String::from_utf8(bytes).map(Some).map_err(|_| mismatch())
}

/// Begin of a value that could not stand in a field as it is.
const BASE64_BEGIN: &str = "=?base64?";
/// Its end.
const BASE64_END: &str = "?=";

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderName, HeaderValue};

    fn message(params: &str) -> Message {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        Message::parse(line.as_bytes()).unwrap()
    }

    fn modern(name: &str) -> Message {
        message(&format!(
            r#"{{"name":{name},"_meta":{{"{META_VERSION}":"2026-07-28","{META_CAPABILITIES}":{{}}}}}}"#
        ))
    }

    fn fields(all: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = all.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        let mut map = HeaderMap::new();
        pairs.for_each(|(name, value)| {
            map.append(name, value);
        });
        map
    }

    const GOOD: [(&str, &str); 3] =
        [(VERSION, MODERN_VERSION), (METHOD, "tools/call"), (NAME, "look")];

    #[test]
    fn a_modern_request_has_every_field_and_each_says_what_the_body_says() {
        assert_eq!(check(&fields(&GOOD), &modern(r#""look""#), Era::Modern), Ok(()));
        for left_out in 0..3 {
            let rest: Vec<_> =
                GOOD.iter().enumerate().filter(|it| it.0 != left_out).map(|it| *it.1).collect();
            let refused = check(&fields(&rest), &modern(r#""look""#), Era::Modern).unwrap_err();
            assert_eq!(refused.code(), HEADER_MISMATCH);
        }
        for (field, other) in [(VERSION, "2025-11-25"), (METHOD, "tools/list"), (NAME, "send")] {
            let mut all: Vec<_> = GOOD.iter().filter(|it| it.0 != field).copied().collect();
            all.push((field, other));
            let refused = check(&fields(&all), &modern(r#""look""#), Era::Modern).unwrap_err();
            assert_eq!(refused.code(), HEADER_MISMATCH);
            // Twice, the right one first or last.
            for twice in [[GOOD.as_slice(), &[(field, other)]], [&[(field, other)], &GOOD]] {
                let refused = check(&fields(&twice.concat()), &modern(r#""look""#), Era::Modern);
                assert_eq!(refused.unwrap_err().code(), HEADER_MISMATCH);
            }
        }
    }

    #[test]
    fn names_that_cannot_stand_in_a_field_come_in_base64() {
        let name = "Grüße";
        let encoded = format!("=?base64?{}?=", BASE64.encode(name.as_bytes()));
        let with = |value: &str| {
            let fields = fields(&[GOOD[0], GOOD[1], (NAME, value)]);
            check(&fields, &modern(r#""Grüße""#), Era::Modern)
        };
        assert_eq!(with(&encoded), Ok(()));
        assert!(with("=?base64?????=").is_err() && with("Gr").is_err());
    }

    #[test]
    fn what_the_body_lacks_is_named() {
        let bare = fields(&GOOD);
        let refused = check(&bare, &message(r#"{"name":"look"}"#), Era::Modern).unwrap_err();
        assert_eq!(refused, Problem::Missing(META_VERSION));
        let only = format!(r#"{{"name":"look","_meta":{{"{META_VERSION}":"2026-07-28"}}}}"#);
        let refused = check(&bare, &message(&only), Era::Modern).unwrap_err();
        assert_eq!(
            (refused.clone(), refused.code()),
            (Problem::Missing(META_CAPABILITIES), -32602)
        );
        let old = format!(r#"{{"name":"look","_meta":{{"{META_VERSION}":"2030-01-01"}}}}"#);
        let fields = fields(&[(VERSION, "2030-01-01"), GOOD[1], GOOD[2]]);
        let refused = check(&fields, &message(&old), Era::Modern).unwrap_err();
        assert_eq!(refused.code(), UNSUPPORTED_VERSION);
        assert_eq!(refused.data().unwrap()["requested"], "2030-01-01");
    }

    #[test]
    fn a_legacy_request_needs_no_field_but_may_not_contradict() {
        let body = message(r#"{"name":"look"}"#);
        let check = |all: &[(&'static str, &str)]| check(&fields(all), &body, Era::Legacy);
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[(VERSION, "2025-06-18"), (NAME, "look")]), Ok(()));
        for wrong in [(VERSION, "2026-07-28"), (VERSION, "1"), (METHOD, "ping"), (NAME, "send")] {
            assert_eq!(check(&[wrong]).unwrap_err().code(), HEADER_MISMATCH);
        }
    }
}
