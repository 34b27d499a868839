//! All browsers: whose each is, how many there may be, and when one has to go.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use aegx::RecordType;
use data_encoding::HEXLOWER;
use egress::{Dialer, Rules};
use evidence::{Journal, NewRecord};
use model::{Caller, Kind, ToolDef};
use monitor::{Admission, Monitor};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::browser::Browser;
use crate::limits::{BROWSERS_MAX, END, LOOK, Limits};
use crate::profile::Profile;
use crate::program::Program;

/// Threads that carry bytes for pages.
const THREADS: usize = 2;
/// Randomness in the name of a browser, in bytes. Who knows the name of another's has nothing of it.
const ID_BYTES: usize = 16;

/// Who says what a page may reach.
pub trait Admits: Send + Sync {
    /// By which files the session `who`, which has `tools`, is admitted, and what it may reach.
    ///
    /// # Errors
    /// Why it is not admitted.
    fn admit(&self, who: &Caller, tools: &[ToolDef]) -> Result<(Admission, Rules), String>;
}

/// What browsers stand on.
pub struct Setup {
    /// The gate.
    pub monitor: Arc<Monitor>,
    /// Its journal.
    pub journal: Arc<Journal>,
    /// The state directory; nobody else has it open.
    pub home: PathBuf,
    /// What is started.
    pub program: Program,
    /// What it may cost.
    pub limits: Limits,
    /// Opens connections for pages.
    pub dialer: Arc<Dialer>,
    /// What pages may reach.
    pub admits: Box<dyn Admits>,
    /// A folder with a database of authorities, besides those that the browser has: whoever they vouch for is
    /// believed. For tests.
    pub dangerously_trusted_for_tests: Option<PathBuf>,
}

/// All browsers of a host. Dropped, they are ended.
pub struct Browsers {
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
    keeper: Option<JoinHandle<()>>,
}

struct Shared {
    setup: Setup,
    open: Mutex<Open>,
    /// Said when all is to end.
    ended: Condvar,
}

#[derive(Default)]
struct Open {
    by_id: HashMap<String, Arc<Browser>>,
    /// Places that are taken, by whom.
    slots: HashMap<usize, Caller>,
    ends: bool,
}

/// A place among all browsers, given back unless a browser has taken it.
struct Slot<'a> {
    shared: &'a Shared,
    number: usize,
    kept: bool,
}

impl Browsers {
    /// Ready to start browsers. What earlier ones have left is removed.
    ///
    /// # Errors
    /// If the system gives no threads, or the state directory cannot be read.
    pub fn new(setup: Setup) -> io::Result<Self> {
        Profile::sweep(&setup.home)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("browser-way")
            .enable_all()
            .build()?;
        let (open, ended) = Default::default();
        let shared = Arc::new(Shared { setup, open, ended });
        let keeper = {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("browser-keeper".to_owned()).spawn(move || shared.keep())?
        };
        Ok(Self { shared, runtime: Some(runtime), keeper: Some(keeper) })
    }

    /// Ends all browsers of a session.
    pub fn end_session(&self, who: &Caller) {
        let mut open = self.shared.open();
        let theirs: HashSet<String> =
            open.by_id.iter().filter(|(_, it)| it.who == *who).map(|(id, _)| id.clone()).collect();
        let gone: Vec<_> =
            theirs.iter().filter_map(|it| self.shared.remove(&mut open, it)).collect();
        drop(open);
        // Outside of the lock: it takes a moment.
        drop(gone);
    }

    /// Starts a browser, and gives it and its name. The error is for the agent.
    pub(crate) fn start(
        &self,
        who: &Caller,
        viewport: (u64, u64),
    ) -> Result<(String, Arc<Browser>), String> {
        let Some(runtime) = &self.runtime else { return Err("it is ending".to_owned()) };
        let mut slot = self.shared.take_slot(who)?;
        let mut random = [0; ID_BYTES];
        getrandom::fill(&mut random).map_err(|error| format!("no randomness: {error}"))?;
        let id = HEXLOWER.encode(&random);
        let setup = &self.shared.setup;
        let place = (id.as_str(), slot.number);
        let browser = Arc::new(Browser::launch(setup, runtime.handle(), who, place, viewport)?);
        let mut open = self.shared.open();
        if open.ends {
            return Err("it is ending".to_owned());
        }
        open.by_id.insert(id.clone(), Arc::clone(&browser));
        slot.kept = true;
        Ok((id, browser))
    }

