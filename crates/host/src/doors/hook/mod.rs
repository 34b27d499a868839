//! The door for the hooks of coding agents: what a host says of a session becomes what the monitor judges and hears,
//! and the verdict goes back in the host's dialect (crate `hooks`).
//!
//! A hook judges before a tool runs and hears of its result afterwards; the tool itself runs elsewhere.

mod announced;
mod around;
mod batch;
mod both_doors;
mod by_gateway;
mod call;
mod called;
mod carried;
mod commanded;
mod counts;
mod expanded;
mod fetching;
mod folder;
mod given;
mod instructing;
mod interactive;
mod left;
mod lineage;
mod mentioned;
mod past_gateway;
mod prompt;
mod scheduled;
mod session;
mod spoken;
mod stamps;
mod tools;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use aegx::{Principal, RecordType};
use evidence::{Clock as _, NewRecord, SystemClock};
use hooks::{Answer, Event, Host, Reply, Seen};
use model::Kind;
use serde_json::json;

use crate::doors::before;
use crate::doors::mcp::Kept;
use crate::doors::notify::Notifier;
use crate::gate::Gate;
use crate::trust::Trust;
use announced::Announced;
use by_gateway::Owed;
use call::Came;
use called::Times;
use carried::{Carried, Which};
use given::Given;
use lineage::Seats;
use session::Hooked;
use stamps::Stamps;

pub(in crate::doors) use by_gateway::Words;
pub use called::{Called, called};
pub(in crate::doors) use lineage::Lineage;
pub(in crate::doors) use tools::type_of;

/// Sessions of hooks that are open at once; whoever comes then takes the place of the one that is idle for longest.
const SESSIONS_MAX: usize = 4096;
/// Words of hosts for a session that goes on with what was said in another, or before a summary.
const GOES_ON: &[&str] = &["resume", "fork", "compact"];
/// How much of a hook's input that is refused is recorded, in bytes.
const PREVIEW_BYTES_MAX: usize = 400;

/// The session in which `lazaret verify` describes calls to our own hooks: no agent's.
pub const CANARY_SESSION: &str = "lazaret-verify";

/// The door.
pub struct HookDoor<'a> {
    gate: &'a Gate,
    home: &'a Path,
    user_home: Option<PathBuf>,
    sessions: Mutex<HashMap<String, Arc<Mutex<Hooked>>>>,
    sessions_max: usize,
    /// When it was looked last for sessions that were left.
    swept: Mutex<Option<Instant>>,
    /// Calls on their way to servers.
    announced: Mutex<Vec<Announced>>,
    /// Calls that a daemon before this one let through.
    carried: Mutex<HashMap<Which, Carried>>,
    /// What one door saw and another did not.
    missed: AtomicU64,
    /// Calls to servers behind the gateway that it did not see, and calls that it saw and no hook announced.
    past_gateway: AtomicU64,
    unannounced: AtomicU64,
    /// Files that changed between calls, and nobody was seen to write them.
    changed: AtomicU64,
    stamps: Mutex<Stamps>,
    called: Mutex<Times>,
    /// From which processes the hooks of sessions come.
    seats: Mutex<Seats>,
    /// What servers said to clients of agents that were not known yet.
    owed: Mutex<Vec<Owed>>,
    given: Mutex<Given>,
    notifier: Notifier,
    /// What is known of servers: every result of one asks for it.
    servers: Mutex<Kept>,
}

impl<'a> HookDoor<'a> {
    /// A door to `gate` on the state directory `home`, for the user whose home is `user_home`.
    #[must_use]
    pub fn new(gate: &'a Gate, home: &'a Path, user_home: Option<PathBuf>) -> Self {
        Self {
            gate,
            home,
            user_home,
            sessions: Mutex::default(),
            sessions_max: SESSIONS_MAX,
            swept: Mutex::default(),
            announced: Mutex::default(),
            carried: Mutex::new(carried::taken(home)),
            missed: AtomicU64::new(0),
            past_gateway: AtomicU64::new(0),
            unannounced: AtomicU64::new(0),
            changed: AtomicU64::new(0),
            stamps: Mutex::default(),
            called: Mutex::new(Times::of(home)),
            seats: Mutex::default(),
            owed: Mutex::default(),
            given: Mutex::default(),
            notifier: Notifier::default(),
            servers: Mutex::default(),
        }
    }

    /// The same, with room for so many sessions.
    #[must_use]
    pub fn with_sessions_max(self, sessions_max: usize) -> Self {
        Self { sessions_max, ..self }
    }

