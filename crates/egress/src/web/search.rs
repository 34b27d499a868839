//! `web_search`: what a search engine finds, as text in a marked place.

use std::fmt::Write as _;

use bytes::Bytes;
use hyper::header::{ACCEPT, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use model::ipc::WebSearch;
use monitor::{Output, Permit, Scrubs, Status};
use scan::boundary::{self, Boundary};
use scan::net::{Refused, Target};
use scan::page;
use serde_json::{Value, json};

use super::{Web, correlation, failed, led_nowhere, nonce, total};
use crate::client::{Answer, Ask, AskError};
use crate::rules::Rules;

/// Results if nobody says how many.
const RESULTS_DEFAULT: u64 = 5;
/// The longest title of a result, in characters.
const TITLE_CHARS_MAX: usize = 200;
/// The longest snippet of a result, in characters.
const SNIPPET_CHARS_MAX: usize = 500;
/// The longest address of a result, in bytes. A result with a longer one is none: cut, it would lead elsewhere.
const URL_BYTES_MAX: usize = 1000;

/// A search engine that the operator has chosen.
pub enum Engine {
    /// Speaks as SearXNG does: `GET BASE/search?format=json`.
    Searxng {
        /// Its address.
        base: Target,
    },
    /// Speaks as Brave does: `GET BASE?q=…` with a key.
    Brave {
        /// Its address.
        base: Target,
        /// Gives the key, after the permit.
        key: Box<dyn SearchKey>,
    },
}

/// Keeps a key. It is asked for when it is needed, and what it gives is dropped as soon as it was used.
pub trait SearchKey: Send + Sync {
    /// The value of the key's header field, for the engine at `target`.
    ///
    /// # Errors
    /// If there is none, with what to do about it.
    fn reveal(&self, permit: &Permit<WebSearch>, target: &Target) -> Result<HeaderValue, String>;
}

/// One result.
struct Found<'a> {
    title: &'a str,
    target: Target,
    snippet: &'a str,
}

impl Web {
    /// Searches for what `permit` permits, as far as `rules` go.
    pub fn search(&self, permit: Permit<WebSearch>, rules: &Rules) -> Output {
        match self.try_search(permit, rules) {
            Ok(output) | Err(output) => output,
        }
    }

    fn try_search(&self, permit: Permit<WebSearch>, rules: &Rules) -> Result<Output, Output> {
        let Some(engine) = &self.engine else {
            return Err(Output::not_begun("no search engine is configured"));
        };
        let asked = permit.effect();
        let most = asked.max_results.map_or(RESULTS_DEFAULT, |it| it.get());
        let (target, headers) = engine.request(&permit, most)?;
        let source = format!("search at {}", target.host());
        let ask = Ask {
            tool: "web_search",
            session: permit.who().session.as_str(),
            correlation: correlation()?,
            target,
            method: Method::GET,
            headers,
            body: Bytes::new(),
            follows: true,
            rules,
            total: total(None, self.client.limits().total),
        };
        let client = self.engines.as_ref().unwrap_or(&self.client);
        let mut hops = 0;
        let answer = self.ask(&permit, client, ask, &mut hops).map_err(|error| match hops {
            0 | 1 => failed(&error),
            _ => led_nowhere(&error, Boundary::Search, &source),
        })?;
        let scrubs = permit.scrubs();
        drop(permit.spend());
        engine.told(&answer, &source, usize::try_from(most).unwrap_or(usize::MAX), &scrubs)
    }
}

impl Engine {
    /// Where it is.
    #[must_use]
    pub fn base(&self) -> &Target {
        match self {
            Self::Searxng { base } | Self::Brave { base, .. } => base,
        }
    }

    /// The question to ask, and with which header fields.
    fn request(
        &self,
        permit: &Permit<WebSearch>,
        most: u64,
    ) -> Result<(Target, HeaderMap), Output> {
        let query = permit.effect().query.as_str();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let mut url = match self {
            Self::Searxng { base } => {
                let mut url = base.url().clone();
                let path = format!("{}/search", url.path().trim_end_matches('/'));
                url.set_path(&path);
                url.query_pairs_mut().append_pair("format", "json");
                url
            }
            Self::Brave { base, key } => {
                let field = HeaderName::from_static("x-subscription-token");
                let mut value = key.reveal(permit, base).map_err(Output::not_begun)?;
                value.set_sensitive(true);
                headers.insert(field, value);
                let mut url = base.url().clone();
                url.query_pairs_mut().append_pair("count", &most.to_string());
                url
            }
        };
        url.query_pairs_mut().append_pair("q", query);
        let refused = |it: Refused| failed(&AskError::Refused(it));
        Ok((self.base().beside(url).map_err(refused)?, headers))
    }

    fn told(
        &self,
        answer: &Answer,
        source: &str,
        most: usize,
        scrubs: &Scrubs,
    ) -> Result<Output, Output> {
        let no = |why: String| Output { status: Status::Failed, ..Output::text(why) };
        if !answer.status.is_success() {
            return Err(no(format!("the search engine answered with {}", answer.status.as_u16())));
        }
        let mut value: Value = serde_json::from_slice(&answer.body)
            .map_err(|_| no("the search engine's answer is no JSON".to_owned()))?;
        // Before titles and snippets are cut.
        scrubs.clean_value(&mut value);
        let (rows, snippet) = match self {
            Self::Searxng { .. } => (value.pointer("/results"), "content"),
            Self::Brave { .. } => (value.pointer("/web/results"), "description"),
        };
        let rows = match rows {
            Some(Value::Array(rows)) => rows.as_slice(),
            // Where nothing is found, Brave leaves the list out.
            None if value.is_object() && value.get("web").is_none_or(Value::is_object) => &[],
            Some(_) | None => {
                return Err(no("the search engine's answer has no list of results".to_owned()));
            }
        };
        let found: Vec<Found<'_>> =
            rows.iter().filter_map(|it| Found::of(it, snippet)).take(most).collect();
        let text = listing(&found);
        let content = boundary::wrap(Boundary::Search, source, &text, &nonce()?);
        Ok(Output::text(json!({ "content": content, "count": found.len() }).to_string()))
    }
}

impl<'a> Found<'a> {
    fn of(row: &'a Value, snippet: &str) -> Option<Self> {
        let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
        // What cannot be fetched is no result.
        let target = Target::parse(text("url")).ok()?;
        (target.url().as_str().len() <= URL_BYTES_MAX).then_some(Self {
            title: text("title"),
            target,
            snippet: text(snippet),
        })
    }
}

/// Titles and snippets are pieces of pages, with their tags.
fn listing(found: &[Found<'_>]) -> String {
    let plain = |html: &str, most: usize| -> String {
        let text = page::read(html.as_bytes(), Some("text/html; charset=utf-8"), None).text;
        text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(most).collect()
    };
    let mut text = String::new();
    for (at, it) in found.iter().enumerate() {
        let (title, snippet) =
            (plain(it.title, TITLE_CHARS_MAX), plain(it.snippet, SNIPPET_CHARS_MAX));
        // In its normal form, in which there are only visible characters.
        let url = it.target.url();
        // A string takes whatever is written to it.
        let _ = writeln!(text, "{}. {title}\n   {url}\n   {snippet}", at.saturating_add(1));
    }
    text
}
