//! Bodies of requests: bounded in length and time, and JSON of one meaning.

use axum::body::Body;
use axum::http::StatusCode;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::limits::{BODY_BYTES_MAX, BODY_MAX};
use crate::refusal::Refusal;
use crate::turn::shortened;

/// Reads a body.
pub(crate) async fn read(body: Body) -> Result<Bytes, Refusal> {
    let whole = Limited::new(body, BODY_BYTES_MAX).collect();
    match tokio::time::timeout(BODY_MAX, whole).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let why = format!("a body has at most {BODY_BYTES_MAX} bytes");
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "message_too_large", why))
        }
        Ok(Err(_)) => Err(Refusal::bad("the body broke off")),
        Err(_) => {
            let why = "the body took too long";
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "timeout", why))
        }
    }
}

/// Reads a body that is JSON of this form.
pub(crate) async fn json<T: DeserializeOwned>(body: Body) -> Result<T, Refusal> {
    let bytes = read(body).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Refusal::bad(format!(
            "the body is not what is asked for: {}",
            shortened(&error.to_string())
        ))
    })
}
