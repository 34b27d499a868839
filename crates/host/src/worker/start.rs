//! A worker: its start, what it is given, and its end.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use aegx::RecordType;
use agent::{AccessUser, FromWorker, Hooks, ToWorker, WORKER, WorkerConfig};
use evidence::NewRecord;
use model::{Caller, Kind, SessionId};
use policy::access::Origin;
use sandbox::cage::{Cage, Limits, Rung};
use sandbox::runner::Confined;
use serde_json::json;

use super::inbox::Next;
use super::lease::{Lease, Leases};
use super::link::Link;
use super::meter::Metered;
use super::model::Asks;
use super::offer::Offer;
use super::prompt::{Instructions, Marks};
use super::questions::Questions;
use super::shared::{Bounds, Current, Shared, held};
use super::spawner::Spawner;
use super::tool_log::ToolLog;
use super::watched::Watched;
use super::{END_WITHIN, ERROR_CHARS_MAX, READY_WITHIN};
use crate::agent_session::{AgentSession, SessionOptions, Supplied};
use crate::executor::Delegates;
use crate::gate::{Gate, GateError};
use crate::ipc::{Door, Stop, Stopper};
use crate::starter::Starter;

/// What a worker may take of the machine.
const LIMITS: Limits = Limits {
    wall_time: None,
    processes: 64,
    memory_bytes: 1 << 30,
    file_bytes: 1 << 20,
    fresh_bytes: 1 << 20,
    open_files: 64,
    cpu_percent: None,
};

/// A worker, and the session that it works in.
pub(crate) struct Worker {
    pub(super) inner: Arc<Inner>,
    confined: Mutex<Option<Confined>>,
    /// Says that commands of the session are to end; so does its loss.
    _stopper: Stopper,
    /// Was anything said to it?
    pub(super) fresh: AtomicBool,
    /// When it had something to do last.
    pub(super) used: Mutex<Instant>,
    /// What whoever speaks with it should know, and was not told yet.
    notes: Mutex<Vec<String>>,
}

/// What the threads that work for a worker share.
pub(super) struct Inner {
    pub(super) who: Caller,
    pub(super) link: Link,
    /// The turn that runs, or the last one.
    pub(super) current: Current,
    pub(super) questions: Questions,
    pub(super) session: AgentSession,
    pub(super) asks: Arc<dyn Asks>,
    pub(super) offer: Offer,
    pub(super) model: String,
    pub(super) fast: String,
    pub(super) instructions: Mutex<Instructions>,
    pub(super) marks: Marks,
    /// Can a person be asked?
    pub(super) reachable: bool,
    /// The gate behind which the session is, as long as there is one.
    pub(super) gate: Weak<Gate>,
    pub(super) lease: Lease,
    /// Where its calls are written down, if they are to be.
    pub(super) tool_log: Option<ToolLog>,
    /// Who is told of its calls.
    pub(super) watched: Watched,
}

/// What a worker is started with.
pub(crate) struct Start<'a> {
    pub(crate) gate: &'a Arc<Gate>,
    pub(crate) leases: &'a Leases,
    pub(crate) home: &'a Path,
    pub(crate) who: &'a Caller,
    pub(crate) options: &'a SessionOptions,
    pub(crate) asks: &'a Arc<dyn Asks>,
    pub(crate) spawner: &'a Spawner,
    pub(crate) required: &'a [Rung],
    pub(crate) hooks: Hooks,
    pub(crate) watched: &'a Watched,
    /// Is it not wanted any more?
    pub(crate) stop: &'a AtomicBool,
    /// Its model, if not that of the manifest.
    pub(crate) model: Option<&'a str>,
    /// To whom it can hand work, by the turn that runs.
    pub(crate) delegates: Option<(Arc<dyn Delegates>, Current)>,
}

impl Inner {
    pub(super) fn door(&self) -> &Door {
        self.session.door()
    }

    /// What is known of the turn that runs, or of the last one.
    pub(super) fn shared(&self) -> Arc<Shared> {
        self.current.get()
    }

    /// A new turn: nothing of the last one counts.
    pub(super) fn begin(&self, bounds: &Bounds) -> Arc<Shared> {
        let shared = Arc::new(Shared::new(bounds));
        self.current.set(&shared);
        shared
    }

    /// The turn is over, and all that was begun in it: whoever pays for it, or waits for it, is let go of, however long the worker
    /// waits for the next one.
    pub(super) fn end_turn(&self) {
        self.current.set(&Arc::new(Shared::of_none()));
    }