    /// The browser `id`, if it is one of `who`. Somebody else's is as unknown as one that never was.
    pub(crate) fn find(&self, who: &Caller, id: &str) -> Option<Arc<Browser>> {
        let open = self.shared.open();
        open.by_id.get(id).filter(|it| it.who == *who).cloned()
    }

    /// Ends the browser `id` of `who`; answers whether there was one.
    pub(crate) fn close(&self, who: &Caller, id: &str) -> bool {
        let mut open = self.shared.open();
        if open.by_id.get(id).is_none_or(|it| it.who != *who) {
            return false;
        }
        let gone = self.shared.remove(&mut open, id);
        drop(open);
        gone.is_some()
    }

    /// Numbers of the processes of `who`'s browsers, for tests of how they end.
    #[must_use]
    pub fn process_ids(&self, who: &Caller) -> Vec<u32> {
        let open = self.shared.open();
        open.by_id.values().filter(|it| it.who == *who).map(|it| it.process_id()).collect()
    }
}

impl Drop for Browsers {
    fn drop(&mut self) {
        let mut open = self.shared.open();
        open.ends = true;
        let gone: Vec<Arc<Browser>> = open.by_id.drain().map(|(_, it)| it).collect();
        drop(open);
        self.shared.ended.notify_all();
        drop(gone);
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(END);
        }
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_slot(&self, who: &Caller) -> Result<Slot<'_>, String> {
        let mut open = self.open();
        let most = self.setup.limits.per_session;
        if open.slots.values().filter(|it| *it == who).count() >= most {
            return Err(format!("this session has {most} browsers open; close one"));
        }
        let free = (0..BROWSERS_MAX).find(|it| !open.slots.contains_key(it));
        let number =
            free.ok_or_else(|| format!("{BROWSERS_MAX} browsers are open; try again later"))?;
        open.slots.insert(number, who.clone());
        Ok(Slot { shared: self, number, kept: false })
    }

    fn remove(&self, open: &mut Open, id: &str) -> Option<Arc<Browser>> {
        let browser = open.by_id.remove(id)?;
        open.slots.remove(&browser.slot);
        Some(browser)
    }

    /// Ends what nobody uses any more, until all is to end.
    fn keep(&self) {
        let mut open = self.open();
        while !open.ends {
            let waited = self.ended.wait_timeout(open, LOOK.min(self.setup.limits.idle));
            open = waited.unwrap_or_else(PoisonError::into_inner).0;
            let over = |it: &Browser| {
                if it.has_ended() {
                    return Some("it ended by itself");
                }
                (it.idle() >= self.setup.limits.idle).then_some("nobody used it")
            };
            let all = open.by_id.iter();
            let over: Vec<(String, &str)> =
                all.filter_map(|(id, it)| Some((id.clone(), over(it)?))).collect();
            let gone: Vec<_> = over
                .iter()
                .filter_map(|(id, why)| Some((self.remove(&mut open, id)?, *why)))
                .collect();
            drop(open);
            for (browser, why) in gone {
                self.record_end(&browser.who, why);
            }
            open = self.open();
        }
    }

    /// INVARIANT (NothingSilent): what ends without being told to leaves a record.
    fn record_end(&self, who: &Caller, why: &str) {
        let kind = Kind::of_static("browser_ended");
        let content = json!({ "reason": why, "user": who.user.as_str() });
        let record = NewRecord {
            session: Some(who.session.clone()),
            agent: Some(who.agent.clone()),
            ..NewRecord::of_host(RecordType::GuardDecision, kind, content)
        };
        // It has ended, recorded or not.
        let _ = self.setup.journal.post(record);
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.shared.open().slots.remove(&self.number);
        }
    }
}
