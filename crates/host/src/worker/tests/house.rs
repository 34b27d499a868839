//! A session whose worker is played by the test, beside a model and a purse that note what they were asked.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use agent::{Aside, Estimate, Frame, NotPaid, Purse, ToWorker, TurnError, TurnErrorCode, wire};
use evidence::{Clock, Durability, SystemClock};
use llm::{Answer, Block, ErrorKind, Flow, LlmError, Piece, Request, StopReason, Usage};
use model::{AgentId, Caller, Kind, SessionId, UserId};
use monitor::Approver;
use monitor::provenance::Catalogue;
use policy::Policy;
use policy::access::Origin;
use serde_json::{Value, json};

use crate::agent_session::{AgentSession, SessionOptions};
use crate::gate::Gate;
use crate::ipc::Stop;
use crate::models::Cancelled;
use crate::starter::Starter;
use crate::worker::lease::Leases;
use crate::worker::link::Link;
use crate::worker::model::Asks;
use crate::worker::offer::Offer;
use crate::worker::prompt::Marks;
use crate::worker::questions::Questions;
use crate::worker::shared::{Bounds, Current};
use crate::worker::start::{Inner, Worker};
use crate::worker::turn::{Prepared, Seen, TurnLimits};
use crate::worker::watched::Watched;

/// A model that says the same, and notes what it was asked. It does not answer while somebody shuts its door.
#[derive(Default)]
pub(in crate::worker) struct Model {
    pub(in crate::worker) asked: Mutex<Vec<Request>>,
    pub(in crate::worker) door: Mutex<()>,
    pub(in crate::worker) fails: AtomicBool,
}

impl Model {
    /// Nobody is answered while this is held.
    pub(in crate::worker) fn shut(&self) -> MutexGuard<'_, ()> {
        self.door.lock().unwrap()
    }
}

impl Asks for Model {
    fn ask_until(
        &self,
        _: &Caller,
        request: &Request,
        _: Cancelled<'_>,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        self.asked.lock().unwrap().push(request.clone());
        drop(self.door.lock().unwrap());
        on_piece(Piece::Text("true".to_owned()));
        let usage = Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() };
        if self.fails.load(Ordering::Acquire) {
            return Err(LlmError::new(ErrorKind::Unreachable, "broke off").after(usage));
        }
        let content = vec![Block::Text { text: "the true answer".to_owned() }];
        let (model, failed) = ("mock/m".to_owned(), Vec::new());
        Ok(Answer { content, stop: StopReason::EndTurn, usage, model, failed })
    }

    fn price(&self, _: &str) -> Option<llm::Price> {
        None
    }
}

pub(in crate::worker) struct House {
    pub(in crate::worker) stop: Arc<AtomicBool>,
    pub(in crate::worker) gate: Arc<Gate>,
    pub(in crate::worker) leases: Leases,
    pub(in crate::worker) worker: Worker,
    pub(in crate::worker) model: Arc<Model>,
    pub(in crate::worker) purse: Option<Arc<dyn Purse>>,
}

/// Enough for so many questions of ten tokens.
#[derive(Default)]
pub(in crate::worker) struct Coins {
    pub(in crate::worker) left: AtomicUsize,
    /// What was settled, and what was wanted before.
    pub(in crate::worker) settled: Mutex<Vec<u64>>,
}

impl Purse for Coins {
    fn before(&self, most: &Estimate) -> Result<Aside, NotPaid> {
        assert!(most.input_tokens > 500 && most.output_tokens > 0);
        let take = |it: usize| it.checked_sub(1);
        match self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, take) {
            Ok(_) => Ok(Aside { id: 1, output_tokens: Some(77) }),
            Err(_) => Err(NotPaid::new(TurnErrorCode::BudgetExceeded, "no coins")),
        }
    }

    fn after(&self, _: Aside, usage: &Usage, _: Option<llm::Price>) {
        self.settled.lock().unwrap().push(usage.input_tokens + usage.output_tokens);
    }

    fn end(&self) {}
}

