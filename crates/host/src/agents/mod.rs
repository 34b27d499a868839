//! Agents of our own: one confined worker for each open session, and turns that always come to an end.

mod account;
mod cards;
mod child;
mod children;
mod create;
mod errors;
mod health;
mod jobs;
mod memory;
mod runtime;
mod settings;
mod slots;
mod stream;
mod words;
mod workers;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use agent::{Frame, Purse, ToWorker, Turn, TurnError, TurnErrorCode, Voice, WorkerEvent};
use evidence::{Clock, SystemClock};
use llm::Role;
use model::{AgentId, Caller, Kind, SessionId, TaintTag, UserId};

use crate::gate::{Gate, GateError};
use crate::worker::{Asks, Bounds, History, Leases, Prepared, Seen, Shared, Spawner, Spoken};
use crate::worker::{TurnLimits, Watched, Worker, context};
use crate::workspace;

pub use account::Account;
pub use cards::{DEFAULT_AGENT, all as cards, card};
pub use create::{create, new_session};
pub use jobs::{Accounts, HandOver, Jobs, RUNS_MAX};
pub use settings::{AgentsOptions, WORKERS_MAX};

pub(crate) use errors::error;

use errors::{no_room, not_kept, refused};
use memory::Remembers;
use slots::{Full, Slot, Slots};
use stream::{OfSession, Shows, Stream};
use words::InTurn;
use workers::Seat;

/// How often it is looked for workers that have nothing to do.
const SWEEP: Duration = Duration::from_secs(15);

/// How long somebody may look whether a worker has something to do.
const LOOKED_AT_WITHIN: Duration = Duration::from_millis(100);

/// How long a turn may take to end whose worker was closed: what it has begun is waited for, and the worker.
const FORCED_WITHIN: Duration = Duration::from_secs(15);

/// Runs agents. What it stands on must stay until it has ended.
pub struct Agents {
    /// For those who work for it, and must not hold it.
    me: Weak<Self>,
    gate: Arc<Gate>,
    home: PathBuf,
    asks: Arc<dyn Asks>,
    options: AgentsOptions,
    spawner: Spawner,
    leases: Leases,
    slots: Slots,
    /// Which reading of the files counts.
    generation: Arc<AtomicU64>,
    remembers: Arc<Remembers>,
    /// Models that are asked how they are.
    probed: health::UnderWay,
    /// Who is told of workers.
    watched: Watched,
}

/// What a turn is made of.
struct Errand<'a> {
    who: &'a Caller,
    seat: Seat,
    limits: TurnLimits,
    /// Who pays for questions to models, where somebody keeps books.
    purse: Option<Arc<dyn Purse>>,
    /// Takes in what is said, once the session is open; gives it and its label.
    heard: &'a dyn Fn() -> Result<(String, Option<TaintTag>), TurnError>,
    /// What the agent is reminded by, if it is to be reminded.
    recalls: Option<&'a str>,
}

