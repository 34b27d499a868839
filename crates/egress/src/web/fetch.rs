//! `web_fetch`: a page, reduced to what a person would read.

use bytes::Bytes;
use hyper::Method;
use hyper::header::CONTENT_TYPE;
use model::ipc::{FetchMethod, WebFetch};
use monitor::{Output, Permit};
use scan::boundary::{self, Boundary};
use scan::net::Target;
use scan::page::{self, Page, PageKind};
use serde_json::{Map, Value, json};

use super::{Web, correlation, failed, nonce, total};
use crate::client::{Answer, Ask, AskError};
use crate::headers;
use crate::rules::Rules;

/// Has a value the form that it should have?
type Fits = fn(&str) -> bool;

/// Fields of an answer that the agent is told, each in one form. They stand outside the marks, so they must not
/// be sentences.
const TOLD: &[(&str, Fits)] = &[
    ("content-language", is_language),
    ("etag", is_tag),
    ("last-modified", is_date),
    ("retry-after", |it| {
        is_date(it) || (it.len() <= 10 && it.bytes().all(|it| it.is_ascii_digit()))
    }),
];
/// The longest kind of content, and the longest name of a state, that is told, in bytes.
const WORD_BYTES_MAX: usize = 80;
/// The form of a date, letter for letter and digit for digit.
const DATE: &str = "Aaa, 00 Aaa 0000 00:00:00 GMT";

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
            body: Bytes::new(),
            follows: true,
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
pub(super) fn told(answer: &Answer, asked: &url::Url) -> Result<Output, Output> {
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
    add("contentType", content_type.and_then(essence).map(Value::String));
    add("redirectedFrom", (url != asked).then(|| json!(asked.as_str())));
    add("binary", (page.kind == PageKind::Binary && !answer.body.is_empty()).then(|| json!(true)));
    add("truncated", page.cut.then(|| json!(true)));
    add("dropped", dropped(&page));
    Ok(Output::text(Value::Object(body).to_string()))
}

fn fields(answer: &Answer) -> Value {
    let told = TOLD.iter().filter_map(|(name, fits)| {
        let value = answer.headers.get(*name)?.to_str().ok().filter(|it| fits(it))?;
        Some(((*name).to_owned(), json!(value)))
    });
    Value::Object(told.collect())
}

/// `de, en-GB`: words of at most eight letters.
fn is_language(text: &str) -> bool {
    let is_part =
        |it: &str| (1..=8).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_alphanumeric());
    text.len() <= 35 && text.split(',').all(|it| it.trim().split('-').all(is_part))
}

/// The name of a state of a page: one word.
fn is_tag(text: &str) -> bool {
    text.len() <= WORD_BYTES_MAX && text.bytes().all(|it| it.is_ascii_graphic())
}

fn is_date(text: &str) -> bool {
    let fits = |(it, form): (u8, u8)| match form {
        b'A' => it.is_ascii_uppercase(),
        b'a' => it.is_ascii_lowercase(),
        b'0' => it.is_ascii_digit(),
        _ => it == form,
    };
    text.len() == DATE.len() && text.bytes().zip(DATE.bytes()).all(fits)
}

/// `text/html`, without what may stand behind it.
fn essence(content_type: &str) -> Option<String> {
    let (kind, _) = content_type.split_once(';').unwrap_or((content_type, ""));
    let kind = kind.trim().to_ascii_lowercase();
    let fits = |it: u8| it.is_ascii_alphanumeric() || b"/.+-".contains(&it);
    (kind.len() <= WORD_BYTES_MAX && kind.bytes().all(fits)).then_some(kind)
}

/// What was hidden, and how often; what it said is nobody's business but the record's.
fn dropped(page: &Page) -> Option<Value> {
    let all: Map<String, Value> =
        page.dropped.iter().map(|it| (it.kind.as_str().to_owned(), json!(it.count))).collect();
    (!all.is_empty()).then_some(Value::Object(all))
}
