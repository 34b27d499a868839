//! The address of a server that a manifest names: asked as it stands, without credentials, and without going anywhere else.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::mcp::http::client::{Answer, Body, Piece, Request, Verb, Web, WebError};
use egress::{Arrived, AskError, Question};
use zeroize::Zeroizing;

use crate::named::NamedWay;

/// A way to one server.
pub(super) struct Endpoint {
    way: NamedWay,
}

impl Endpoint {
    pub(super) fn new(way: NamedWay) -> Self {
        Self { way }
    }
}

impl Web for Endpoint {
    fn send(&self, request: &Request, is_cancelled: &AtomicBool) -> Result<Answer, WebError> {
        let fixed = request.headers.iter().map(|(name, value)| ((*name).to_owned(), value));
        let named = request.parameters.iter().map(|(name, value)| (name.clone(), value));
        let headers = fixed.chain(named).map(|(name, it)| (name, Zeroizing::new(it.clone())));
        let question = Question {
            verb: match request.verb {
                Verb::Get => egress::Verb::Get,
                Verb::Post => egress::Verb::Post,
                Verb::Delete => egress::Verb::Delete,
            },
            target: self.way.endpoint(),
            hidden: None,
            headers: headers.collect(),
            body: request.body.clone().into(),
            wait: request.wait,
        };
        let arrived = self.way.servers().ask(&question, is_cancelled);
        let arrived = arrived.map_err(|error| match error {
            AskError::Refused(refused) => {
                WebError(format!("{} ({})", refused.reason, refused.rule))
            }
            AskError::Failed(why) | AskError::Unanswered(why) => WebError(why),
        })?;
        match arrived.status {
            301 | 302 | 303 | 307 | 308 => {
                Err(WebError("it redirects elsewhere: name that address if you mean it".to_owned()))
            }
            401 | 403 => Err(WebError(format!(
                "it wants a login (HTTP {}), and a server of a manifest is sent none: give the agent a server that is a command, which has its secrets in `env`",
                arrived.status
            ))),
            _ => Ok(answer(arrived)),
        }
    }
}

fn answer(arrived: Arrived) -> Answer {
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
