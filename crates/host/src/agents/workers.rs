//! Workers of slots: they are started as their session wants it, and ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use aegx::Principal;
use agent::{Hooks, TurnError, TurnErrorCode, WorkerEvent};
use model::{Caller, Profile};
use monitor::Approver;
use policy::access::Origin;
use sandbox::cage::Rung;

use super::children::{Children, Place};
use super::errors::not_kept;
use super::slots::Slot;
use super::{Agents, FORCED_WITHIN, error, settings};
use crate::agent_session::SessionOptions;
use crate::executor::Delegates;
use crate::gate::GateError;
use crate::starter::Starter;
use crate::worker::{Current, END_WITHIN, History, IDLE_MAX, READY_WITHIN, Start, Worker};

/// How a session is started.
pub(super) struct Seat {
    /// Who starts it.
    pub(super) starter: Starter,
    /// Does whoever speaks to it sit at this machine?
    pub(super) local: bool,
    /// How careful it is, if not as sessions are here. A sub-agent is as careful as its agent.
    pub(super) profile: Option<Profile>,
    /// Its model, if not that of the manifest.
    pub(super) model: Option<String>,
    /// Model calls of one turn, if not as many as usual.
    pub(super) model_calls: Option<usize>,
    /// Where it stands among sessions that handed work on; a new place if it is the first.
    pub(super) place: Option<Place>,
}

impl Seat {
    /// Of a session that a person begins.
    pub(super) fn of_person(local: bool) -> Self {
        Self::of(Starter::Person, local)
    }

    /// Of a session that is started so, with everything as usual.
    pub(super) fn of(starter: Starter, local: bool) -> Self {
        Self { starter, local, profile: None, model: None, model_calls: None, place: None }
    }

    fn origin(&self) -> Origin {
        if self.local { Origin::Local } else { Origin::Remote }
    }
}

impl Agents {
    /// The worker of a slot; one is started where there is none.
    pub(super) fn worker(
        &self,
        slot: &Slot,
        who: &Caller,
        seat: &Seat,
    ) -> Result<Arc<Worker>, TurnError> {
        // Before anything is read: whoever reloads meanwhile has it started again at the next turn.
        let generation = self.generation.load(Ordering::Acquire);
        if let Some(worker) = slot.worker() {
            let is_current = !worker.is_over() && slot.generation() == generation;
            if is_current && !self.knows_what_was_deleted(&worker, who)? {
                return Ok(worker);
            }
            // Whoever takes it out waits until nobody else holds it.
            drop(worker);
            self.end_worker_of(slot);
        }
        let options = SessionOptions {
            profile: seat.profile.or(self.options.profile),
            // What a job is stopped at waits for a person; nobody waits for them.
            approver: if seat.starter.principal() == Principal::Sys {
                Approver::Reachable
            } else {
                self.options.approver
            },
            workspace: self.options.workspace.clone(),
            own_workspace: self.options.workspace.is_none(),
            ephemeral: self.options.ephemeral,
            origin: seat.origin(),
            starter: seat.starter.clone(),
        };
        let current = Current::default();
        // What is wrong with the files is said by whoever opens the session.
        let admission = crate::admission_from(&self.home, who, &[], seat.origin()).ok();
        let children = admission.map(|it| Children::new(&self.me, who, &it, seat, current.clone()));
        // What is wrong with the settings is said by whoever opens the session, too.
        let settings = crate::settings(&self.home).ok().flatten().unwrap_or_default();
        let hooks = settings::hooks(settings.hooks());
        let named = settings.host().required.iter().filter_map(|it| Rung::parse(it));
        let required: Vec<Rung> = self.options.required.iter().copied().chain(named).collect();
        let start = Start {
            gate: &self.gate,
            leases: &self.leases,
            home: &self.home,
            who,
            options: &options,
            asks: &self.asks,
            spawner: &self.spawner,
            required: &required,
            hooks: match seat.model_calls {
                Some(model_calls) => Hooks { model_calls, ..hooks },
                None => hooks,
            },
            watched: &self.watched,
            stop: &slot.stop_wanted(),
            model: seat.model.as_deref(),
            delegates: children.map(|it| (Arc::new(it) as Arc<dyn Delegates>, current)),
        };
        let worker = self.started(&start)?;
        Ok(slot.put(worker, generation))
    }

    /// Was something said to it that nobody may know any more? Where its words are gone, somebody has deleted them.
    fn knows_what_was_deleted(&self, worker: &Worker, who: &Caller) -> Result<bool, TurnError> {
        let history = History::of(&self.home, who).map_err(|it| not_kept(&it.into()))?;
        let quiet = history.quiet_for().map_err(|it| not_kept(&it.into()))?;
        Ok(!worker.is_fresh() && quiet.is_none())
    }

    /// Starts a worker, and tells whoever looks after the host how that went.
    fn started(&self, start: &Start<'_>) -> Result<Worker, TurnError> {
        let who = start.who;
        self.tell(who, WorkerEvent::Spawned);
        let begun = Instant::now();
        let started = Worker::start(start);
        let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.tell(
            who,
            match &started {
                Ok(_) => WorkerEvent::Ready { ms },
                Err(GateError::Unable(_)) if begun.elapsed() >= READY_WITHIN => {
                    WorkerEvent::ReadyTimeout
                }
                Err(_) => WorkerEvent::NotStarted,
            },
        );
        let is_remote = start.options.origin == Origin::Remote;
        started.map_err(|why| match why {
            GateError::Refused(why) => error(TurnErrorCode::AccessDenied, why),
            // What stands in files is nobody's business who comes over the network.
            GateError::Usage(_) if is_remote => {
                let why = "the files of this host are not understood now: whoever runs it has to look at them";
                error(TurnErrorCode::InitFailed, why)
            }
            // Where its files are not understood, there is no such agent.
            GateError::Usage(why) => error(TurnErrorCode::AgentNotFound, why),
            GateError::Unable(why) | GateError::Busy(why) => error(TurnErrorCode::InitFailed, why),
        })
    }

    /// Tells whoever looks after the host what became of a worker.
    pub(super) fn tell(&self, who: &Caller, event: WorkerEvent) {
        self.tell_of((who.user.as_str(), who.agent.as_str(), who.session.as_str()), event);
    }

    fn tell_of(&self, of: (&str, &str, &str), event: WorkerEvent) {
        self.watched.worker(of, event);
    }

    /// Ends the worker of a slot, and forgets the slot.
    pub(super) fn end_worker(&self, slot: &Arc<Slot>) {
        self.end_worker_of(slot);
        self.slots.remove(slot);
    }

    fn end_worker_of(&self, slot: &Slot) {
        if let Some(worker) = slot.take() {
            // It is gone either way; a session that could not be ended in order is found so when it is opened again.
            let _ = worker.end();
            self.tell_of(slot.of_whom(), WorkerEvent::Exit);
        }
    }

    /// Ends the worker of a slot whose turn may run: in order if that obeys, by force if not.
    pub(super) fn end_slot(&self, slot: &Arc<Slot>) {
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

    pub(super) fn sweep(&self) {
        for slot in self.slots.all() {
            let Some(_query) = slot.query() else { continue };
            let Some(worker) = slot.worker() else { continue };
            let (is_over, is_idle) = (worker.is_over(), worker.is_idle_for(IDLE_MAX));
            // Whoever ends it waits until nobody else holds it.
            drop(worker);
            if is_idle && !is_over {
                self.tell_of(slot.of_whom(), WorkerEvent::IdleTimeout);
            }
            if is_over || is_idle {
                self.end_worker(&slot);
            }
        }
    }
}
