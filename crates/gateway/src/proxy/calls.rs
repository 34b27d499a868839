//! A request through the proxy as a call that the gate can judge.

use egress::{METHOD, URL};
use hyper::{Method, Uri};
use model::ToolDef;
use monitor::provenance::{Catalogue, CatalogueError};
use serde_json::json;

/// The call for a request that is passed on.
const REQUEST: &str = "http_request";
/// The call for a tunnel.
const CONNECT: &str = "http_connect";

/// A call on its way to the gate.
pub(crate) struct Asking {
    pub(crate) tool: &'static str,
    pub(crate) args: Vec<u8>,
    pub(crate) method: Method,
}

impl Asking {
    /// What a request line asks for; an error if it is none for a proxy.
    pub(crate) fn of(method: &Method, uri: &Uri) -> Result<Self, &'static str> {
        let (tool, url) = if method == Method::CONNECT {
            let authority = uri.authority().ok_or("CONNECT names a host and a port")?;
            if authority.port_u16().is_none() {
                return Err("CONNECT names a host and a port");
            }
            (CONNECT, format!("https://{authority}/"))
        } else if uri.scheme().is_some() && uri.authority().is_some() {
            (REQUEST, uri.to_string())
        } else {
            return Err("this is a proxy: ask for a whole URL, or by CONNECT");
        };
        let args = json!({ URL: url, METHOD: method.as_str() }).to_string().into_bytes();
        Ok(Self { tool, args, method: method.clone() })
    }

    pub(crate) fn is_tunnel(&self) -> bool {
        self.tool == CONNECT
    }
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
