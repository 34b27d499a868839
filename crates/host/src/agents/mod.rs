//! Agents of our own: one confined worker for each open session, and turns that always come to an end.

mod cards;
mod create;
mod settings;
mod slots;
mod words;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use agent::{
    AgentCard, Approval, Frame, Question, Reply, Runtime, ToWorker, Turn, TurnError, TurnErrorCode,
};
use evidence::{Clock, SystemClock};
use llm::{Role, Usage};
use model::{AgentId, Caller, Kind, SessionId, UserId};
use monitor::Refusal;
use policy::access::Origin;

use crate::agent_session::SessionOptions;
use crate::gate::{Gate, GateError};
use crate::worker::{Asks, HistoryError, IDLE_MAX, Leases, Prepared, Seen, Spawner, Start, Worker};
use crate::worker::{END_WITHIN, History, Spoken, TurnLimits};

pub use cards::{DEFAULT_AGENT, all as cards, card};
pub use create::{create, new_session};
pub use settings::{AgentsOptions, WORKERS_MAX};

use slots::{Full, Slot, Slots};

/// How often it is looked for workers that have nothing to do.
const SWEEP: Duration = Duration::from_secs(15);

/// How long a turn may take to end whose worker was closed: what it has begun is waited for, and the worker.
const FORCED_WITHIN: Duration = Duration::from_secs(15);

/// Runs agents. What it stands on must stay until it has ended.
pub struct Agents {
    gate: Arc<Gate>,
    home: PathBuf,
    asks: Arc<dyn Asks>,
    options: AgentsOptions,
    spawner: Spawner,
    leases: Leases,
    slots: Slots,
    /// Which reading of the files counts.
    generation: AtomicU64,
}

/// A turn, and what was denied in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// How it ended.
    pub reply: Reply,
    /// Calls that the gate did not let happen: tool and rule.
    pub denied: Vec<String>,
    /// Is there a call among them that a person could allow?
    pub needs_person: bool,
}

impl Account {
    /// Of a turn that was interrupted before anything was said.
    fn interrupted() -> Self {
        let (content, usage, tool_calls) = (String::new(), Usage::default(), Vec::new());
        let reply = Reply { content, interrupted: true, usage, tool_calls };
        Self { reply, denied: Vec::new(), needs_person: false }
    }
}

