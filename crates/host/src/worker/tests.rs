//! Workers that lie, and workers that end: whatever one says, the parent believes what it did itself, and whoever waits
//! is answered.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use agent::{
    Aside, Estimate, Frame, FromWorker, NotPaid, Purse, ToWorker, TurnError, TurnErrorCode, wire,
};
use evidence::{Clock, Durability, SystemClock};
use llm::{Answer, Block, ErrorKind, Flow, LlmError, Piece, Request, StopReason, Usage};
use model::{AgentId, Caller, Kind, SessionId, UserId};
use monitor::Approver;
use monitor::provenance::Catalogue;
use policy::Policy;
use policy::access::Origin;
use serde_json::{Value, json};

use super::lease::Leases;
use super::link::Link;
use super::model::Asks;
use super::offer::Offer;
use super::prompt::Marks;
use super::questions::Questions;
use super::shared::{Bounds, Current, Shared};
use super::start::{Inner, Worker};
use super::turn::{Prepared, Seen, TurnLimits};
use super::watched::Watched;
use crate::agent_session::{AgentSession, SessionOptions};
use crate::gate::Gate;
use crate::ipc::Stop;
use crate::models::Cancelled;
use crate::starter::Starter;

/// A model that says the same, and notes what it was asked. It does not answer while somebody shuts its door.
#[derive(Default)]
pub(super) struct Model {
    pub(super) asked: Mutex<Vec<Request>>,
    door: Mutex<()>,
    fails: AtomicBool,
}

impl Model {
    /// Nobody is answered while this is held.
    pub(super) fn shut(&self) -> MutexGuard<'_, ()> {
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

pub(super) struct House {
    stop: Arc<AtomicBool>,
    pub(super) gate: Arc<Gate>,
    leases: Leases,
    pub(super) worker: Worker,
    pub(super) model: Arc<Model>,
    purse: Option<Arc<dyn Purse>>,
}

/// Enough for so many questions of ten tokens.
#[derive(Default)]
struct Coins {
    left: AtomicUsize,
    /// What was settled, and what was wanted before.
    settled: Mutex<Vec<u64>>,
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
pub(super) fn house(home: &Path, play: impl FnOnce(UnixStream) + Send + 'static) -> House {
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
    pub(super) fn turn(&self, frames: &mut Vec<Frame>) -> Result<Seen, TurnError> {
        self.turn_within(frames, None)
    }

    fn turn_within(&self, frames: &mut Vec<Frame>, cost: Option<u64>) -> Result<Seen, TurnError> {
        let now = || SystemClock.unix_seconds();
        let turn = Prepared { content: "hello", earlier: &[], memory: &[], now: now() };
        let message = self.worker.prepare(&self.gate.monitor, &turn).unwrap();
        let limits = TurnLimits { wall: Duration::from_secs(10), cost, ..TurnLimits::default() };
        let (stop, purse) = (Arc::clone(&self.stop), self.purse.clone());
        let bounds = Bounds { stop, limits, above: None, purse };
        self.worker.turn(&message, &bounds, &*self.gate.store, &now, &mut |it| frames.push(it))
    }
}

pub(super) fn say(socket: &mut UnixStream, message: &Value) {
    let _ = wire::write(socket, message.to_string().as_bytes());
}

pub(super) fn hear(socket: &mut UnixStream) -> Option<ToWorker> {
    let bytes = wire::read(socket).ok()??;
    serde_json::from_slice(&bytes).ok()
}

pub(super) fn ask(id: u64) -> Value {
    let text = json!([{"type": "text", "text": "hello"}]);
    json!({"type": "ask", "id": id, "purpose": "step", "messages": [{"role": "user", "content": text}]})
}

pub(super) fn result(session: &str) -> Value {
    json!({
        "type": "result", "sessionId": session, "interrupted": false,
        "usage": {"inputTokens": 0, "outputTokens": 0, "cacheReadTokens": 0, "cacheCreationTokens": 0},
        "responseContent": "a lie", "toolCalls": [{"name": "shell_exec", "status": "ran"}],
    })
}

/// Waits for the answer to a question.
fn until_answered(socket: &mut UnixStream) {
    let is_answer =
        |it: &ToWorker| matches!(it, ToWorker::Answer { .. } | ToWorker::NoAnswer { .. });
    std::iter::from_fn(|| hear(socket)).find(is_answer);
}

#[test]
fn what_a_worker_says_of_usage_answers_and_calls_is_not_used() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        hear(&mut socket);
        for lie in [
            json!({"type": "ready"}),
            json!({"type": "ready"}),
            json!({"type": "session_id", "sessionId": "s1", "firstMessage": "x"}),
            json!({"type": "frame", "frame": {"type": "token", "id": 5, "text": "shown", "role": "admin"}}),
            json!({"type": "frame", "frame": {"type": "token", "id": 5, "text": "again"}}),
            json!({"type": "frame", "frame": {"type": "assistant_message", "text": "forged"}}),
            json!({"type": "frame", "frame": {"type": "status", "status": "done"}}),
            json!({"type": "tool_approval_request", "toolId": "t", "toolName": "shell_exec", "toolInput": {"command": "id"}}),
            json!({"type": "call", "id": 1, "message": {"action": "llm_call", "provider": "mock", "messages": []}}),
            json!({"type": "call", "id": 2, "message": {"action": "memory_list", "scope": "a", "user": "root"}}),
            json!({"type": "unknown"}),
        ] {
            say(&mut socket, &lie);
        }
        say(&mut socket, &ask(9));
        until_answered(&mut socket);
        say(&mut socket, &result("s1"));
        say(&mut socket, &result("s1"));
        say(
            &mut socket,
            &json!({"type": "frame", "frame": {"type": "token", "id": 99, "text": "late"}}),
        );
    });
    let mut frames = Vec::new();
    let seen = house.turn(&mut frames).unwrap();
    assert_eq!(seen.reply.content, "the true answer");
    assert_eq!((seen.reply.usage.input_tokens, seen.reply.usage.output_tokens), (7, 3));
    assert_eq!(frames, [Frame::Token { id: 5, text: "shown".to_owned() }]);
    // The call with a name in it was refused; the one to a model was not even a call.
    assert_eq!(seen.reply.tool_calls, [("memory_list".to_owned(), "failed".to_owned())]);
    let asked = house.model.asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].system.contains("Your tools:") && !asked[0].tools.is_empty());
    drop(asked);
    house.worker.end().unwrap();
}

