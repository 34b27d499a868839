//! The address of a server that a manifest names: asked as it stands, without credentials, and without going anywhere else.

use std::sync::atomic::AtomicBool;

use ::mcp::http::client::{Answer, Request, Web, WebError};

use crate::named::NamedWay;
use crate::named_exchange::{web_answer, web_error};

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
        let sent = self.way.send(request, self.way.endpoint(), None, is_cancelled);
        let arrived = sent.map_err(web_error)?;
        match arrived.status {
            301 | 302 | 303 | 307 | 308 => {
                Err(WebError("it redirects elsewhere: name that address if you mean it".to_owned()))
            }
            401 | 403 => Err(WebError(format!(
                "it wants a login (HTTP {}), and a server of a manifest is sent none: give the agent a server that is a command, which has its secrets in `env`",
                arrived.status
            ))),
            _ => Ok(web_answer(arrived)),
        }
    }
}
