//! Requests that are refused: one shape for all, and the shape of OpenAI under `/v1`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::frame::ErrorCode;
use crate::turn::Refused;

/// A request that is refused.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) retry_after: Option<u64>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self { status, code: code.to_owned(), message: message.into(), retry_after: None }
    }

    pub(crate) fn unauthorised() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "auth_failed", "a token that is in force is needed")
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is no such thing")
    }

    pub(crate) fn broken() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, "internal", "the books do not answer")
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }
}

impl From<Refused> for Refusal {
    fn from(it: Refused) -> Self {
        let status = match it.code {
            ErrorCode::AuthFailed | ErrorCode::TokenRevoked => StatusCode::UNAUTHORIZED,
            ErrorCode::RateLimited | ErrorCode::BudgetExceeded | ErrorCode::ModelRateLimited => {
                StatusCode::TOO_MANY_REQUESTS
            }
            ErrorCode::MessageTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::ParseError
            | ErrorCode::InvalidMessage
            | ErrorCode::NotSubscribed
            | ErrorCode::ModelContextTooLong
            | ErrorCode::ModelRefused
            | ErrorCode::ModelInvalidRequest => StatusCode::BAD_REQUEST,
            ErrorCode::AgentNotFound | ErrorCode::SessionNotFound => StatusCode::NOT_FOUND,
            ErrorCode::AccessDenied | ErrorCode::ConsentRequired | ErrorCode::ModelUnpriced => {
                StatusCode::FORBIDDEN
            }
            ErrorCode::Busy | ErrorCode::QueryInProgress => StatusCode::CONFLICT,
            ErrorCode::WorkersExhausted
            | ErrorCode::ShuttingDown
            | ErrorCode::InitFailed
            | ErrorCode::ModelOverloaded
            | ErrorCode::ModelUnreachable
            | ErrorCode::ModelInvalidKey => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCode::WorkerError => StatusCode::BAD_GATEWAY,
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let retry_after = it.retry_after.map(|it| it.as_secs().saturating_add(1));
        Self { status, code: it.code.as_str().to_owned(), message: it.message, retry_after }
    }
}

impl Refusal {
    /// What clients of ours and of OpenAI's alike are told.
    pub(crate) fn body(&self) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            _ => "api_error",
        };
        json!({
            "error": { "code": self.code, "message": self.message, "type": kind, "param": null }
        })
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        if let Some(seconds) = self.retry_after
            && let Ok(value) = HeaderValue::from_str(&seconds.to_string())
        {
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        response
    }
}