    /// Answers one hook, in the words of its host. Whatever goes wrong is a denial.
    #[must_use]
    pub fn answer(&self, host: Host, event: &str, input: &[u8]) -> Answer {
        self.answer_below(host, event, input, &Lineage::default())
    }

    /// The same for a hook that comes from below these processes.
    pub(in crate::doors) fn answer_below(
        &self,
        host: Host,
        event: &str,
        input: &[u8],
        lineage: &Lineage,
    ) -> Answer {
        let seen = match hooks::read(host, event, input) {
            Ok(seen) => seen,
            Err(error) => {
                self.record(
                    "hook_refused",
                    &json!({
                        "host": host.as_str(),
                        "event": event,
                        "error": error.to_string(),
                        "preview": self.preview(input),
                    }),
                );
                let reason = format!("Lazaret does not understand this hook: {error}");
                return hooks::answer(host, event, None, &Reply::Deny { reason });
            }
        };
        if seen.session != CANARY_SESSION {
            self.calls(host.as_str(), SystemClock.unix_seconds());
        }
        let reply = self.reply(host, &seen, lineage).unwrap_or_else(|why| {
            let content = json!({ "host": host.as_str(), "event": event, "error": why });
            self.record("hook_refused", &content);
            Reply::Deny { reason: format!("Lazaret: {why}") }
        });
        hooks::answer(host, event, Some(&seen), &reply)
    }

    fn reply(&self, host: Host, seen: &Seen, lineage: &Lineage) -> Result<Reply, String> {
        let started_by = self.started_by(host, seen, lineage);
        if let Event::SessionEnd = seen.event {
            return self.end(host, seen, started_by.as_deref());
        }
        let session = self.session(host, seen, started_by.as_deref())?;
        self.hear_owed(&session::id_of(host, &seen.session, None))?;
        let mut session = lock(&session);
        match &seen.event {
            Event::SessionStart { source } => {
                if GOES_ON.contains(&source.as_str()) {
                    before::hear_of(self.gate, &session.who)?;
                }
                self.hear_instructions(&mut session)?;
                let welcome = self.welcome(&session);
                let dialect = hooks::dialect(host);
                let later = dialect.tells(hooks::Kind::Prompt);
                if dialect.tells(hooks::Kind::SessionStart) || !later {
                    return Ok(welcome);
                }
                session.untold = Some(welcome).filter(|it| *it != Reply::Pass);
                Ok(Reply::Pass)
            }
            Event::Prompt { text, is_others } => {
                let is_agents = *is_others || started_by.is_some() || session.is_of_agent();
                let reply = self.prompt(&mut session, is_agents, text)?;
                // The first answer that the model hears of.
                let untold = if reply == Reply::Pass { session.untold.take() } else { None };
                Ok(untold.unwrap_or(reply))
            }
            Event::Before(tool) => self.before(&mut session, tool),
            Event::After { tool, output, failed, shape } => {
                self.after(&mut session, tool, Came { output, failed: *failed, shape })
            }
            Event::Batch { calls } => self.batch(&mut session, calls),
            Event::Instructions { path } => {
                self.hear_instructions(&mut session)?;
                if let Some(path) = path {
                    self.hear_instruction(&mut session, Path::new(path))?;
                }
                Ok(Reply::Pass)
            }
            Event::Stop { message } => {
                self.settle(&mut session)?;
                self.said(&session, message.as_deref())
            }
            Event::SubagentStop { id } => {
                drop(session);
                self.settle_child(host, seen, id)
            }
            // The host asks its user by itself; what the gate says of the call was said before.
            Event::Permission(_)
            | Event::Compact { .. }
            | Event::SubagentStart { .. }
            | Event::SessionEnd
            | Event::Other => Ok(Reply::Pass),
        }
    }

    /// Does the session work in a folder that the user trusts?
    fn is_trusted(&self, session: &Hooked) -> bool {
        let trust = self.trust();
        session.cwd.as_ref().is_some_and(|cwd| trust.is_ok_and(|it| it.covers(cwd)))
    }

    fn trust(&self) -> Result<Trust, String> {
        Trust::of(self.home).map_err(|error| error.to_string())
    }

    /// The session of a hook, opened or found again.
    fn session(
        &self,
        host: Host,
        seen: &Seen,
        started_by: Option<&str>,
    ) -> Result<Arc<Mutex<Hooked>>, String> {
        let id = session::id_of(host, &seen.session, None);
        // One that goes on in another process is no child of itself.
        let parent = started_by.filter(|it| *it != id && lock(&self.sessions).contains_key(*it));
        let main = self.open(host, seen, &id, parent)?;
        let Some(agent) = &seen.subagent else { return Ok(main) };
        let child = session::id_of(host, &seen.session, Some(agent));
        self.open(host, seen, &child, Some(&id))
    }

