//! Going to a page, looking at it, taking its picture.

use data_encoding::BASE64;
use monitor::Scrubs;
use scan::net::Target;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::fault::Fault;
use crate::limits::{LOAD, NAVIGATE, ORDER, PICTURE_BYTES_MAX, REACT, TITLE_CHARS_MAX};
use crate::pages::Page;
use crate::tree::plain;
use crate::watch::text;

/// Where a browser is.
pub(crate) struct Place {
    /// The address of its page.
    pub(crate) url: String,
    /// What the page calls itself, on one line.
    pub(crate) title: String,
}

/// How a way to a page ended.
pub(crate) enum Arrival {
    /// There.
    At {
        /// The status of the answer, if there was one.
        status: Option<u16>,
        /// Is it there whole?
        loaded: bool,
    },
    /// Our proxy refused it, by this rule.
    Refused(String),
    /// Nobody answered, or the proxy let no tunnel through; the browser's word for it.
    Failed(String),
}

/// A picture of a page.
pub(crate) struct Picture {
    /// In letters.
    pub(crate) base64: String,
    /// What it is.
    pub(crate) media_type: &'static str,
}

impl Browser {
    /// Goes to `target`.
    pub(crate) fn go(&self, target: &Target) -> Result<Arrival, Fault> {
        let page = self.watch.page_to_leave()?;
        for other in self.watch.leave_others(&page.session) {
            self.wire.tell("", "Target.closeTarget", json!({ "targetId": other.target }));
        }
        let params = json!({ "url": target.url().as_str() });
        let gone = self.wire.call_within(&page.session, "Page.navigate", params, NAVIGATE);
        let gone = gone.inspect_err(|_| {
            self.wire.tell(&page.session, "Page.stopLoading", json!({}));
        })?;
        let failed = text(&gone, "/errorText");
        if !failed.is_empty() {
            return Ok(Arrival::Failed(word(failed)));
        }
        let loader = text(&gone, "/loaderId");
        // Without a new document it only went to another place of the same.
        let loaded = loader.is_empty() || self.watch.wait_for_load(&page.session, loader, LOAD);
        Ok(match self.watch.answer(&page.session, loader) {
            Some((_, Some(rule))) => Arrival::Refused(rule),
            answer => Arrival::At { status: answer.map(|(status, _)| status), loaded },
        })
    }

    /// Waits for what an act has set off; answers whether all of it is there.
    pub(crate) fn settle(&self) -> bool {
        // What a page does in answer begins after a moment.
        std::thread::sleep(REACT);
        self.watch.wait_for_rest(LOAD)
    }

    /// Where it is, by its own history: a page has no say in it.
    pub(crate) fn place(&self, page: &Page, scrubs: &Scrubs) -> Result<Place, Fault> {
        let history = self.wire.call(&page.session, "Page.getNavigationHistory", json!({}))?;
        let at = history.get("currentIndex").and_then(Value::as_u64).unwrap_or(0);
        let entry = format!("/entries/{at}");
        let title = scrubs.clean(text(&history, &format!("{entry}/title")));
        let title = plain(&title, TITLE_CHARS_MAX);
        Ok(Place { url: text(&history, &format!("{entry}/url")).to_owned(), title })
    }

    /// What can be seen of the page now.
    pub(crate) fn picture(&self, page: &Page) -> Result<Option<Picture>, Fault> {
        for (format, media_type) in [("png", "image/png"), ("jpeg", "image/jpeg")] {
            let mut params = json!({ "format": format, "captureBeyondViewport": false, "optimizeForSpeed": true });
            if let Some(fields) = params.as_object_mut().filter(|_| format == "jpeg") {
                fields.insert("quality".to_owned(), json!(60));
            }
            const METHOD: &str = "Page.captureScreenshot";
            let taken = self.wire.call_within(&page.session, METHOD, params, ORDER * 2)?;
            let base64 = text(&taken, "/data");
            let bytes = BASE64.decode_len(base64.len()).unwrap_or(usize::MAX);
            if bytes <= PICTURE_BYTES_MAX {
                let valid = BASE64.decode(base64.as_bytes()).is_ok_and(|it| !it.is_empty());
                let base64 = valid.then(|| base64.to_owned()).ok_or(Fault::Nonsense(METHOD))?;
                return Ok(Some(Picture { base64, media_type }));
            }
        }
        Ok(None)
    }
}

/// `net::ERR_CONNECTION_REFUSED`, and nothing else that might stand there.
fn word(error: &str) -> String {
    error.chars().filter(|it| it.is_ascii_alphanumeric() || "_:".contains(*it)).take(64).collect()
}
