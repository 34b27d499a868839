//! The seven actions: permit in, output out. What a page says stands between marks.

use std::sync::Arc;

use model::Caller;
use model::ipc::{
    BrowserClick, BrowserClose, BrowserLaunch, BrowserNavigate, BrowserScreenshot, BrowserSnapshot,
    BrowserType,
};
use monitor::{Output, Permit, Status};
use scan::boundary::{self, Boundary, Nonce};
use scan::net::Target;
use serde_json::{Map, Value, json};

use crate::browser::Browser;
use crate::element::Unused;
use crate::fault::Fault;
use crate::limits::VIEWPORT;
use crate::page::{Arrival, Place};
use crate::pool::Browsers;
use crate::snapshot::Refs;

/// An output, or the one that says why not.
type Act = Result<Output, Output>;

impl Browsers {
    /// Starts a browser.
    pub fn launch(&self, permit: Permit<BrowserLaunch>) -> Output {
        let who = permit.who().clone();
        let config = permit.spend().config;
        let headless = config.as_ref().and_then(|it| it.headless);
        if headless == Some(false) {
            return Output::not_begun("there is no screen: leave `headless` out");
        }
        let viewport = config.and_then(|it| it.viewport);
        let size = viewport.map_or(VIEWPORT, |it| {
            let (width, height) = VIEWPORT;
            (it.width.map_or(width, |it| it.get()), it.height.map_or(height, |it| it.get()))
        });
        match self.start(&who, size) {
            Ok((id, browser)) => done(&json!({
                "session": id,
                "browser": browser.product,
                "confinement": browser.confinement.told(),
                "viewport": { "width": size.0, "height": size.1 },
            })),
            Err(why) => Output::not_begun(format!("no browser: {why}")),
        }
    }

    /// Goes to a page.
    pub fn navigate(&self, permit: Permit<BrowserNavigate>) -> Output {
        let who = permit.who().clone();
        let scrubs = permit.scrubs();
        let asked = permit.spend();
        self.with(&who, asked.session.as_str(), |browser, refs| {
            let refused =
                |it: scan::net::Refused| Output::not_begun(format!("{} ({})", it.reason, it.rule));
            let target = Target::parse(asked.url.as_str()).map_err(refused)?;
            // The proxy says the same of every connection; here it is said before anything is begun.
            browser.way.rules().check(&target).map_err(refused)?;
            refs.forget();
            match browser.go(&target).map_err(|it| failed(&it))? {
                Arrival::At { status, loaded } => {
                    let page = browser.watch.page().map_err(|it| failed(&it))?;
                    let place = browser.place(&page, &scrubs).map_err(|it| failed(&it))?;
                    let mut fields = place_fields(&place)?;
                    if let Some(status) = status {
                        fields.insert("status".to_owned(), json!(status));
                    }
                    if !loaded {
                        fields.insert("loading".to_owned(), json!(true));
                    }
                    Ok(done(&Value::Object(fields)))
                }
                Arrival::Refused(rule) => {
                    Err(failure(format!("the way there is refused ({rule})")))
                }
                Arrival::Failed(word) => Err(failure(format!(
                    "there was no page: {word}; where the host leads inside or is not allowed, the journal says so"
                ))),
            }
        })
    }

    /// Describes the page as text.
    pub fn snapshot(&self, permit: Permit<BrowserSnapshot>) -> Output {
        let who = permit.who().clone();
        let scrubs = permit.scrubs();
        let asked = permit.spend();
        self.with(&who, asked.session.as_str(), |browser, refs| {
            let page = browser.watch.page().map_err(|it| failed(&it))?;
            let place = browser.place(&page, &scrubs).map_err(|it| failed(&it))?;
            let seen = browser.describe(&page, refs, &scrubs).map_err(|it| failed(&it))?;
            let mut fields = Map::from_iter([("url".to_owned(), json!(place.url))]);
            fields.insert("content".to_owned(), json!(marked(&place.url, &seen.text)?));
            if seen.cut {
                fields.insert("truncated".to_owned(), json!(true));
            }
            Ok(done(&Value::Object(fields)))
        })
    }

    /// Clicks on an element of the last snapshot.
    pub fn click(&self, permit: Permit<BrowserClick>) -> Output {
        let who = permit.who().clone();
        let scrubs = permit.scrubs();
        let asked = permit.spend();
        self.with(&who, asked.session.as_str(), |browser, refs| {
            let number = asked.element.get();
            let page = browser.watch.page().map_err(|it| failed(&it))?;
            let found = refs.get(number).ok_or_else(|| unknown(number))?;
            browser.watch.let_open(true);
            let clicked = browser.click(&page, &found);
            let loaded = clicked.is_ok() && browser.settle();
            browser.watch.let_open(false);
            clicked.map_err(|it| unused(it, number))?;
            let page = browser.watch.page().map_err(|it| failed(&it))?;
            let place = browser.place(&page, &scrubs).map_err(|it| failed(&it))?;
            let mut fields = place_fields(&place)?;
            if !loaded {
                fields.insert("loading".to_owned(), json!(true));
            }
            Ok(done(&Value::Object(fields)))
        })
    }