    /// The session whose agent has started whoever this hook comes from, if one has.
    fn started_by(&self, host: Host, seen: &Seen, lineage: &Lineage) -> Option<String> {
        let mut seats = lock(&self.seats);
        let above = seats.above(lineage).map(str::to_owned);
        let id = session::id_of(host, &seen.session, None);
        // Where an agent sits is not for what it has started to say.
        if above.as_ref() != Some(&id) {
            seats.see(host, &id, lineage);
        }
        above
    }

    fn open(
        &self,
        host: Host,
        seen: &Seen,
        id: &str,
        parent: Option<&str>,
    ) -> Result<Arc<Mutex<Hooked>>, String> {
        // Nobody waits for a session while all of them are held.
        let found = lock(&self.sessions).get(id).cloned();
        if let Some(found) = found {
            lock(&found).moved_to(self.gate, seen.cwd.as_deref());
            return Ok(found);
        }
        self.make_room(parent);
        let mut sessions = lock(&self.sessions);
        if let Some(found) = sessions.get(id) {
            return Ok(Arc::clone(found));
        }
        if sessions.len() >= self.sessions_max {
            let max = self.sessions_max;
            return Err(format!("{max} sessions are open and busy; `lazaret daemon restart`"));
        }
        let opened = Hooked::open(self.gate, self.home, host, id, parent)?;
        let opened = Arc::new(Mutex::new(opened));
        lock(&opened).moved_to(self.gate, seen.cwd.as_deref());
        sessions.insert(id.to_owned(), Arc::clone(&opened));
        Ok(opened)
    }

    /// A subagent has ended: its own calls are over, those of who started it are not.
    fn settle_child(&self, host: Host, seen: &Seen, id: &str) -> Result<Reply, String> {
        let child = session::id_of(host, &seen.session, Some(id));
        let child = lock(&self.sessions).get(&child).cloned();
        if let Some(child) = child {
            self.settle(&mut lock(&child))?;
        }
        Ok(Reply::Pass)
    }

    fn end(&self, host: Host, seen: &Seen, started_by: Option<&str>) -> Result<Reply, String> {
        let id = session::id_of(host, &seen.session, None);
        let mut gone: Vec<Arc<Mutex<Hooked>>> = Vec::new();
        // Of the agent itself, and not of what it has started.
        if started_by != Some(&*id) {
            lock(&self.seats).leave(&id);
        }
        {
            let mut sessions = lock(&self.sessions);
            let prefix = format!("{id}:");
            // Those that it started first: they tell it what they learn.
            let children: Vec<String> =
                sessions.keys().filter(|it| it.starts_with(&prefix)).cloned().collect();
            gone.extend(children.iter().filter_map(|it| sessions.remove(it)));
            gone.extend(sessions.remove(&id));
        }
        for session in gone {
            let mut session = lock(&session);
            self.settle(&mut session)?;
            session.end(self.gate)?;
        }
        Ok(Reply::Pass)
    }

    /// Tells the desktop that a question waits.
    pub(super) fn notify(&self, id: &str, about: &str) {
        let about = self.gate.monitor.without_secrets(about);
        self.notifier.tell(self.home, id, &about);
    }

    /// Notes that something came in place of a hook.
    pub(super) fn refused_frame(&self, error: &str) {
        self.record("hook_refused", &json!({ "decision": "deny", "error": error }));
    }

    /// The beginning of what was refused. Secrets are taken out before it is cut: half of one is none that anybody knows.
    fn preview(&self, input: &[u8]) -> String {
        let text = String::from_utf8_lossy(input);
        let text = self.gate.monitor.without_secrets(&text);
        text.get(..text.floor_char_boundary(PREVIEW_BYTES_MAX)).unwrap_or_default().to_owned()
    }

    /// INVARIANT (NothingSilent): what a hook was refused for, and what a door did not see.
    fn record(&self, kind: &'static str, content: &serde_json::Value) {
        let mut record =
            NewRecord::of_host(RecordType::GuardDecision, Kind::of_static(kind), content.clone());
        record.principal = Principal::Tool;
        // It stays as it is, recorded or not.
        let _ = self.gate.journal.append(record);
    }
}

/// A thread that panicked has left nothing half done: every change is one call.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
