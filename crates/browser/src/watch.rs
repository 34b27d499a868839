//! What a browser tells unasked, and what it is told at once: how each new page begins, which requests go on,
//! who the proxy is told we are.

use std::collections::{HashMap, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::limits::{CHALLENGES_MAX, PAGES_MAX, REACT};
use crate::pages::{Frame, Page};
use crate::way::Credentials;
use crate::wire::{Hears, Wire};

/// How often one request may be asked for the password: a second time means that it is wrong.
const CHALLENGES_PER_REQUEST_MAX: u8 = 2;
/// Takes from pages what they have no use for here. The settings say the same; this is the second lock.
const BEFORE_EVERY_PAGE: &str = "for (const it of ['RTCPeerConnection', 'webkitRTCPeerConnection', \
    'RTCDataChannel', 'WebTransport', 'print']) { try { Object.defineProperty(globalThis, it, \
    { value: undefined, writable: false, configurable: false }) } catch {} }";

/// What is known of a browser's pages.
pub(crate) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
    credentials: Credentials,
    /// The proxy as it calls itself in a challenge.
    proxy: String,
    viewport: (u64, u64),
}

#[derive(Default)]
struct State {
    pages: Vec<Page>,
    frames: Vec<Frame>,
    workers: HashSet<String>,
    challenges: HashMap<String, u8>,
    /// May a page open another one now?
    opening: bool,
    ended: bool,
}

impl Watch {
    pub(crate) fn new(credentials: Credentials, proxy: String, viewport: (u64, u64)) -> Self {
        let (state, changed) = Default::default();
        Self { state, changed, credentials, proxy, viewport }
    }

    /// The page that was opened last.
    pub(crate) fn page(&self) -> Result<Page, Fault> {
        let state = self.state();
        match state.pages.last() {
            Some(page) if page.crashed => Err(Fault::Crashed),
            Some(page) => Ok(page.clone()),
            None if state.ended => Err(Fault::Gone),
            None => Err(Fault::NoPage),
        }
    }

    /// The same, crashed or not: going somewhere else mends it.
    pub(crate) fn page_to_leave(&self) -> Result<Page, Fault> {
        let mut state = self.state();
        let gone = if state.ended { Fault::Gone } else { Fault::NoPage };
        let page = state.pages.last_mut().ok_or(gone)?;
        page.crashed = false;
        Ok(page.clone())
    }

    /// From now on a page may open another one, or not any more. What a page opens without being clicked on is
    /// closed before it has begun: the agent would find itself on a page to which it did not go.
    pub(crate) fn let_open(&self, opening: bool) {
        self.state().opening = opening;
    }

    /// Takes all pages but this one from the list, and gives them.
    pub(crate) fn leave_others(&self, session: &str) -> Vec<Page> {
        let mut state = self.state();
        let (kept, left) =
            std::mem::take(&mut state.pages).into_iter().partition(|it| it.session == session);
        state.pages = kept;
        left
    }

    /// The frames of a page that have processes of their own, outer ones first.
    pub(crate) fn frames(&self, page: &Page) -> Vec<Frame> {
        let state = self.state();
        let mut found: Vec<Frame> = Vec::new();
        // They are told in the order in which they come, parents first.
        for frame in &state.frames {
            let inside =
                frame.parent == page.session || found.iter().any(|it| it.session == frame.parent);
            if inside {
                found.push(frame.clone());
            }
        }
        found
    }

    /// Waits until there is a page.
    pub(crate) fn wait_for_page(&self, most: Duration) -> Result<Page, Fault> {
        self.wait(most, |state| !state.pages.is_empty());
        self.page()
    }

    /// Waits until the document `loader` of a page has loaded, or all that is being loaded. Answers whether it
    /// has.
    pub(crate) fn wait_for_load(&self, session: &str, loader: &str, most: Duration) -> bool {
        self.wait(most, |state| {
            let page = state.pages.iter().find(|it| it.session == session);
            page.is_none_or(|it| it.crashed || it.loaded == loader)
        })
    }

    /// Waits until the last page is not loading anything.
    pub(crate) fn wait_for_rest(&self, most: Duration) -> bool {
        self.wait(most, |state| state.pages.last().is_none_or(|it| it.crashed || !it.is_busy()))
    }

    /// How the document `loader` was answered: its status, and the rule if our proxy refused it.
    pub(crate) fn answer(&self, session: &str, loader: &str) -> Option<(u16, Option<String>)> {
        let state = self.state();
        let page = state.pages.iter().find(|it| it.session == session)?;
        let (of, status, rule) = &page.answered;
        (of == loader).then(|| (*status, rule.clone()))
    }

