//! Exchanges with an MCP server at its address: what the protocol asks, as the way out asks it, and back.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::mcp::http::client::{Answer, Body, Piece, Request, Verb, WebError};
use egress::{Arrived, AskError, Question};
use scan::net::Target;
use zeroize::Zeroizing;

use crate::named::NamedWay;

impl NamedWay {
    /// Asks `request` of `target`, with `more` header fields behind its own. Redirects are not followed.
    ///
    /// # Errors
    /// If the address is refused, or nobody answers in time.
    pub fn send(
        &self,
        request: &Request,
        target: &Target,
        more: impl IntoIterator<Item = (String, Zeroizing<String>)>,
        is_cancelled: &AtomicBool,
    ) -> Result<Arrived, AskError> {
        let fixed = request.headers.iter().map(|(name, value)| ((*name).to_owned(), value));
        let named = request.parameters.iter().map(|(name, value)| (name.clone(), value));
        let ours = fixed.chain(named).map(|(name, value)| (name, Zeroizing::new(value.clone())));
        let question = Question {
            verb: match request.verb {
                Verb::Get => egress::Verb::Get,
                Verb::Post => egress::Verb::Post,
                Verb::Delete => egress::Verb::Delete,
            },
            target,
            hidden: None,
            headers: ours.chain(more).collect(),
            body: request.body.clone().into(),
            wait: request.wait,
        };
        self.servers().ask(&question, is_cancelled)
    }
}

/// Why nothing arrived, as the protocol is told.
#[must_use]
pub fn web_error(error: AskError) -> WebError {
    match error {
        AskError::Refused(refused) => WebError(format!("{} ({})", refused.reason, refused.rule)),
        AskError::Failed(why) | AskError::Unanswered(why) => WebError(why),
    }
}

/// What arrived, as the protocol reads it.
#[must_use]
pub fn web_answer(arrived: Arrived) -> Answer {
    let (status, headers) = (arrived.status, arrived.headers.clone());
    Answer { status, headers, body: Box::new(Arriving(arrived)) }
}

struct Arriving(Arrived);

impl Body for Arriving {
    fn next(&mut self, wait: Duration) -> Result<Piece, WebError> {
        match self.0.next(wait) {
            Ok(egress::Piece::Data(data)) => Ok(Piece::Data(data.to_vec())),
            Ok(egress::Piece::Still) => Ok(Piece::Still),
            Ok(egress::Piece::End) => Ok(Piece::End),
            Err(error) => Err(WebError(error.to_string())),
        }
    }
}
