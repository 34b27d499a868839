//! Jobs that the host carries out: each run is a session of its owner, in which no person is reached.
//!
//! INVARIANT (AsItsMaker): a run has the user, the agent, the label, the care and at most the rights of the session that
//! made its job, whoever is admitted now.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use aegx::Digest;
use agent::{Purse, Reached, Runtime as _, TurnError, TurnErrorCode};
use evidence::{Clock, Receipt, SystemClock};
use model::ipc::Uuid;
use model::{Caller, Kind, Profile, SessionId, Source, TaintTag};
use monitor::taint::{tokens as counts, worse};
use monitor::{Found, Heard};
use store::Oversight as _;

use super::child::worst;
use super::workers::Seat;
use super::{Account, Agents, Errand, cards, error, new_session, refused};
use crate::gate::GateError;
use crate::scheduler::{
    self, Came, Delivery, Handed, Job, Outcome, RunEnd, RunStatus, Runner, Scheduler,
    SchedulerError,
};
use crate::starter::Starter;
use crate::worker::{TurnLimits, tokens};

/// Runs at once.
pub const RUNS_MAX: usize = 4;

/// Where the answer of a run goes, once it is kept.
pub trait HandOver: Send + Sync {
    /// Hears how a run ended.
    fn ended(&self, came: &Came, ended: &RunEnd);

    /// Hears of which limits of its user's budget much is used after it.
    fn near(&self, came: &Came, near: &[Reached]) {
        let _ = (came, near);
    }

    /// Says the answer of a run where its job wants it, and gives where that was. The receipt is that of its end.
    ///
    /// # Errors
    /// Why the answer did not get there; it is kept either way.
    fn deliver(
        &self,
        came: &Came,
        to: &Delivery,
        ended: &RunEnd,
        receipt: &Receipt,
    ) -> Result<String, String>;
}

/// Keeps accounts of what users spend, where somebody does.
pub trait Accounts: Send + Sync {
    /// Who pays for the questions of a run; none where nobody keeps books of its user.
    ///
    /// # Errors
    /// Why nothing may be spent.
    fn begin(&self, who: &Caller) -> Result<Option<Arc<dyn Purse>>, TurnError>;
}

/// Carries out jobs.
pub struct Jobs {
    agents: Arc<Agents>,
    scheduler: Arc<Scheduler>,
    hand_over: Arc<dyn HandOver>,
    accounts: Option<Arc<dyn Accounts>>,
    running: Arc<Running>,
}

/// Runs that are under way, by their names.
#[derive(Default)]
struct Running {
    all: Mutex<HashMap<Uuid, Caller>>,
    changed: Condvar,
    ended: AtomicU64,
}

impl Running {
    fn all(&self) -> MutexGuard<'_, HashMap<Uuid, Caller>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run is under way, until this is dropped.
struct UnderWay(Arc<Running>, Uuid);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.all().remove(&self.1);
        self.0.ended.fetch_add(1, Ordering::AcqRel);
        self.0.changed.notify_all();
    }
}

impl Jobs {
    /// Of the state directory `home`, by `agents`; none if the settings do not choose that the host runs jobs.
    ///
    /// # Errors
    /// If the settings are not understood, or the book cannot be read.
    pub fn new(
        agents: &Arc<Agents>,
        home: &Path,
        hand_over: Arc<dyn HandOver>,
        accounts: Option<Arc<dyn Accounts>>,
    ) -> Result<Option<Self>, GateError> {
        let journal = Arc::clone(&agents.gate.journal);
        let found = scheduler::scheduler(home, journal).map_err(GateError::usage)?;
        let Some(scheduler) = found.filter(|it| it.runner() == Runner::Host) else {
            return Ok(None);
        };
        scheduler.give_up_lost(&[], SystemClock.unix_seconds()).map_err(GateError::unable)?;
        Ok(Some(Self {
            agents: Arc::clone(agents),
            scheduler: Arc::new(scheduler),
            hand_over,
            accounts,
            running: Arc::default(),
        }))
    }

    /// Looks which jobs are due, and begins what waits, as far as there is room.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then nothing more has begun.
    pub fn look(&self, now: i64) -> Result<Vec<Outcome>, SchedulerError> {
        // What has ended since is in the book; what has not and is not under way never will have.
        let under_way: Vec<Uuid> = self.running.all().keys().copied().collect();
        self.scheduler.give_up_lost(&under_way, now)?;
        let outcomes = self.scheduler.tick(now)?;
        self.end_removed()?;
        while self.running.all().len() < RUNS_MAX && self.begin(now)? {}
        Ok(outcomes)
    }