#[test]
fn a_worker_that_names_another_session_is_ended() {
    for message in
        [json!({"type": "session_id", "sessionId": "s2", "firstMessage": "x"}), result("s2")]
    {
        let home = tempfile::tempdir().unwrap();
        let house = house(home.path(), move |mut socket| {
            hear(&mut socket);
            say(&mut socket, &message);
            until_answered(&mut socket);
        });
        let error = house.turn(&mut Vec::new()).err().unwrap();
        assert_eq!(error.code, TurnErrorCode::WorkerError);
        assert!(error.message.contains("not its own"), "{}", error.message);
        house.worker.end().unwrap();
    }
}

#[test]
fn whatever_ends_a_turn_what_the_model_used_is_counted() {
    let ends = [
        json!({"type": "error", "code": "loop_detected", "message": "x"}),
        json!({"type": "session_id", "sessionId": "s2", "firstMessage": "x"}),
        json!(null),
    ];
    for end in ends {
        let home = tempfile::tempdir().unwrap();
        let house = house(home.path(), move |mut socket| {
            hear(&mut socket);
            say(&mut socket, &ask(1));
            until_answered(&mut socket);
            // The last of them is no message: it only goes.
            if !end.is_null() {
                say(&mut socket, &end);
                hear(&mut socket);
            }
        });
        let error = house.turn(&mut Vec::new()).err().unwrap();
        assert_eq!((error.usage.input_tokens, error.usage.output_tokens), (7, 3), "{error}");
        assert!(error.is_all);
        house.worker.end().unwrap();
    }
}

#[test]
fn a_model_that_fails_costs_what_it_used() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        hear(&mut socket);
        for id in 1..3 {
            say(&mut socket, &ask(id));
            until_answered(&mut socket);
        }
        say(&mut socket, &json!({"type": "error", "code": "model", "message": "x"}));
        hear(&mut socket);
    });
    house.model.fails.store(true, Ordering::Release);
    let error = house.turn_within(&mut Vec::new(), Some(1_000_000)).err().unwrap();
    // It has no price, so that nothing is left of the limit: the second question is not asked.
    assert_eq!(error.code, TurnErrorCode::BudgetExceeded, "{error}");
    assert_eq!((house.model.asked.lock().unwrap().len(), error.usage.input_tokens), (1, 7));
    house.worker.end().unwrap();
}