/// What agents have in common that run beside each other.
struct Common {
    leases: Leases,
    watched: Watched,
    generation: Arc<AtomicU64>,
    remembers: Arc<Remembers>,
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
        // Whoever has the gate is alone here.
        workspace::sweep(&gate.journal, home).map_err(GateError::unable)?;
        let remembers = Arc::new(Remembers::of(&gate, home)?);
        let (leases, watched, generation) = Default::default();
        Self::sharing(gate, home, asks, options, Common { leases, watched, generation, remembers })
    }

    /// Other agents of the same gate, run otherwise, with no more workers; a session is nobody's but of one of them at a time.
    ///
    /// # Errors
    /// As [`Agents::new`].
    pub fn beside(&self, options: AgentsOptions) -> Result<Arc<Self>, GateError> {
        let workers_max = options.workers_max.min(self.slots.at_most());
        let options = AgentsOptions { workers_max, ..options };
        let (gate, asks) = (Arc::clone(&self.gate), Arc::clone(&self.asks));
        // A reload reaches the workers of all of them.
        let common = Common {
            leases: self.leases.clone(),
            watched: self.watched.clone(),
            generation: Arc::clone(&self.generation),
            remembers: Arc::clone(&self.remembers),
        };
        Self::sharing(gate, &self.home, asks, options, common)
    }

    fn sharing(
        gate: Arc<Gate>,
        home: &Path,
        asks: Arc<dyn Asks>,
        options: AgentsOptions,
        common: Common,
    ) -> Result<Arc<Self>, GateError> {
        let spawner = Spawner::new().map_err(GateError::unable)?;
        let slots = Slots::new(options.workers_max, options.workers_per_user_max);
        let home = home.to_owned();
        let Common { leases, watched, generation, remembers } = common;
        let agents = Arc::new_cyclic(|me| {
            let me = Weak::clone(me);
            let probed = health::UnderWay::default();
            Self {
                me,
                gate,
                home,
                asks,
                options,
                spawner,
                leases,
                slots,
                generation,
                remembers,
                probed,
                watched,
            }
        });
        let weak = Arc::downgrade(&agents);
        let sweeper = thread::Builder::new().name("sweeper".to_owned());
        sweeper.spawn(move || sweep(&weak)).map_err(GateError::unable)?;
        Ok(agents)
    }

    /// Opens the session of a turn and starts its worker, so that the turn finds it ready. Nothing is said.
    ///
    /// # Errors
    /// As [`agent::Runtime::turn`].
    pub fn open(&self, turn: &Turn) -> Result<(), TurnError> {
        let who = caller(turn)?;
        cards::exists(&self.home, &who.agent)?;
        self.in_slot(&who, |slot| {
            slot.begin(&turn.stop);
            let started = self.worker(slot, &who, &Seat::of_person(turn.local)).map(drop);
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

    /// Runs one turn, and tells what was denied in it. Each question to a model is paid from `purse`, where there is one;
    /// what it says of its limits comes with how the turn ended.
    ///
    /// # Errors
    /// As [`agent::Runtime::turn`].
    pub fn account(
        &self,
        turn: &Turn,
        purse: Option<Arc<dyn Purse>>,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Account, TurnError> {
        let outcome = self.account_paid(turn, purse.clone(), on_frame);
        let Some(purse) = purse else { return outcome };
        purse.end();
        match outcome {
            Ok(account) => Ok(Account { near: purse.near(), ..account }),
            Err(error) if error.code == TurnErrorCode::BudgetExceeded => {
                Err(error.at(purse.exceeded()))
            }
            Err(error) => Err(error),
        }
    }

    /// The same for whoever looks after the purse.
    pub(crate) fn account_paid(
        &self,
        turn: &Turn,
        purse: Option<Arc<dyn Purse>>,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Account, TurnError> {
        let who = caller(turn)?;
        cards::exists(&self.home, &who.agent)?;
        self.in_slot(&who, |slot| {
            slot.begin(&turn.stop);
            let limits = TurnLimits {
                wall: self.options.turn_max,
                cost: self.options.cost_max,
                ..TurnLimits::default()
            };
            let seat = Seat::of_person(turn.local);
            // What is remembered of a user is not for others who hear the answer.
            let recalls = (turn.voice == Voice::User).then_some(turn.content.as_str());
            let heard = || self.heard(&who, turn);
            let errand = Errand { who: &who, seat, limits, purse, heard: &heard, recalls };
            let outcome = self.turn_in(slot, &turn.stop, &errand, on_frame);
            if outcome.as_ref().is_err_and(|it| it.code == TurnErrorCode::WorkerError) {
                self.tell(&who, WorkerEvent::Broke);
            }
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
            // Whoever sweeps holds it for a moment; a turn that runs holds it for longer.
            let Some(_query) = slot.wait_for_query(LOOKED_AT_WITHIN) else {
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
        errand: &Errand<'_>,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Account, TurnError> {
        let worker = self.worker(slot, errand.who, &errand.seat);
        if stop.load(Ordering::Acquire) {
            return Ok(Account::interrupted());
        }
        // The turn with what is asked beside it: limits and purse are those of all of it.
        let whole = Arc::new(Shared::new(&Bounds {
            stop: Arc::clone(stop),
            limits: errand.limits,
            above: None,
            purse: errand.purse.clone(),
        }));
        let worker = worker?;
        let outcome = self.turn_of(&worker, &whole, errand, on_frame);
        whole.finish();
        let notes = worker.take_notes();
        if !notes.is_empty() {
            self.tell(errand.who, WorkerEvent::Lacks { count: notes.len() });
        }
        // What was used is that of all of it, however it ended.
        match outcome {
            Ok(mut account) => {
                account.reply.usage = whole.usage();
                Ok(Account { notes, ..account })
            }
            Err(error) => Err(error.after(whole.usage()).noting(notes)),
        }
    }

    fn turn_of(
        &self,
        worker: &Worker,
        whole: &Arc<Shared>,
        errand: &Errand<'_>,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Account, TurnError> {
        let Errand { who, limits, heard, recalls, .. } = *errand;
        let history = History::of(&self.home, who).map_err(|it| not_kept(&it.into()))?;
        // One that was spoken to knows what was said.
        let is_fresh = worker.is_fresh();
        let earlier = if is_fresh { self.said_before(&history, who)? } else { Vec::new() };
        let (content, tag) = heard()?;
        let said = |role, text: &str| Spoken { role, text: text.to_owned() };
        let spoken = said(Role::User, &content);
        let kept = history.add(&*self.gate.store, who, &spoken, tag.as_ref());
        kept.map_err(|it| not_kept(&it))?;

        let now = || SystemClock.unix_seconds();
        let context = context(&self.home, who).map_err(|it| not_kept(&it.into()))?;
        let memory: Vec<String> = context.into_iter().chain(self.recalled(who, recalls)).collect();
        let earlier = if is_fresh { self.summarised(whole, who, earlier) } else { earlier };
        let prepared =
            Prepared { content: &content, earlier: &earlier, memory: &memory, now: now() };
        let message: ToWorker = worker.prepare(&self.gate.monitor, &prepared)?;
        let stop = Arc::clone(whole.stop());
        let (limits, above) = (limits.without_use(), Some(Arc::clone(whole)));
        let bounds = Bounds { stop, limits, above, purse: None };
        let judge = OfSession { monitor: &self.gate.monitor, who };
        let guardrail = worker.guardrail().filter(|it| it.judges_answers());
        let shows = guardrail.map_or(Shows::Pieces, |_| Shows::JudgedAnswer);
        let mut stream = Stream::new(&judge, shows);
        let mut on_shown = |frame| stream.take(frame).into_iter().for_each(&mut *on_frame);
        let seen = worker.turn(&message, &bounds, &*self.gate.store, &now, &mut on_shown)?;
        if seen.frames_rejected > 0 {
            let count = seen.frames_rejected;
            self.tell(who, WorkerEvent::FrameRejected { count });
        }

        let Seen { mut reply, denied, needs_person, .. } = seen;
        reply.content = self.gate.monitor.without_secrets(&reply.content).into_owned();
        let spoken = said(Role::Assistant, &reply.content);
        let models = InTurn { whole, asks: &*self.asks, who };
        if guardrail.is_some_and(|it| !it.allows_answer(who, &reply.content, &models)) {
            return Err(words::unsafe_answer());
        }
        self.let_out(&history, who, &spoken)?;
        stream.rest(&reply.content).for_each(&mut *on_frame);
        if !reply.interrupted {
            self.memorize(whole, who, &content, &reply.content);
        }
        Ok(Account { reply, denied, needs_person, notes: Vec::new(), near: Vec::new() })
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