    /// Lets go of a worker. Whoever is the last to do so ends its session.
    pub(super) fn let_go(self: Arc<Self>) -> Result<(), GateError> {
        let Some(Self { session, gate, lease, .. }) = Arc::into_inner(self) else { return Ok(()) };
        // A gate that is closed has ended its sessions.
        let ended = gate.upgrade().map_or(Ok(()), |gate| session.end(&gate).map(drop));
        drop(lease);
        ended
    }
}

impl Worker {
    /// Opens the session, makes the cage and waits until the worker is ready. What holds it is on record before
    /// anything is said to it.
    pub(crate) fn start(start: &Start<'_>) -> Result<Self, GateError> {
        let Start { gate, home, who, options, .. } = *start;
        let lease = start.leases.take(&who.session).ok_or_else(|| {
            GateError::Busy("a call of this session has not come back yet".to_owned())
        })?;
        let (stopper, stop) = Stop::pair().map_err(GateError::unable)?;
        let (delegates, current) = start.delegates.clone().unzip();
        let marks = Marks::new().map_err(GateError::unable)?;
        let current: Current = current.unwrap_or_default();
        let questions = Metered { asks: Arc::clone(start.asks), current: current.clone() };
        let supplied = Supplied {
            delegates,
            questions: Some(Arc::new(questions)),
            accounts: None,
            tools_of_others: true,
        };
        let mut session = AgentSession::open_with(gate, home, who, options, &stop, supplied)?;
        let notes = session.take_notes();
        let confined = Self::confine(start, &session);
        let (confined, link, offer) = match confined {
            Ok(confined) => confined,
            Err(error) => {
                // It is refused already; that it cannot be ended in order either changes nothing.
                let _ = session.end(gate);
                return Err(error);
            }
        };
        let own_model = || offer.manifest.model.clone();
        let inner = Inner {
            who: who.clone(),
            link,
            current,
            questions: Questions::default(),
            session,
            asks: Arc::clone(start.asks),
            model: start
                .model
                .map(str::to_owned)
                .or_else(own_model)
                .unwrap_or_else(|| "default".to_owned()),
            fast: "fast".to_owned(),
            offer,
            instructions: Mutex::default(),
            marks,
            // Sub-agents and jobs wait for nobody: what is asked about their calls waits where all questions do.
            reachable: options.approver == monitor::Approver::Reachable
                && options.starter == Starter::Person,
            gate: Arc::downgrade(gate),
            lease,
            tool_log: start.hooks.log_tool_use.then(|| ToolLog::of(home)),
            watched: start.watched.clone(),
        };
        let worker = Self::of(inner, stopper);
        *held(&worker.confined) = Some(confined);
        *held(&worker.notes) = notes;
        Ok(worker)
    }

    /// A worker whose process is somebody else's.
    pub(super) fn of(inner: Inner, stopper: Stopper) -> Self {
        Self {
            inner: Arc::new(inner),
            confined: Mutex::default(),
            _stopper: stopper,
            fresh: true.into(),
            used: Mutex::new(Instant::now()),
            notes: Mutex::default(),
        }
    }

    fn confine(
        start: &Start<'_>,
        session: &AgentSession,
    ) -> Result<(Confined, Link, Offer), GateError> {
        let Start { gate, home, who, options, .. } = *start;
        let carried = |it| session.door().carries_out(it);
        let subs = options.starter.sub_agents();
        let mut offer =
            Offer::of(home, who, options.origin, subs, carried).map_err(GateError::usage)?;
        offer.is_carried_out().map_err(GateError::usage)?;
        offer.name_services(&session.door().services());
        offer.add_own();
        let left_out = offer.add_others(&gate.monitor, who, session.door());
        let (ours, theirs) = UnixStream::pair().map_err(GateError::unable)?;
        let launched = start.spawner.launch(theirs).map_err(GateError::unable)?;
        let confined = launched
            .confine(cage_here(home, start.required)?, WORKER, environment(who))
            .map_err(GateError::unable)?;
        record(gate, who, &confined, options, &left_out)?;
        let link = Link::new(ours).map_err(GateError::unable)?;
        let config = WorkerConfig {
            model: offer.manifest.model.clone().unwrap_or_default(),
            effort: offer.effort(),
            domains: offer.domains.iter().map(|it| it.as_str().to_owned()).collect(),
            hooks: start.hooks,
            log_level: "off".to_owned(),
        };
        let name = who.user.as_str().to_owned();
        let init = ToWorker::Init {
            agent_id: who.agent.as_str().to_owned(),
            user_id: name.clone(),
            config,
            access_user: AccessUser { name, tools_deny: offer.denied.clone() },
        };
        link.say(&init).map_err(GateError::unable)?;
        ready(&link, start.stop)?;
        Ok((confined, link, offer))
    }