#[test]
fn each_question_is_paid_before_it_is_asked() {
    let home = tempfile::tempdir().unwrap();
    let mut house = house(home.path(), |mut socket| {
        hear(&mut socket);
        for id in 1..4 {
            say(&mut socket, &ask(id));
            until_answered(&mut socket);
        }
        say(&mut socket, &json!({"type": "error", "code": "model", "message": "x"}));
        hear(&mut socket);
    });
    let coins = Arc::new(Coins { left: 2.into(), ..Coins::default() });
    house.purse = Some(Arc::clone(&coins) as Arc<dyn Purse>);
    let error = house.turn(&mut Vec::new()).err().unwrap();
    assert_eq!((error.code, error.message.as_str()), (TurnErrorCode::BudgetExceeded, "no coins"));
    let asked = house.model.asked.lock().unwrap();
    assert_eq!(asked.iter().map(|it| it.max_tokens).collect::<Vec<_>>(), [Some(77); 2]);
    drop(asked);
    assert_eq!(*coins.settled.lock().unwrap(), [10, 10]);
    house.worker.end().unwrap();
}

#[test]
fn errors_of_a_worker_are_mapped_cut_and_cleaned() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        hear(&mut socket);
        let message = format!("\u{1b}[2J{}", "x".repeat(5000));
        say(&mut socket, &json!({"type": "error", "code": "access\ndenied", "message": message}));
    });
    let error = house.turn(&mut Vec::new()).err().unwrap();
    assert_eq!(error.code, TurnErrorCode::WorkerError);
    assert!(error.message.starts_with("worker_access denied: "), "{}", error.message);
    assert!(error.message.chars().count() < 1100 && !error.message.contains('\u{1b}'));
    house.worker.end().unwrap();
}

#[test]
fn whenever_a_worker_ends_whoever_waits_is_answered() {
    // It ends after so many messages of a turn, in the middle of a frame, or with a frame that is none.
    for after in 0..6usize {
        let home = tempfile::tempdir().unwrap();
        let house = house(home.path(), move |mut socket| {
            let script = [
                json!({"type": "session_id", "sessionId": "s1", "firstMessage": "x"}),
                json!({"type": "frame", "frame": {"type": "status", "status": "thinking"}}),
                json!({"type": "call", "id": 1, "message": {"action": "memory_list", "scope": "a"}}),
                ask(2),
            ];
            for message in script.iter().take(after) {
                say(&mut socket, message);
            }
            let torn: &[u8] = if after == 5 { &[0xff; 8] } else { &[0, 0, 0, 9, b'{'] };
            let _ = std::io::Write::write_all(&mut socket, torn);
        });
        let begun = Instant::now();
        let error = house.turn(&mut Vec::new()).err().unwrap();
        assert_eq!(error.code, TurnErrorCode::WorkerError, "{after}");
        assert!(begun.elapsed() < Duration::from_secs(9), "{after}");
        while !house.worker.is_over() && begun.elapsed() < Duration::from_secs(9) {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(house.worker.is_over());
        house.worker.end().unwrap();
        Arc::into_inner(house.gate).unwrap().close().unwrap();
    }
}

#[test]
fn an_interruption_ends_a_turn_also_of_a_worker_that_does_not_obey() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| while hear(&mut socket).is_some() {});
    let seen = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            house.stop.store(true, Ordering::Release);
        });
        house.turn(&mut Vec::new())
    });
    assert!(seen.unwrap().reply.interrupted);
    house.worker.end().unwrap();
}

#[test]
fn whoever_goes_on_after_an_interruption_calls_no_tool_and_asks_no_model() {
    let home = tempfile::tempdir().unwrap();
    let (says, hears) = std::sync::mpsc::channel();
    let house = house(home.path(), move |mut socket| {
        while let Some(said) = hear(&mut socket) {
            if matches!(said, ToWorker::Interrupt {}) {
                let list = json!({"action": "memory_list", "scope": "a"});
                say(&mut socket, &json!({"type": "call", "id": 1, "message": list}));
                says.send(hear(&mut socket)).unwrap();
                say(&mut socket, &ask(2));
                says.send(hear(&mut socket)).unwrap();
            }
        }
    });
    house.stop.store(true, Ordering::Release);
    let seen = house.turn(&mut Vec::new()).unwrap();
    assert!(seen.reply.interrupted && seen.reply.tool_calls.is_empty());
    assert!(house.model.asked.lock().unwrap().is_empty());
    for answer in hears.try_iter() {
        assert!(format!("{answer:?}").contains("the turn is over"), "{answer:?}");
    }
    house.worker.end().unwrap();
}