    /// Types text into an element of the last snapshot. What the page makes of it is not told here.
    pub fn type_text(&self, permit: Permit<BrowserType>) -> Output {
        let who = permit.who().clone();
        let asked = permit.spend();
        self.with(&who, asked.session.as_str(), |browser, refs| {
            let number = asked.element.get();
            let page = browser.watch.page().map_err(|it| failed(&it))?;
            let found = refs.get(number).ok_or_else(|| unknown(number))?;
            browser.fill(&page, &found, asked.text.as_str()).map_err(|it| unused(it, number))?;
            browser.settle();
            Ok(done(&json!({ "typed": asked.text.as_str().chars().count() })))
        })
    }

    /// Takes a picture of the page.
    pub fn screenshot(&self, permit: Permit<BrowserScreenshot>) -> Output {
        let who = permit.who().clone();
        let scrubs = permit.scrubs();
        let asked = permit.spend();
        self.with(&who, asked.session.as_str(), |browser, _| {
            let page = browser.watch.page().map_err(|it| failed(&it))?;
            let place = browser.place(&page, &scrubs).map_err(|it| failed(&it))?;
            let picture = browser.picture(&page).map_err(|it| failed(&it))?;
            let picture = picture.ok_or_else(|| {
                failure("the picture is too big: launch a browser with a smaller viewport")
            })?;
            Ok(done(&json!({
                "url": place.url,
                "mediaType": picture.media_type,
                "image": picture.base64,
            })))
        })
    }

    /// Ends a browser.
    pub fn end(&self, permit: Permit<BrowserClose>) -> Output {
        let who = permit.who().clone();
        let asked = permit.spend();
        if self.close(&who, asked.session.as_str()) { done(&json!({})) } else { no_browser() }
    }

    /// Does something with a browser of `who`, if it is one and has nothing else to do.
    fn with(
        &self,
        who: &Caller,
        id: &str,
        work: impl FnOnce(&Browser, &mut Refs) -> Act,
    ) -> Output {
        let Some(browser) = self.find(who, id) else { return no_browser() };
        let browser: Arc<Browser> = browser;
        let Some(mut turn) = browser.turn() else {
            return Output::not_begun("the browser is busy: one thing at a time");
        };
        let output = work(&browser, &mut turn);
        drop(turn);
        browser.touch();
        match output {
            Ok(output) | Err(output) => output,
        }
    }
}

/// Where it is, for the agent: what the page says of itself stands between marks.
fn place_fields(place: &Place) -> Result<Map<String, Value>, Output> {
    let title = format!("title \"{}\"", place.title);
    Ok(Map::from_iter([
        ("url".to_owned(), json!(place.url)),
        ("content".to_owned(), json!(marked(&place.url, &title)?)),
    ]))
}

fn marked(url: &str, text: &str) -> Result<String, Output> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)
        .map_err(|error| failure(format!("the system gives no randomness: {error}")))?;
    Ok(boundary::wrap(Boundary::Fetched, url, text, &Nonce::new(random)))
}

fn done(value: &Value) -> Output {
    Output::text(value.to_string())
}

fn failure(why: impl Into<String>) -> Output {
    Output { status: Status::Failed, ..Output::text(why) }
}

fn failed(fault: &Fault) -> Output {
    failure(fault.to_string())
}

fn no_browser() -> Output {
    Output::not_begun("there is no such browser: `browser_launch` starts one and says its session")
}

fn unknown(number: u64) -> Output {
    Output::not_begun(format!(
        "the last snapshot has no e{number}: take a snapshot, and use a number that stands in it"
    ))
}

fn unused(why: Unused, number: u64) -> Output {
    let why = match why {
        Unused::Changed => {
            format!("e{number} is no longer what the snapshot shows: take a new one")
        }
        Unused::Covered => format!("e{number} cannot be reached: it is not seen, or covered"),
        Unused::NoField => format!("nothing can be typed into e{number}"),
        Unused::Secret => {
            format!(
                "e{number} is a field for a secret: agents have none, so a person has to fill it in"
            )
        }
        Unused::Fault(fault) => return failed(&fault),
    };
    Output::not_begun(why)
}