/// A session whose worker is `play`, which is given the socket.
pub(in crate::worker) fn house(
    home: &Path,
    play: impl FnOnce(UnixStream) + Send + 'static,
) -> House {
    let policy = Policy::embedded().unwrap();
    let gate =
        Gate::open(home, Durability::DangerouslyUnsynced, policy, Catalogue::default()).unwrap();
    let (gate, leases) = (Arc::new(gate), Leases::default());
    let lease = leases.take(&SessionId::parse("s1").unwrap()).unwrap();
    let who = Caller {
        session: SessionId::parse("s1").unwrap(),
        user: UserId::parse("me").unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::of_static("worker"),
    };
    let options = SessionOptions {
        profile: None,
        approver: Approver::Reachable,
        workspace: None,
        own_workspace: true,
        ephemeral: false,
        origin: Origin::Local,
        starter: Starter::Person,
    };
    let (stopper, stop) = Stop::pair().unwrap();
    let session = AgentSession::open(&gate, home, &who, &options, &stop).unwrap();
    let offer =
        Offer::of(home, &who, Origin::Local, &[], |it| session.door().carries_out(it)).unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    thread::spawn(move || play(theirs));
    let model = Arc::new(Model::default());
    let inner = Inner {
        who,
        link: Link::new(ours).unwrap(),
        current: Current::default(),
        questions: Questions::default(),
        session,
        asks: Arc::clone(&model) as Arc<dyn Asks>,
        offer,
        model: "default".to_owned(),
        fast: "fast".to_owned(),
        instructions: Mutex::default(),
        marks: Marks::new().unwrap(),
        reachable: true,
        gate: Arc::downgrade(&gate),
        lease,
        tool_log: None,
        watched: Watched::default(),
    };
    House {
        stop: Arc::default(),
        gate,
        leases,
        worker: Worker::of(inner, stopper),
        model,
        purse: None,
    }
}

impl House {
    pub(in crate::worker) fn turn(&self, frames: &mut Vec<Frame>) -> Result<Seen, TurnError> {
        self.turn_within(frames, None)
    }

    pub(in crate::worker) fn turn_within(
        &self,
        frames: &mut Vec<Frame>,
        cost: Option<u64>,
    ) -> Result<Seen, TurnError> {
        let now = || SystemClock.unix_seconds();
        let turn = Prepared { content: "hello", earlier: &[], memory: &[], now: now() };
        let message = self.worker.prepare(&self.gate.monitor, &turn).unwrap();
        let limits = TurnLimits { wall: Duration::from_secs(10), cost, ..TurnLimits::default() };
        let (stop, purse) = (Arc::clone(&self.stop), self.purse.clone());
        let bounds = Bounds { stop, limits, above: None, purse };
        self.worker.turn(&message, &bounds, &*self.gate.store, &now, &mut |it| frames.push(it))
    }
}

pub(in crate::worker) fn say(socket: &mut UnixStream, message: &Value) {
    let _ = wire::write(socket, message.to_string().as_bytes());
}

pub(in crate::worker) fn hear(socket: &mut UnixStream) -> Option<ToWorker> {
    let bytes = wire::read(socket).ok()??;
    serde_json::from_slice(&bytes).ok()
}

pub(in crate::worker) fn ask(id: u64) -> Value {
    let text = json!([{"type": "text", "text": "hello"}]);
    json!({"type": "ask", "id": id, "purpose": "step", "messages": [{"role": "user", "content": text}]})
}

pub(in crate::worker) fn result(session: &str) -> Value {
    json!({
        "type": "result", "sessionId": session, "interrupted": false,
        "usage": {"inputTokens": 0, "outputTokens": 0, "cacheReadTokens": 0, "cacheCreationTokens": 0},
        "responseContent": "a lie", "toolCalls": [{"name": "shell_exec", "status": "ran"}],
    })
}
