//! One browser, from its start to its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::Caller;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::confinement::Confinement;
use crate::fault::Fault;
use crate::flags::flags;
use crate::limits::{LAUNCH, ORDER};
use crate::pool::Setup;
use crate::process::Process;
use crate::profile::{Profile, RunsAs};
use crate::snapshot::Refs;
use crate::watch::{Watch, attach, text};
use crate::way::Way;
use crate::wire::Wire;

/// A browser that runs. The order of the fields is that in which it ends.
pub(crate) struct Browser {
    /// The word that ends it goes by here.
    pub(crate) wire: Leash,
    process: Process,
    pub(crate) watch: Arc<Watch>,
    pub(crate) way: Way,
    _profile: Profile,
    /// Whose it is.
    pub(crate) who: Caller,
    /// Its place among all browsers.
    pub(crate) slot: usize,
    pub(crate) product: String,
    pub(crate) confinement: Confinement,
    /// What the last snapshot has shown. Held while something is done: one thing at a time.
    pub(crate) refs: Mutex<Refs>,
    used: Mutex<Instant>,
}

/// The connection, which ends with the browser.
pub(crate) struct Leash(Arc<Wire>);

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Leash {
    pub(crate) fn call(
        &self,
        session: &str,
        method: &'static str,
        params: Value,
    ) -> Result<Value, Fault> {
        self.0.call(session, method, params, ORDER)
    }

    pub(crate) fn call_within(
        &self,
        session: &str,
        method: &'static str,
        params: Value,
        most: Duration,
    ) -> Result<Value, Fault> {
        self.0.call(session, method, params, most)
    }

    pub(crate) fn tell(&self, session: &str, method: &'static str, params: Value) {
        self.0.tell(session, method, params);
    }
}

impl Browser {
    /// Starts one for `who`. The error is for the agent; nobody else's words are in it.
    pub(crate) fn launch(
        setup: &Setup,
        runtime: &Handle,
        who: &Caller,
        (id, slot): (&str, usize),
        viewport: (u64, u64),
    ) -> Result<Self, String> {
        let runs_as = RunsAs::of(slot);
        let profile = Profile::make(&setup.home, id, runs_as)
            .map_err(|error| format!("no directory for its profile: {error}"))?;
        if let Some(authorities) = &setup.dangerously_trusted_for_tests {
            let trusted = profile.dangerously_trust_for_tests(authorities, runs_as);
            trusted.map_err(|error| format!("the authorities of the test: {error}"))?;
        }
        let (way, credentials) = Way::open(setup, runtime, who, id)?;
        let flags = flags(profile.path(), way.address());
        let (mut process, stream) = Process::start(setup.program, &flags, &profile, runs_as)
            .map_err(|error| format!("it could not be started: {error}"))?;
        let watch =
            Arc::new(Watch::new(credentials, format!("http://{}", way.address()), viewport));
        let wire = Wire::new(stream, Arc::clone(&watch) as Arc<_>).map(Leash);
        let wire = wire.map_err(|error| error.to_string())?;
        let begun =
            begin(&wire, &watch).map_err(|error| format!("{error}; {}", process.last_words()))?;
        let confinement = Confinement::seen(process.id(), &begun.pages, runs_as);
        if !confinement.is_enough() {
            let why = "its sandbox does not hold here, so it is not used";
            return Err(format!("{why}: {}", confinement.told()));
        }
        Ok(Self {
            wire,
            process,
            watch,
            way,
            _profile: profile,
            who: who.clone(),
            slot,
            product: begun.product,
            confinement,
            refs: Mutex::default(),
            used: Mutex::new(Instant::now()),
        })
    }

    /// The turn to do something with it; none if somebody else has it.
    pub(crate) fn turn(&self) -> Option<MutexGuard<'_, Refs>> {
        let turn = match self.refs.try_lock() {
            Ok(turn) => turn,
            Err(std::sync::TryLockError::Poisoned(turn)) => turn.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return None,
        };
        self.touch();
        Some(turn)
    }

    /// It was used just now.
    pub(crate) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// For how long nobody has used it.
    pub(crate) fn idle(&self) -> Duration {
        if matches!(self.refs.try_lock(), Err(std::sync::TryLockError::WouldBlock)) {
            return Duration::ZERO;
        }
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Has it ended by itself?
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.watch.page(), Err(Fault::Gone))
    }

    /// Its number, for tests of how it ends.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }
}

/// What is known of a browser that has begun.
struct Begun {
    product: String,
    /// The processes of pages.
    pages: Vec<u32>,
}

/// Brings a new browser to its first, empty page.
fn begin(wire: &Leash, watch: &Watch) -> Result<Begun, Fault> {
    let version = wire.call_within("", "Browser.getVersion", json!({}), LAUNCH)?;
    wire.call("", "Target.setAutoAttach", attach())?;
    // A context that is kept in memory only.
    let context =
        wire.call("", "Target.createBrowserContext", json!({ "disposeOnDetach": true }))?;
    let context = text(&context, "/browserContextId");
    let deny = json!({ "behavior": "deny", "browserContextId": context });
    wire.call("", "Browser.setDownloadBehavior", deny)?;
    // All that are not in the list are refused.
    let none = json!({ "permissions": [], "browserContextId": context });
    wire.call("", "Browser.grantPermissions", none)?;
    let page = json!({ "url": "about:blank", "browserContextId": context });
    wire.call_within("", "Target.createTarget", page, LAUNCH)?;
    let page = watch.wait_for_page(LAUNCH)?;
    // Answered by the page's process, so there is one.
    wire.call_within(&page.session, "Runtime.evaluate", json!({ "expression": "1" }), LAUNCH)?;
    let processes = wire.call("", "SystemInfo.getProcessInfo", json!({}))?;
    let all = processes.pointer("/processInfo").and_then(Value::as_array);
    let pages = all.into_iter().flatten().filter(|it| text(it, "/type") == "renderer");
    let pages = pages.filter_map(|it| u32::try_from(it.get("id")?.as_u64()?).ok()).collect();
    Ok(Begun { product: text(&version, "/product").to_owned(), pages })
}
