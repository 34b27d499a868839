//! `web_fetch`: a page, reduced to what a person would read.

use std::borrow::Cow;

use bytes::Bytes;
use hyper::Method;
use hyper::header::CONTENT_TYPE;
use model::ipc::{FetchMethod, WebFetch};
use monitor::{Output, Permit, Scrubs};
use scan::boundary::{self, Boundary};
use scan::net::Target;
use scan::page::{self, Page, PageKind};
use serde_json::{Map, Value, json};

use super::told::{content_type, fields};
use super::{Web, correlation, failed, led_nowhere, nonce, total};
use crate::client::{Answer, Ask, AskError};
use crate::headers;
use crate::rules::Rules;

impl Web {
    /// Fetches what `permit` permits, as far as `rules` go.
    pub fn fetch(&self, permit: Permit<WebFetch>, rules: &Rules) -> Output {
        match self.try_fetch(permit, rules) {
            Ok(output) | Err(output) => output,
        }
    }

    fn try_fetch(&self, permit: Permit<WebFetch>, rules: &Rules) -> Result<Output, Output> {
        let asked = permit.effect();
        let refused = |it| failed(&AskError::Refused(it));
        let target = Target::within(asked.url.as_str(), &rules.inner).map_err(refused)?;
        let fields = asked.headers.iter().flat_map(|it| it.iter());
        let headers = headers::of_caller(fields).map_err(refused)?;
        let method = match asked.method {
            Some(FetchMethod::Head) => Method::HEAD,
            Some(FetchMethod::Get) | None => Method::GET,
        };
        let wanted = asked.timeout_ms.map(|it| it.get());
        let first = target.url().clone();
        let ask = Ask {
            tool: "web_fetch",
            session: permit.who().session.as_str(),
            correlation: correlation()?,
            target,
            method,
            headers,
            body: Bytes::new(),
            follows: true,
            rules,
            total: total(wanted, self.client.limits().total),
        };
        let mut hops = 0;
        let answer =
            self.ask(&permit, &self.client, ask, &mut hops).map_err(|error| match hops {
                0 | 1 => failed(&error),
                _ => led_nowhere(&error, Boundary::Fetched, first.as_str()),
            })?;
        let scrubs = permit.scrubs();
        drop(permit.spend());
        told(&answer, &first, &scrubs)
    }
}

/// What the agent is told: what the page says in a marked place, and what of it was left out. Where a redirect
/// led is what its server says, so it stands in the marks as well.
pub(super) fn told(answer: &Answer, asked: &url::Url, scrubs: &Scrubs) -> Result<Output, Output> {
    let written = answer.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let url = answer.target.url();
    let mut page = page::read(&answer.body, written, Some(url));
    if page.cut {
        // Before it is cut: nobody would know the half of a secret.
        let whole = String::from_utf8_lossy(&answer.body);
        if let Cow::Owned(clean) = scrubs.clean(&whole) {
            page = page::read(clean.as_bytes(), written, Some(url));
        }
    }
    let text = if url == asked {
        Cow::Borrowed(&page.text)
    } else {
        Cow::Owned(format!("redirected to: {url}\n\n{}", page.text))
    };
    let content = boundary::wrap(Boundary::Fetched, asked.as_str(), &text, &nonce()?);
    let mut body = Map::from_iter([
        ("bytes".to_owned(), json!(answer.body.len())),
        ("content".to_owned(), json!(content)),
        ("headers".to_owned(), fields(&answer.headers)),
        ("status".to_owned(), json!(answer.status.as_u16())),
        ("url".to_owned(), json!(asked.as_str())),
    ]);
    let mut add = |name: &str, value: Option<Value>| {
        value.into_iter().for_each(|it| drop(body.insert(name.to_owned(), it)));
    };
    add("contentType", written.and_then(content_type).map(Value::from));
    add("redirected", (url != asked).then(|| json!(true)));
    add("binary", (page.kind == PageKind::Binary && !answer.body.is_empty()).then(|| json!(true)));
    add("truncated", page.cut.then(|| json!(true)));
    add("dropped", dropped(&page));
    Ok(Output::text(Value::Object(body).to_string()))
}

/// What was hidden, and how often; what it said is nobody's business but the record's.
fn dropped(page: &Page) -> Option<Value> {
    let all: Map<String, Value> =
        page.dropped.iter().map(|it| (it.kind.as_str().to_owned(), json!(it.count))).collect();
    (!all.is_empty()).then_some(Value::Object(all))
}