    /// Waits until nothing is under way, or so long. Is nothing?
    pub fn wait(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut all = self.running.all();
        while !all.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.running.changed.wait_timeout(all, left);
            all = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// How many runs are under way.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running.all().len()
    }

    /// How many runs have ended: where that changes, there is room for one that waits.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.running.ended.load(Ordering::Acquire)
    }

    /// Does a run wait that has not begun?
    ///
    /// # Errors
    /// If the book cannot be read.
    pub fn is_anything_waiting(&self) -> Result<bool, SchedulerError> {
        self.scheduler.is_anything_waiting()
    }

    /// A run whose job somebody has removed ends.
    fn end_removed(&self) -> Result<(), SchedulerError> {
        let all: Vec<(Uuid, Caller)> =
            self.running.all().iter().map(|(id, who)| (*id, who.clone())).collect();
        for (id, who) in all {
            if self.scheduler.is_removed(id)? {
                let (user, agent) = (who.user.as_str(), who.agent.as_str());
                self.agents.interrupt(user, agent, who.session.as_str());
            }
        }
        Ok(())
    }

    /// Begins a run that waits; false if none does.
    fn begin(&self, now: i64) -> Result<bool, SchedulerError> {
        let session = new_session().map_err(|it| self.scheduler.unusable(it))?;
        let Some((came, receipt)) = self.scheduler.begin(session.as_str(), now)? else {
            return Ok(false);
        };
        let who = Caller {
            session,
            user: came.job.user.clone(),
            agent: came.job.agent.clone(),
            door: Kind::of_static("job"),
        };
        self.running.all().insert(came.run.id, who.clone());
        let under_way = UnderWay(Arc::clone(&self.running), came.run.id);
        let (agents, scheduler) = (Arc::clone(&self.agents), Arc::clone(&self.scheduler));
        let (hand_over, accounts) = (Arc::clone(&self.hand_over), self.accounts.clone());
        let work = move || {
            let (ended, near) = accounted(&agents, accounts.as_deref(), &who, &came.job, &receipt);
            drop(agents);
            // What cannot be kept is lost, and found to be so when it is looked the next time.
            if let Ok(receipt) = scheduler.end(&came, ended.clone()) {
                hand_over.ended(&came, &ended);
                hand_over.near(&came, &near);
                deliver(&scheduler, &*hand_over, &came, &ended, &receipt);
            }
            drop((scheduler, under_way));
        };
        // Without a thread it is found to be lost when it is looked the next time.
        let spawned = thread::Builder::new().name("job".to_owned()).spawn(work);
        spawned.map(|_| true).map_err(|it| self.scheduler.unusable(it))
    }
}

/// INVARIANT (NothingSilent): whether an answer got where its job wants it is recorded, and kept with the run.
fn deliver(
    scheduler: &Scheduler,
    hand_over: &dyn HandOver,
    came: &Came,
    ended: &RunEnd,
    receipt: &Receipt,
) {
    let Some(to) = &came.job.delivery else { return };
    let outcome = match scheduler.is_removed(came.run.id) {
        Ok(true) => Err("somebody has removed the job".to_owned()),
        Ok(false) => hand_over.deliver(came, to, ended, receipt),
        Err(error) => Err(error.to_string()),
    };
    // What cannot be kept counts as undelivered when it is looked the next time.
    let _ = scheduler.handed(came, Handed { at: SystemClock.unix_seconds(), outcome });
}

/// Carries out a run, with an account of what it uses where somebody keeps one.
fn accounted(
    agents: &Agents,
    accounts: Option<&dyn Accounts>,
    who: &Caller,
    job: &Job,
    receipt: &Receipt,
) -> (RunEnd, Vec<Reached>) {
    let purse = match accounts.map(|it| it.begin(who)).transpose() {
        Ok(purse) => purse.flatten(),
        Err(why) => {
            return (end_of(status_of(why.code), why.message, 0, job.tag.clone()), Vec::new());
        }
    };
    let mut left = Left { tag: job.tag.clone(), is_stopped: false };
    let outcome = agents.job(who, job, receipt, purse.clone(), &mut left);
    let near = purse.map_or_else(Vec::new, |purse| {
        purse.end();
        purse.near()
    });
    let usage = match &outcome {
        Ok(account) => account.reply.usage,
        Err(error) => error.usage,
    };
    let ended = ended(outcome, tokens(&usage), left.tag);
    // A question that does not come back makes an error of the end that somebody wanted.
    let is_stopped = left.is_stopped && ended.status == RunStatus::Failed;
    let status = if is_stopped { RunStatus::Stopped } else { ended.status };
    (RunEnd { status, ..ended }, near)
}

/// What a run leaves, however it ended.
struct Left {
    /// What its words carry.
    tag: Option<TaintTag>,
    /// Has somebody ended it?
    is_stopped: bool,
}