    /// Ends it: in order if it obeys, by force if not. The session ends with it.
    pub(crate) fn end(self) -> Result<(), GateError> {
        let Self { inner, confined, _stopper: stopper, .. } = self;
        let shared = inner.shared();
        shared.interrupt();
        for tool_id in inner.questions.clear() {
            let _ = inner.link.say(&ToWorker::ToolApprovalResponse { tool_id, approved: false });
        }
        // One that is gone already needs not be told.
        if inner.link.say(&ToWorker::Shutdown {}).is_ok() {
            let until = Instant::now() + END_WITHIN;
            while Instant::now() < until && !matches!(inner.link.next(LOOK), Next::Over) {}
        }
        inner.link.close();
        drop(confined);
        stopper.stop();
        // A call that does not come back ends the session when it does; until then nobody begins it anew.
        shared.settle(END_WITHIN);
        inner.let_go()
    }

    /// What whoever speaks with it should know; each is said once. Some of it is in the words of others.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        let notes = std::mem::take(&mut *held(&self.notes));
        notes.iter().map(|it| agent::clean(it, ERROR_CHARS_MAX)).collect()
    }

    /// Nothing more is heard from it nor said to it.
    pub(crate) fn close(&self) {
        self.inner.link.close();
    }

    /// Has its process ended?
    pub(crate) fn is_over(&self) -> bool {
        self.inner.link.is_over()
    }

    /// Has it had nothing to do for so long?
    pub(crate) fn is_idle_for(&self, at_least: Duration) -> bool {
        held(&self.used).elapsed() >= at_least
    }
}

/// How often it is looked whether a worker has ended.
pub(super) const LOOK: Duration = Duration::from_millis(20);

pub(super) fn ready(link: &Link, stop: &AtomicBool) -> Result<(), GateError> {
    let until = Instant::now() + READY_WITHIN;
    while Instant::now() < until && !stop.load(Ordering::Acquire) {
        match link.next(LOOK) {
            Next::Message(FromWorker::Ready {}) => return Ok(()),
            Next::Message(_) => {
                return Err(GateError::unable("the worker said something else than `ready`"));
            }
            Next::Nothing => {}
            Next::Over | Next::Spoilt(_) => return Err(GateError::unable(link.why())),
        }
    }
    Err(GateError::unable("the worker was not ready in time"))
}

/// What a worker runs in: nothing of the machine but the system's programs and this one. `persons` is the home of whoever
/// runs us, `state` the state directory.
#[must_use]
pub fn cage(persons: Option<PathBuf>, state: PathBuf, required: &[Rung]) -> Cage {
    let mut needed = Rung::ALWAYS.to_vec();
    needed.extend(required.iter().filter(|it| !Rung::ALWAYS.contains(it)));
    Cage { home: persons, state: Some(state), limits: LIMITS, needed, ..Cage::default() }
}

/// The cage of a worker of the state directory `home`.
pub(super) fn cage_here(home: &Path, required: &[Rung]) -> Result<Cage, GateError> {
    let persons = std::env::home_dir().and_then(|it| files::resolved(&it).ok());
    Ok(cage(persons, files::resolved(home).map_err(GateError::unable)?, required))
}

/// Six names of the host's, and who it is for.
pub(super) fn environment(who: &Caller) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let host: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let host = host.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let own = [("WORKER_AGENT_ID", who.agent.as_str()), ("WORKER_USER_ID", who.user.as_str())];
    let made = vault::environment::environment(host, own);
    made.variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// Tools without room in a question that are named in a record.
const LEFT_OUT_NAMED_MAX: usize = 64;

/// INVARIANT (NothingSilent): which cage a worker runs in, and what there was no room for, is on record before it is told anything.
fn record(
    gate: &Gate,
    who: &Caller,
    confined: &Confined,
    options: &SessionOptions,
    left_out: &[String],
) -> Result<(), GateError> {
    let origin = match (&options.starter, options.origin) {
        (Starter::Job { .. }, _) => "job",
        (Starter::Person | Starter::Session { .. }, Origin::Local) => "local",
        (Starter::Person | Starter::Session { .. }, Origin::Remote) => "remote",
    };
    let content = json!({
        "agent": who.agent.as_str(),
        "held": confined.held(),
        "not_offered": left_out.iter().take(LEFT_OUT_NAMED_MAX).collect::<Vec<_>>(),
        "not_offered_count": left_out.len(),
        "origin": origin,
        "parent": options.starter.parent().map(SessionId::as_str),
        "sub_agents": options.starter.sub_agents(),
        "session": who.session.as_str(),
        "user": who.user.as_str(),
    });
    let kind = Kind::of_static("worker_started");
    let record = NewRecord::of_host(RecordType::GuardDecision, kind, content);
    gate.journal.append(record).map(drop).map_err(GateError::unable)
}
