//! A request through the proxy as a call that the gate can judge.

use egress::{METHOD, URL};
use hyper::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use hyper::{HeaderMap, Method, Request};
use model::ToolDef;
use monitor::provenance::{Catalogue, CatalogueError};
use scan::net::{Inner, Refused, Rule, Target, exfiltration};
use serde_json::json;

/// The call for a request that is passed on.
const REQUEST: &str = "http_request";
/// The call for a tunnel.
const CONNECT: &str = "http_connect";
/// The parameter of a call whose query looks as if it carried data off: the same address with a query that looks
/// as it does, and has none of its data.
const LOOKS_LIKE: &str = "looks_like";
/// What stands for text that was encoded: text that was encoded.
const ENCODED: &str = "stands-for=VGhpcyBzdGFuZHMgZm9yIGEgcXVlcnkgdGhhdCBpcyBub3QgcmVjb3JkZWQu";
/// The length of what stands for far too much text, in bytes.
const LONG_BYTES: usize = 300;

/// A call on its way to the gate.
pub(crate) struct Asking {
    pub(crate) tool: &'static str,
    pub(crate) args: Vec<u8>,
    /// Does it lead to a host of the inner network that the operator has opened?
    pub(crate) opened: bool,
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
    /// known to have no user name or password in it. Its query is not for the gate, which would record it; how
    /// it looks is.
    pub(crate) fn of<B>(asked: &Request<B>, inner: &Inner) -> Result<Self, NoCall> {
        let (method, uri) = (asked.method(), asked.uri());
        if !is_in_chunks(asked.headers()) {
            return Err(NoCall::Bad(
                "a body has a length or comes in chunks, and in no other form",
            ));
        }
        let (tool, url) = if method == Method::CONNECT {
            const TWO: NoCall = NoCall::Bad("CONNECT names a host and a port");
            let authority = uri.authority().ok_or(TWO)?;
            // A whole URL is none of both.
            if uri.scheme().is_some() || uri.path_and_query().is_some() {
                return Err(TWO);
            }
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
        let target = Target::within(&url, inner).map_err(NoCall::Refused)?;
        let mut args = json!({ URL: target.url().as_str(), METHOD: method.as_str() });
        if let Some(query) = uri.query()
            && let Some(fields) = args.as_object_mut()
        {
            let whole =
                Target::within(&format!("{url}?{query}"), inner).map_err(NoCall::Refused)?;
            let looks = looks_like(&target, &whole);
            looks.into_iter().for_each(|it| drop(fields.insert(LOOKS_LIKE.to_owned(), it.into())));
        }
        let opened = inner.opens(target.host(), target.port());
        Ok(Self { tool, args: args.to_string().into_bytes(), opened })
    }

    /// Whatever it asks for, and nothing else.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        [self.tool.as_bytes(), b" ", &self.args].concat()
    }

    pub(crate) fn is_tunnel(&self) -> bool {
        self.tool == CONNECT
    }
}

/// What the gate is told of the query of `whole`, if that shows more signs of carrying data off than the target
/// without it.
fn looks_like(bare: &Target, whole: &Target) -> Option<String> {
    let known = exfiltration(bare);
    let more =
        exfiltration(whole).into_iter().find(|it| known.iter().all(|or| or.rule != it.rule))?;
    let mut url = bare.url().clone();
    let long = "x".repeat(LONG_BYTES);
    url.set_query(Some(if more.rule == Rule::ExfilLong { &long } else { ENCODED }));
    Some(url.into())
}

/// Is a body that says how it is packed for its way packed in chunks alone?
fn is_in_chunks(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let first = codings.next().is_none_or(|it| it.as_bytes().eq_ignore_ascii_case(b"chunked"));
    first && codings.next().is_none()
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
                "properties": {
                    URL: string("Whom is asked."),
                    METHOD: string("How."),
                    LOOKS_LIKE: string("How the query looks, without what it says."),
                },
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
            "args": { URL: "destination", METHOD: "control", LOOKS_LIKE: "destination" },
        })
    };
    let all = json!({ "tools": { REQUEST: tool("send"), CONNECT: tool("send") } });
    Catalogue::parse(&all.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_query_looks_as_it_does_and_says_nothing_of_it() {
        let secret = "QUtJQUlPU0ZPRE5ON0VYQU1QTEVBS0lBSU9TRk9ETk43RVhBTVBMRQ";
        let long = format!("a={}", "secret-".repeat(60));
        for (query, rule) in [(format!("d={secret}"), Rule::ExfilQuery), (long, Rule::ExfilLong)] {
            let asked = format!("http://a.example/way?{query}");
            let asked = Request::builder().uri(asked).body(()).unwrap();
            let args = Asking::of(&asked, &Inner::default()).ok().unwrap().args;
            let args: serde_json::Value = serde_json::from_slice(&args).unwrap();
            assert_eq!(args[URL], "http://a.example/way");
            let stand_in = Target::parse(args[LOOKS_LIKE].as_str().unwrap()).unwrap();
            assert!(exfiltration(&stand_in).iter().any(|it| it.rule == rule), "{args}");
            assert!(!args.to_string().contains(query.get(2..20).unwrap()), "{args}");
        }
        // The path is there to be seen; what the query adds is told, and what it does not add is not.
        let path = format!("http://a.example/{secret}");
        for (uri, told) in [
            ("http://a.example/?page=2&sort=name".to_owned(), false),
            (format!("{path}?page=2"), false),
            (format!("{path}?d={secret}"), true),
        ] {
            let asked = Request::builder().uri(&uri).body(()).unwrap();
            let args = String::from_utf8(Asking::of(&asked, &Inner::default()).ok().unwrap().args)
                .unwrap();
            assert_eq!(args.contains(LOOKS_LIKE), told, "{uri}: {args}");
        }
    }
}