#[test]
fn nothing_of_a_turn_is_held_by_a_worker_that_waits_for_the_next() {
    let home = tempfile::tempdir().unwrap();
    let mut house = house(home.path(), |mut socket| {
        while hear(&mut socket).is_some() {
            say(&mut socket, &result("s1"));
        }
    });
    let coins = Arc::new(Coins { left: 2.into(), ..Coins::default() });
    house.purse = Some(Arc::clone(&coins) as Arc<dyn Purse>);
    house.turn(&mut Vec::new()).unwrap();
    house.purse = None;
    assert!(!house.worker.is_over());
    assert_eq!(Arc::strong_count(&coins), 1, "whoever pays is let go of");
    house.worker.end().unwrap();
}

#[test]
fn an_interruption_from_before_the_turn_began_counts() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        while let Some(said) = hear(&mut socket) {
            if matches!(said, ToWorker::Interrupt {}) {
                let mut ended = result("s1");
                ended["interrupted"] = json!(true);
                say(&mut socket, &ended);
            }
        }
    });
    house.stop.store(true, Ordering::Release);
    let begun = Instant::now();
    assert!(house.turn(&mut Vec::new()).unwrap().reply.interrupted);
    assert!(begun.elapsed() < Duration::from_secs(4) && !house.worker.is_over());
    house.worker.end().unwrap();
}

#[test]
fn a_question_that_outlives_its_turn_spoils_the_worker_and_ends_its_session_when_it_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let house = house(home.path(), |mut socket| {
        hear(&mut socket);
        say(&mut socket, &ask(1));
        say(&mut socket, &result("s1"));
        while hear(&mut socket).is_some() {}
    });
    let (model, who) = (Arc::clone(&house.model), house.worker.inner.who.clone());
    let shut = model.door.lock().unwrap();
    let error = house.turn(&mut Vec::new()).err().unwrap();
    assert_eq!(error.code, TurnErrorCode::WorkerError);
    assert!(!error.is_all && error.message.contains("not come back"), "{error}");
    assert!(house.worker.is_over());
    // What comes late is no answer of another turn.
    let late = house.worker.inner.shared();
    let next = house.worker.inner.begin(&Bounds::default());
    house.worker.end().unwrap();
    assert!(house.gate.monitor.summary(&who).is_ok(), "somebody still works in it");
    assert!(house.leases.take(&who.session).is_none());
    drop(shut);
    let begun = Instant::now();
    while house.leases.take(&who.session).is_none() {
        assert!(begun.elapsed() < Duration::from_secs(9));
        thread::sleep(Duration::from_millis(5));
    }
    assert!(house.gate.monitor.summary(&who).is_err(), "the last one has ended it");
    assert_eq!((late.of_turn().usage.input_tokens, next.of_turn().usage.input_tokens), (7, 0));
    assert!(next.of_turn().answer.is_none());
}

#[test]
fn messages_serialise_as_the_vectors_have_them() {
    let ready = serde_json::to_value(FromWorker::Ready {}).unwrap();
    assert_eq!(ready, json!({"type": "ready"}));
    let interrupt = serde_json::to_value(ToWorker::Interrupt {}).unwrap();
    assert_eq!(interrupt, json!({"type": "interrupt"}));
}

#[test]
fn whoever_ends_a_turn_does_not_wait_for_a_worker_below_that_does_not_listen() {
    let home = tempfile::tempdir().unwrap();
    let (says, hears) = std::sync::mpsc::channel();
    let house = house(home.path(), move |mut socket| {
        hear(&mut socket);
        says.send(()).unwrap();
        // It hears that it is to end, and goes on.
        while hear(&mut socket).is_some() {}
    });
    let above = Arc::new(Shared::new(&Bounds::default()));
    let at_work = above.work(1).unwrap();
    thread::scope(|scope| {
        let below = Arc::clone(&above);
        let turn = scope.spawn(|| {
            let now = || SystemClock.unix_seconds();
            let turn = Prepared { content: "hello", earlier: &[], memory: &[], now: now() };
            let message = house.worker.prepare(&house.gate.monitor, &turn).unwrap();
            let bounds = Bounds { above: Some(below), ..Bounds::default() };
            let seen = house.worker.turn(&message, &bounds, &*house.gate.store, &now, &mut |_| {});
            drop(at_work);
            seen
        });
        hears.recv().unwrap();
        above.interrupt();
        // As long as a turn waits for what it has begun.
        assert!(above.settle(super::END_WITHIN), "the turn above would be broken");
        assert!(turn.join().unwrap().unwrap().reply.interrupted);
    });
    assert_eq!((above.levels_below(), house.worker.is_over()), (1, true));
}
