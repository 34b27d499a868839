//! `web_fetch`: a page, reduced to what a person would read.

use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use model::ipc::{FetchMethod, WebFetch};
use monitor::{Output, Permit};
use scan::boundary::{self, Boundary};
use scan::net::Target;
use scan::page::{self, Page};
use serde_json::{Map, Value, json};

use super::{Web, correlation, failed, nonce, total};
use crate::client::{Answer, Ask, AskError};
use crate::headers;
use crate::rules::Rules;

/// Fields of an answer that the agent is told.
const TOLD: &[&str] = &["content-language", "etag", "last-modified", "retry-after"];
/// The longest value of such a field, in characters.
const VALUE_CHARS_MAX: usize = 200;

impl Web {
    /// Fetches what `permit` permits, as far as `rules` go.
    pub fn fetch(&self, permit: Permit<WebFetch>, rules: &Rules) -> Output {
        match self.try_fetch(permit, rules) {
            Ok(output) | Err(output) => output,
        }
    }

    fn try_fetch(&self, permit: Permit<WebFetch>, rules: &Rules) -> Result<Output, Output> {
        let asked = permit.effect();
        let refused = |it| failed(&AskError::Refused(it), true);
        let target = Target::parse(asked.url.as_str()).map_err(refused)?;
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
            rules,
            total: total(wanted, self.client.limits().total),
        };
        let mut hops = 0;
        let answer = self.ask(&permit, ask, &mut hops).map_err(|it| failed(&it, hops <= 1))?;
        drop(permit.spend());
        told(&answer, &first)
    }
}

/// What the agent is told: what the page says in a marked place, and what of it was left out.
fn told(answer: &Answer, asked: &url::Url) -> Result<Output, Output> {
    let content_type = answer.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let url = answer.target.url();
    let page = page::read(&answer.body, content_type, Some(url));
    let content = boundary::wrap(Boundary::Fetched, url.as_str(), &page.text, &nonce()?);
    let mut body = Map::from_iter([
        ("bytes".to_owned(), json!(answer.body.len())),
        ("content".to_owned(), json!(content)),
        ("headers".to_owned(), fields(answer)),
        ("status".to_owned(), json!(answer.status.as_u16())),
        ("url".to_owned(), json!(url.as_str())),
    ]);
    let mut add = |name: &str, value: Option<Value>| {
        value.into_iter().for_each(|it| drop(body.insert(name.to_owned(), it)));
    };
    add("contentType", content_type.map(|it| json!(shortened(it))));
    add("redirectedFrom", (url != asked).then(|| json!(asked.as_str())));
    add("truncated", page.cut.then(|| json!(true)));
    add("dropped", dropped(&page));
    Ok(Output::text(Value::Object(body).to_string()))
}

fn fields(answer: &Answer) -> Value {
    let told = TOLD.iter().filter_map(|name| {
        let value = answer.headers.get(*name).map(HeaderValue::as_bytes)?;
        Some(((*name).to_owned(), json!(shortened(&String::from_utf8_lossy(value)))))
    });
    Value::Object(told.collect())
}

fn shortened(text: &str) -> String {
    text.chars().take(VALUE_CHARS_MAX).collect()
}

/// What was hidden, and how often; what it said is nobody's business but the record's.
fn dropped(page: &Page) -> Option<Value> {
    let all: Map<String, Value> =
        page.dropped.iter().map(|it| (it.kind.as_str().to_owned(), json!(it.count))).collect();
    (!all.is_empty()).then_some(Value::Object(all))
}