impl Agents {
    /// Agents of the state directory `home`, behind `gate`, with models that `asks` reaches.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn new(
        gate: Arc<Gate>,
        home: &Path,
        asks: Arc<dyn Asks>,
        options: AgentsOptions,
    ) -> Result<Arc<Self>, GateError> {
        let spawner = Spawner::new().map_err(GateError::unable)?;
        let slots = Slots::new(options.workers_max, options.workers_per_user_max);
        let (home, generation) = (home.to_owned(), AtomicU64::default());
        let leases = Leases::default();
        let agents =
            Arc::new(Self { gate, home, asks, options, spawner, leases, slots, generation });
        let weak = Arc::downgrade(&agents);
        let sweeper = thread::Builder::new().name("sweeper".to_owned());
        sweeper.spawn(move || sweep(&weak)).map_err(GateError::unable)?;
        Ok(agents)
    }

    /// Opens the session of a turn and starts its worker, so that the turn finds it ready. Nothing is said.
    ///
    /// # Errors
    /// As [`Runtime::turn`].
    pub fn open(&self, turn: &Turn) -> Result<(), TurnError> {
        let who = caller(turn)?;
        cards::exists(&self.home, &who.agent)?;
        self.in_slot(&who, |slot| {
            slot.begin();
            let started = self.worker(slot, &who, turn.local).map(drop);
            if started.is_err() {
                self.slots.remove(slot);
            }
            started
        })
    }

    /// Ends all workers.
    pub fn end(&self) {
        let all = self.slots.all();
        // They end at once, and are waited for one after the other.
        all.iter().for_each(|it| it.stop());
        all.iter().for_each(|it| self.end_slot(it));
    }

    /// Runs one turn, and tells what was denied in it.
    ///
    /// # Errors
    /// As [`Runtime::turn`].
    pub fn account(
        &self,
        turn: &Turn,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Account, TurnError> {
        let who = caller(turn)?;
        cards::exists(&self.home, &who.agent)?;
        self.in_slot(&who, |slot| {
            let stop = slot.begin();
            let outcome = self.turn_in(slot, &stop, &who, turn, on_frame);
            let is_of_no_use = slot.worker().is_none_or(|it| it.is_over());
            if is_of_no_use {
                self.end_worker(slot);
            }
            outcome
        })
    }

    /// Does something in the slot of `who`, in which nothing else happens meanwhile.
    fn in_slot<T>(
        &self,
        who: &Caller,
        work: impl FnOnce(&Arc<Slot>) -> Result<T, TurnError>,
    ) -> Result<T, TurnError> {
        loop {
            let slot = match self.slots.of(who) {
                Ok(slot) => slot,
                Err(full) if self.make_room(full, who) => continue,
                Err(full) => return Err(no_room(full)),
            };
            let Some(_query) = slot.query() else {
                return Err(error(TurnErrorCode::QueryInProgress, "a turn of this session runs"));
            };
            // Somebody may have needed its room before we had it.
            if self.slots.holds(&slot) {
                return work(&slot);
            }
        }
    }

    /// Ends the worker that had nothing to do for longest. False if all of them have a turn.
    fn make_room(&self, full: Full, who: &Caller) -> bool {
        let user = (full == Full::OfUser).then_some(who.user.as_str());
        self.slots.stalest_first(user).iter().any(|slot| {
            let Some(_query) = slot.query() else { return false };
            // One without a worker is about to have one.
            let idle = slot.worker().is_some() && self.slots.holds(slot);
            if idle {
                self.end_worker(slot);
            }
            idle
        })
    }

    fn turn_in(
        &self,
        slot: &Slot,
        stop: &Arc<AtomicBool>,
        who: &Caller,
        turn: &Turn,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Account, TurnError> {
        let worker = self.worker(slot, who, turn.local);
        if stop.load(Ordering::Acquire) {
            return Ok(Account::interrupted());
        }
        let worker = worker?;
        let history = History::of(&self.home, who).map_err(|it| not_kept(&it.into()))?;
        let earlier = history.read(&*self.gate.store, who);
        let (earlier, _) = earlier.map_err(|it| not_kept(&it))?;
        let (content, tag) = self.heard(who, turn)?;
        let said = |role, text: &str| Spoken { role, text: text.to_owned() };
        let spoken = said(Role::User, &content);
        let kept = history.add(&*self.gate.store, who, &spoken, tag.as_ref());
        kept.map_err(|it| not_kept(&it))?;

        let now = || SystemClock.unix_seconds();
        let prepared = Prepared { content: &content, earlier: &earlier, now: now() };
        let message: ToWorker = worker.prepare(&self.gate.monitor, &prepared)?;
        let limits = TurnLimits {
            wall: self.options.turn_max,
            cost: self.options.cost_max,
            ..TurnLimits::default()
        };
        let seen = worker.turn(&message, stop, limits, &*self.gate.store, &now, on_frame)?;

        let Seen { mut reply, denied, needs_person } = seen;
        reply.content = self.gate.monitor.without_secrets(&reply.content).into_owned();
        let spoken = said(Role::Assistant, &reply.content);
        self.let_out(&history, who, &spoken).map_err(|it| it.after(reply.usage))?;
        Ok(Account { reply, denied, needs_person })
    }

    /// The worker of a slot; one is started where there is none.
    fn worker(&self, slot: &Slot, who: &Caller, local: bool) -> Result<Arc<Worker>, TurnError> {
        // Before anything is read: whoever reloads meanwhile has it started again at the next turn.
        let generation = self.generation.load(Ordering::Acquire);
        if let Some(worker) = slot.worker() {
            if !worker.is_over() && slot.generation() == generation {
                return Ok(worker);
            }
            // Whoever takes it out waits until nobody else holds it.
            drop(worker);
            self.end_worker_of(slot);
        }
        let options = SessionOptions {
            profile: self.options.profile,
            approver: self.options.approver,
            workspace: self.options.workspace.clone(),
            own_workspace: self.options.workspace.is_none(),
            origin: if local { Origin::Local } else { Origin::Remote },
        };
        let start = Start {
            gate: &self.gate,
            leases: &self.leases,
            home: &self.home,
            who,
            options: &options,
            asks: &self.asks,
            spawner: &self.spawner,
            required: &self.options.required,
            hooks: self.options.hooks,
            stop: &slot.stop_wanted(),
        };
        let worker = Worker::start(&start).map_err(|why| match why {
            GateError::Refused(why) => error(TurnErrorCode::AccessDenied, why),
            // Where its files are not understood, there is no such agent.
            GateError::Usage(why) => error(TurnErrorCode::AgentNotFound, why),
            GateError::Unable(why) | GateError::Busy(why) => error(TurnErrorCode::InitFailed, why),
        })?;
        Ok(slot.put(worker, generation))
    }

    /// Ends the worker of a slot, and forgets the slot.
    fn end_worker(&self, slot: &Arc<Slot>) {
        self.end_worker_of(slot);
        self.slots.remove(slot);
    }

    fn end_worker_of(&self, slot: &Slot) {
        if let Some(worker) = slot.take() {
            // It is gone either way; a session that could not be ended in order is found so when it is opened again.
            let _ = worker.end();
        }
    }

    /// Ends the worker of a slot whose turn may run: in order if that obeys, by force if not.
    fn end_slot(&self, slot: &Arc<Slot>) {
        slot.stop();
        let query = slot.wait_for_query(END_WITHIN).or_else(|| {
            if let Some(worker) = slot.worker() {
                worker.close();
            }
            slot.wait_for_query(FORCED_WITHIN)
        });
        // A turn that hangs even so has a worker that is closed: whoever runs it ends that, should it come back.
        if query.is_some() {
            self.end_worker(slot);
        }
    }

    fn sweep(&self) {
        for slot in self.slots.all() {
            let Some(_query) = slot.query() else { continue };
            let over = |it: Arc<Worker>| it.is_over() || it.is_idle_for(IDLE_MAX);
            if slot.worker().is_some_and(over) {
                self.end_worker(&slot);
            }
        }
    }
}

impl Runtime for Agents {
    fn agents(&self) -> Vec<AgentCard> {
        cards::all(&self.home)
    }

    fn turn(&self, turn: &Turn, on_frame: &mut dyn FnMut(Frame)) -> Result<Reply, TurnError> {
        self.account(turn, on_frame).map(|it| it.reply)
    }

    fn interrupt(&self, user: &str, agent: &str, session: &str) {
        if let Some(slot) = self.slots.find(user, Some(agent), session) {
            slot.stop();
        }
    }

    fn approve(&self, user: &str, approval: &Approval) -> bool {
        let Ok(by) = UserId::parse(user) else { return false };
        let found = self.slots.find(user, None, &approval.session);
        let worker = found.and_then(|it| it.worker());
        worker.is_some_and(|it| {
            it.answer(&self.gate.monitor, &approval.tool_id, approval.approved, by)
        })
    }

    fn questions(&self, user: &str, session: &str) -> Vec<Question> {
        let found = self.slots.find(user, None, session).and_then(|it| it.worker());
        let now = SystemClock.unix_seconds();
        found.map(|it| it.questions(&*self.gate.store, now)).unwrap_or_default()
    }

    fn reloaded(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    fn close(&self, user: &str, agent: &str, session: &str) {
        if let Some(slot) = self.slots.find(user, Some(agent), session) {
            self.end_slot(&slot);
        }
    }
}

fn sweep(agents: &Weak<Agents>) {
    loop {
        thread::sleep(SWEEP);
        let Some(agents) = agents.upgrade() else { return };
        agents.sweep();
    }
}

fn caller(turn: &Turn) -> Result<Caller, TurnError> {
    let unknown =
        |it: &dyn std::fmt::Display| error(TurnErrorCode::SessionNotFound, it.to_string());
    let no_agent = |it: &dyn std::fmt::Display| error(TurnErrorCode::AgentNotFound, it.to_string());
    Ok(Caller {
        session: SessionId::parse(&turn.session).map_err(|it| unknown(&it))?,
        user: UserId::parse(&turn.user).map_err(|it| unknown(&it))?,
        agent: AgentId::parse(&turn.agent).map_err(|it| no_agent(&it))?,
        door: Kind::of_static("worker"),
    })
}

fn no_room(full: Full) -> TurnError {
    let why = match full {
        Full::OfUser => "as many workers of this user run as may",
        Full::OfAll => "as many workers run as may",
    };
    error(TurnErrorCode::WorkersExhausted, why)
}

fn refused(refusal: Refusal) -> TurnError {
    error(TurnErrorCode::Busy, refusal.to_string())
}

/// An answer that the gate does not let out.
fn withheld(refusal: &Refusal) -> TurnError {
    let first = refusal.objections().first();
    let why = first.map_or_else(|| refusal.to_string(), |it| it.for_person.clone());
    let remedy = first.and_then(|it| it.remedy.as_deref());
    let next = remedy.unwrap_or("ask for something else, or in other words");
    let why = format!("the answer is withheld: {why} ({}); {next}", refusal.rule());
    error(TurnErrorCode::AccessDenied, why)
}

fn not_kept(why: &HistoryError) -> TurnError {
    error(TurnErrorCode::Busy, why.to_string())
}

pub(crate) fn error(code: TurnErrorCode, message: impl Into<String>) -> TurnError {
    TurnError::new(code, message)
}