    fn wait(&self, most: Duration, done: impl Fn(&State) -> bool) -> bool {
        let end = Instant::now() + most;
        let mut state = self.state();
        loop {
            if state.ended {
                return false;
            }
            if done(&state) {
                return true;
            }
            let Some(left) = end.checked_duration_since(Instant::now()) else { return false };
            // Not all that is waited for is told.
            let waited = self.changed.wait_timeout(state, left.min(REACT));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, session: &str, change: impl FnOnce(&mut Page)) {
        let mut state = self.state();
        if let Some(page) = state.pages.iter_mut().find(|it| it.session == session) {
            change(page);
        }
        drop(state);
        self.changed.notify_all();
    }

    fn attached(&self, wire: &Wire, parent: &str, params: &Value) {
        let session = text(params, "/sessionId").to_owned();
        let target = text(params, "/targetInfo/targetId").to_owned();
        // Let go on first: one that waits holds up who opened it. What it asks for in that moment is refused, because
        // it is on no list.
        let close = || {
            begin(wire, &session);
            wire.tell("", "Target.closeTarget", json!({ "targetId": target }));
        };
        match text(params, "/targetInfo/type") {
            "page" => {
                let mut state = self.state();
                let room = state.opening && state.pages.len() < PAGES_MAX;
                if !room && !state.pages.is_empty() {
                    drop(state);
                    return close();
                }
                let opener = params.pointer("/targetInfo/openerId");
                let page = Page {
                    session: session.clone(),
                    target: target.clone(),
                    opened: opener.map(|_| Instant::now()),
                    ..Page::default()
                };
                state.pages.push(page);
                drop(state);
                self.prepare(wire, &session);
                self.changed.notify_all();
            }
            "iframe" => {
                let frame = Frame { session: session.clone(), target, parent: parent.to_owned() };
                self.state().frames.push(frame);
                self.prepare(wire, &session);
            }
            "worker" | "shared_worker" => {
                self.state().workers.insert(session.clone());
                begin(wire, &session);
            }
            // Service workers would outlive their page.
            _ => close(),
        }
    }

    fn prepare(&self, wire: &Wire, session: &str) {
        let (width, height) = self.viewport;
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        let script = json!({ "source": BEFORE_EVERY_PAGE, "runImmediately": true });
        wire.tell(session, "Page.enable", json!({}));
        wire.tell(session, "Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        wire.tell(session, "Page.setInterceptFileChooserDialog", json!({ "enabled": true }));
        wire.tell(session, "Page.addScriptToEvaluateOnNewDocument", script);
        wire.tell(session, "Emulation.setDeviceMetricsOverride", size);
        wire.tell(session, "Network.enable", json!({ "maxTotalBufferSize": 1 << 20 }));
        wire.tell(session, "Network.setBypassServiceWorker", json!({ "bypass": true }));
        begin(wire, session);
    }

    /// A request that waits for our word. What is no request of the web does not go on.
    fn paused(&self, wire: &Wire, session: &str, params: &Value) {
        let id = text(params, "/requestId");
        let (scheme, _) = text(params, "/request/url").split_once(':').unwrap_or_default();
        let document = text(params, "/resourceType") == "Document";
        let goes_on = self.is_known(session)
            && match scheme.to_ascii_lowercase().as_str() {
                "http" | "https" => true,
                // What a page has in itself; but it is not a page to go to.
                "data" | "blob" => !document || self.is_frame(session, text(params, "/frameId")),
                _ => false,
            };
        if goes_on {
            wire.tell(session, "Fetch.continueRequest", json!({ "requestId": id }));
        } else {
            let params = json!({ "requestId": id, "errorReason": "BlockedByClient" });
            wire.tell(session, "Fetch.failRequest", params);
        }
    }

    /// Is it something that may go on?
    fn is_known(&self, session: &str) -> bool {
        let state = self.state();
        state.pages.iter().any(|it| it.session == session)
            || state.frames.iter().any(|it| it.session == session)
            || state.workers.contains(session)
    }

    /// Is it a frame inside a page?
    fn is_frame(&self, session: &str, frame: &str) -> bool {
        !self.state().pages.iter().any(|it| it.session == session && it.target == frame)
    }

    /// Somebody wants a password. Our proxy gets it, a server never.
    fn challenged(&self, wire: &Wire, session: &str, params: &Value) {
        let id = text(params, "/requestId");
        let ours = text(params, "/authChallenge/source") == "Proxy"
            && text(params, "/authChallenge/origin") == self.proxy
            && self.count_challenge(id) <= CHALLENGES_PER_REQUEST_MAX;
        let response = if ours {
            let Credentials { name, token } = &self.credentials;
            json!({ "response": "ProvideCredentials", "username": name, "password": token.shown_once() })
        } else {
            json!({ "response": "CancelAuth" })
        };
        let params = json!({ "requestId": id, "authChallengeResponse": response });
        wire.tell(session, "Fetch.continueWithAuth", params);
    }

    fn count_challenge(&self, id: &str) -> u8 {
        let mut state = self.state();
        if state.challenges.len() >= CHALLENGES_MAX {
            state.challenges.clear();
        }
        let count = state.challenges.entry(id.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count
    }

    fn answered(&self, session: &str, params: &Value) {
        if text(params, "/type") != "Document" {
            return;
        }
        let loader = text(params, "/loaderId").to_owned();
        let status = params.pointer("/response/status").and_then(Value::as_u64).unwrap_or(0);
        // Only without encryption does the proxy speak in the answer, and it takes this field from all others.
        let plain = text(params, "/response/url").starts_with("http:");
        let rule = params.pointer("/response/headers/x-lazaret-refusal").and_then(Value::as_str);
        let rule = rule.filter(|_| plain).map(str::to_owned);
        let frame = text(params, "/frameId").to_owned();
        let status = u16::try_from(status).unwrap_or(0);
        self.change(session, |page| {
            if page.target == frame {
                page.answered = (loader, status, rule);
            }
        });
    }

    fn happened_in_frame(&self, session: &str, method: &str, params: &Value) {
        let frame = text(params, "/frameId").to_owned();
        let loader = text(params, "/loaderId").to_owned();
        let name = text(params, "/name").to_owned();
        self.change(session, |page| {
            if page.target != frame {
                return;
            }
            match (method, name.as_str()) {
                ("Page.frameStartedLoading" | "Page.frameRequestedNavigation", _) => {
                    page.loading = true;
                }
                ("Page.frameStoppedLoading", _) => {
                    page.loading = false;
                    page.opened = None;
                }
                ("Page.lifecycleEvent", "load") => page.loaded = loader,
                _ => {}
            }
        });
    }
}

impl Hears for Watch {
    fn event(&self, wire: &Wire, session: &str, method: &str, params: &Value) {
        match method {
            "Target.attachedToTarget" => self.attached(wire, session, params),
            "Target.detachedFromTarget" => {
                let gone = text(params, "/sessionId");
                let mut state = self.state();
                state.pages.retain(|it| it.session != gone);
                state.frames.retain(|it| it.session != gone && it.parent != gone);
                state.workers.remove(gone);
                drop(state);
                self.changed.notify_all();
            }
            "Fetch.requestPaused" => self.paused(wire, session, params),
            "Fetch.authRequired" => self.challenged(wire, session, params),
            "Page.javascriptDialogOpening" => {
                // Nobody is there to be asked. Who leaves a page may leave it.
                let accept = text(params, "/type") == "beforeunload";
                wire.tell(session, "Page.handleJavaScriptDialog", json!({ "accept": accept }));
            }
            "Network.responseReceived" => self.answered(session, params),
            "Inspector.targetCrashed" => self.change(session, |page| {
                page.crashed = true;
                page.loading = false;
            }),
            _ if method.starts_with("Page.") => self.happened_in_frame(session, method, params),
            _ => {}
        }
    }

    fn ended(&self) {
        let mut state = self.state();
        state.ended = true;
        state.pages.clear();
        drop(state);
        self.changed.notify_all();
    }
}

/// What attaches to what: pages and all that runs for them; not the browser's own windows.
pub(crate) fn attach() -> Value {
    let kinds = ["page", "iframe", "worker", "shared_worker", "service_worker"];
    let filter: Vec<Value> = kinds.iter().map(|it| json!({ "type": it })).collect();
    json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter })
}

/// Lets something new begin, once what it starts and what it loads are seen.
fn begin(wire: &Wire, session: &str) {
    wire.tell(session, "Fetch.enable", json!({ "handleAuthRequests": true }));
    wire.tell(session, "Target.setAutoAttach", attach());
    wire.tell(session, "Runtime.runIfWaitingForDebugger", json!({}));
}

/// A text in an event; empty if it is not there.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