fn end_of(status: RunStatus, text: String, tokens: u64, tag: Option<TaintTag>) -> RunEnd {
    RunEnd { at: SystemClock.unix_seconds(), status, text, tokens, tag }
}

fn ended(outcome: Result<Account, TurnError>, used: u64, tag: Option<TaintTag>) -> RunEnd {
    let (status, text) = match outcome {
        Ok(account) if account.needs_person => {
            let why = format!("something needs a person: {}", account.denied.join("; "));
            (RunStatus::NeedsPerson, why)
        }
        Ok(account) if account.reply.interrupted => {
            (RunStatus::Stopped, "somebody has ended it".to_owned())
        }
        Ok(account) => (RunStatus::Answered, account.reply.content),
        Err(error) => (status_of(error.code), error.message),
    };
    end_of(status, text, used, tag)
}

fn status_of(code: TurnErrorCode) -> RunStatus {
    match code {
        TurnErrorCode::AccessDenied | TurnErrorCode::AgentNotFound => RunStatus::Refused,
        TurnErrorCode::BudgetExceeded | TurnErrorCode::ModelUnpriced => RunStatus::OverBudget,
        TurnErrorCode::SessionNotFound
        | TurnErrorCode::Busy
        | TurnErrorCode::QueryInProgress
        | TurnErrorCode::WorkersExhausted
        | TurnErrorCode::InitFailed
        | TurnErrorCode::WorkerError
        | TurnErrorCode::ModelError(_) => RunStatus::Failed,
    }
}

impl Agents {
    /// Carries out one run.
    fn job(
        &self,
        who: &Caller,
        job: &Job,
        receipt: &Receipt,
        purse: Option<Arc<dyn Purse>>,
        left: &mut Left,
    ) -> Result<Account, TurnError> {
        cards::exists(&self.home, &who.agent)?;
        let starter =
            Starter::Job { sub_agents: job.made_in.sub_agents.clone(), tokens: job.token_budget };
        let seat = Seat { profile: self.care_of(job)?, ..Seat::of(starter, !job.made_in.remote) };
        let limits = TurnLimits {
            wall: self.options.turn_max,
            cost: self.options.cost_max,
            tokens: job.token_budget,
            ends_at_question: true,
            ..TurnLimits::default()
        };
        self.in_slot(who, |slot| {
            let stop = Arc::default();
            slot.begin(&stop);
            let heard = || self.heard_of_job(who, job, receipt);
            let errand = Errand { who, seat, limits, purse, heard: &heard, recalls: None };
            let outcome = self.turn_in(slot, &stop, &errand, &mut |_| {});
            if slot.worker().is_some() {
                let carries = self.gate.monitor.tag(who).unwrap_or_else(|_| Some(worst()));
                left.tag = worse(left.tag.as_ref(), carries.as_ref());
            }
            left.is_stopped = stop.load(Ordering::Acquire);
            self.end_worker(slot);
            outcome
        })
    }

    /// A run is as careful as the session that made its job; of one that nobody knows the most is asked.
    fn care_of(&self, job: &Job) -> Result<Option<Profile>, TurnError> {
        if job.session.is_empty() {
            return Ok(self.options.profile);
        }
        let Ok(session) = SessionId::parse(&job.session) else {
            return Ok(Some(Profile::Paranoid));
        };
        let row = self.gate.store.session(&session);
        let row = row.map_err(|it| error(TurnErrorCode::Busy, it.to_string()))?;
        let row = row.filter(|it| it.user == job.user);
        Ok(Some(row.map_or(Profile::Paranoid, |it| it.profile)))
    }

    /// What the agent is told, and its label. What a person or the operator wrote is said by the user; what a session
    /// wrote is nobody's word, and brings the label of that session.
    fn heard_of_job(
        &self,
        who: &Caller,
        job: &Job,
        receipt: &Receipt,
    ) -> Result<(String, Option<TaintTag>), TurnError> {
        let monitor = &self.gate.monitor;
        let prompt = &job.prompt;
        if let Some(tag) = &job.tag {
            let (tokens, content) = (counts::tainted(prompt), Digest::of(prompt.as_bytes()));
            let found = Found { tag: tag.clone(), tokens, content };
            monitor.find(who, &[found], receipt).map_err(refused)?;
        }
        let is_persons = job.session.is_empty() && job.tag.is_none();
        let heard = match is_persons {
            true => monitor.hear_turn(who, prompt),
            false => {
                monitor.hear(who, &Heard { source: Source::Agent, origin: "job", text: prompt })
            }
        };
        let heard = heard.map_err(refused)?;
        Ok((prompt.clone(), worse(job.tag.as_ref(), heard.tag.as_ref())))
    }
}
