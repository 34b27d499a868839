//! A request through the proxy as a call that the gate can judge.

use egress::{METHOD, URL};
use hyper::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use hyper::{HeaderMap, Method, Request};
use model::ToolDef;
use monitor::provenance::{Catalogue, CatalogueError};
use scan::net::{Refused, Target};
use serde_json::json;

/// The call for a request that is passed on.
const REQUEST: &str = "http_request";
/// The call for a tunnel.
const CONNECT: &str = "http_connect";

/// A call on its way to the gate.
pub(crate) struct Asking {
    pub(crate) tool: &'static str,
    pub(crate) args: Vec<u8>,
}

/// Why a request is no call.
pub(crate) enum NoCall {
    /// It is none for a proxy.
    Bad(&'static str),
    /// It leads where nothing leads to, whoever asks.
    Refused(Refused),
}

impl Asking {
    /// What a request asks for. Its URL is read here for the first time, so that what the gate records is
    /// known to have no user name or password in it. Its query is not for the gate: it would be recorded.
    pub(crate) fn of<B>(asked: &Request<B>) -> Result<Self, NoCall> {
        let (method, uri) = (asked.method(), asked.uri());
        let (tool, url) = if method == Method::CONNECT {
            const TWO: NoCall = NoCall::Bad("CONNECT names a host and a port");
            let authority = uri.authority().ok_or(TWO)?;
            // `host:` has no port, and `host:443` may have a user name before it.
            authority.port_u16().ok_or(TWO)?;
            if has_body(asked.headers()) {
                return Err(NoCall::Bad("CONNECT has no body"));
            }
            (CONNECT, format!("https://{authority}/"))
        } else if let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) {
            (REQUEST, format!("{scheme}://{authority}{}", uri.path()))
        } else {
            return Err(NoCall::Bad("this is a proxy: ask for a whole URL, or by CONNECT"));
        };
        let target = Target::parse(&url).map_err(NoCall::Refused)?;
        let args = json!({ URL: target.url().as_str(), METHOD: method.as_str() });
        Ok(Self { tool, args: args.to_string().into_bytes() })
    }

    pub(crate) fn is_tunnel(&self) -> bool {
        self.tool == CONNECT
    }
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(CONTENT_LENGTH).is_some_and(|it| it != "0");
    length || headers.contains_key(TRANSFER_ENCODING)
}

/// The tools of a proxy's session.
///
/// # Errors
/// Never; their texts are ours.
pub fn tools() -> Result<Vec<ToolDef>, model::ToolError> {
    let string = |about: &str| json!({ "type": "string", "description": about });
    let tool = |name: &str, about: &str| {
        json!({
            "name": name,
            "description": about,
            "inputSchema": {
                "type": "object",
                "properties": { URL: string("Whom is asked."), METHOD: string("How.") },
                "required": [URL, METHOD],
            },
        })
    };
    let all = [
        tool(REQUEST, "Passes a program's request on."),
        tool(CONNECT, "Opens a tunnel for a program."),
    ];
    all.iter().map(ToolDef::from_value).collect()
}

/// What these tools do. They give nothing to the session: what a program gets, the gate does not see.
///
/// # Errors
/// Never; its text is ours.
pub fn catalogue() -> Result<Catalogue, CatalogueError> {
    let tool = |effect: &str| {
        json!({
            "effect": effect, "output": "own", "egress": true, "destructive": false,
            "args": { URL: "destination", METHOD: "control" },
        })
    };
    let all = json!({ "tools": { REQUEST: tool("send"), CONNECT: tool("send") } });
    Catalogue::parse(&all.to_string())
}
