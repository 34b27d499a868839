//! What a program is told that gets nothing: a status, and the same for machines in a field and a body.

use std::io;

use bytes::Bytes;
use egress::AskError;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, PROXY_AUTHENTICATE};
use hyper::{Response, StatusCode};
use model::Decision;
use monitor::Refusal;
use scan::net::Rule;
use serde_json::json;

/// A body of ours, or one that is passed on.
pub(crate) type Body = BoxBody<Bytes, io::Error>;

/// The rule that refused, for machines.
const REFUSAL: HeaderName = HeaderName::from_static("x-lazaret-refusal");
/// The same as RFC 9209 has it.
const PROXY_STATUS: HeaderName = HeaderName::from_static("proxy-status");

/// Why a program gets nothing.
#[derive(Clone, Debug)]
pub(crate) struct No {
    status: StatusCode,
    decision: &'static str,
    rule: String,
    reason: String,
}

impl No {
    /// The rule of those who have no account.
    pub(crate) const NO_ACCOUNT: &str = "proxy-account";

    pub(crate) fn no_account() -> Self {
        Self {
            status: StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            decision: Decision::Deny.as_str(),
            rule: Self::NO_ACCOUNT.to_owned(),
            reason: "give the agent's name and the token that `lazaret proxy` has printed, or an access token".to_owned(),
        }
    }

    /// The rule of requests that are none for a proxy.
    pub(crate) const BAD_REQUEST: &str = "proxy-request";

    pub(crate) fn bad_request(reason: &str) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            decision: Decision::Deny.as_str(),
            rule: Self::BAD_REQUEST.to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// The gate itself failed.
    pub(crate) fn unable() -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            decision: Decision::Deny.as_str(),
            rule: "proxy-unable".to_owned(),
            reason: "the gate could not work".to_owned(),
        }
    }

    pub(crate) fn by_gate(refusal: &Refusal) -> Self {
        let reason = if let Refusal::Stopped(verdict) = refusal {
            verdict.reason.clone()
        } else {
            refusal.to_string()
        };
        // Not a judgement: what cannot be recorded does not happen.
        let status = if matches!(refusal, Refusal::NotRecorded(_) | Refusal::NotKept(_)) {
            StatusCode::SERVICE_UNAVAILABLE
        } else {
            StatusCode::FORBIDDEN
        };
        let (decision, rule) = (refusal.decision().as_str(), refusal.rule().to_owned());
        Self { status, decision, rule, reason }
    }

    pub(crate) fn by_egress(error: &AskError) -> Self {
        match error {
            AskError::Refused(refused) => Self {
                status: if refused.rule == Rule::EgressPayload {
                    StatusCode::PAYLOAD_TOO_LARGE
                } else {
                    StatusCode::FORBIDDEN
                },
                decision: Decision::Deny.as_str(),
                rule: refused.rule.as_str().to_owned(),
                reason: refused.reason.clone(),
            },
            AskError::Failed(reason) | AskError::Unanswered(reason) => Self {
                status: StatusCode::BAD_GATEWAY,
                decision: Decision::Allow.as_str(),
                rule: "proxy-upstream".to_owned(),
                reason: reason.clone(),
            },
        }
    }

    pub(crate) fn rule(&self) -> &str {
        &self.rule
    }

    pub(crate) fn response(self) -> Response<Body> {
        let value = json!({
            "error": if self.status == StatusCode::BAD_GATEWAY { "failed" } else { "refused" },
            "decision": self.decision,
            "rule": self.rule,
            "reason": self.reason,
        });
        let body = Full::new(Bytes::from(format!("{value}\n"))).map_err(|never| match never {});
        let mut response = Response::new(body.boxed());
        *response.status_mut() = self.status;
        let fields = response.headers_mut();
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        fields.insert(CONNECTION, HeaderValue::from_static("close"));
        // Rules are named with plain letters; one that is not is only in the body. A server that fails is no
        // refusal.
        if self.status != StatusCode::BAD_GATEWAY
            && let Ok(rule) = HeaderValue::try_from(self.rule.as_str())
        {
            fields.insert(REFUSAL, rule);
        }
        let error = match self.status {
            StatusCode::BAD_GATEWAY => "destination_unavailable",
            _ => "http_request_denied",
        };
        let status = format!("lazaret; error={error}; details=\"{}\"", self.rule.replace('"', ""));
        if let Ok(status) = HeaderValue::try_from(status) {
            fields.insert(PROXY_STATUS, status);
        }
        if self.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            let realm = HeaderValue::from_static("Basic realm=\"lazaret\"");
            fields.insert(PROXY_AUTHENTICATE, realm);
        }
        response
    }
}
