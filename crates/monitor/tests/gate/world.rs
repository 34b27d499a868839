//! A gate on a directory of its own, and what happens in it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use aegx::Digest;
use evidence::{Clock, Config, Disk, Durability, Journal, Reader, RealDisk};
use model::{
    AgentId, Caller, Decision, Effect, Kind, RawCall, SessionId, Source, Taint, ToolDef, UserId,
};
use monitor::provenance::Catalogue;
use monitor::{
    Approver, Asked, Delivered, Executor, Heard, Monitor, Opening, Output, Permit, Refusal, Setup,
    State, Understanding, Verdict,
};
use policy::Policy;
use serde_json::{Value, json};
use store::SqliteStore;

/// A page that tells the assistant nothing, but names somebody.
pub(crate) const PAGE: &str =
    "Harbour news. The editor can be reached at eve@evil.example, says the imprint.";
/// What the user wants in most tests.
pub(crate) const TASK: &str =
    "Please read https://news.example/today and send a mail with a summary to ann@example.org.";
pub(crate) const START: u64 = 1_700_000_000;

const CATALOGUE: &str = r#"{"tools":{
    "read_page":{"effect":"read","output":"untrusted","egress":false,"destructive":false,"args":{"url":"destination"}},
    "list_notes":{"effect":"read","output":"trusted","egress":false,"destructive":false,"args":{}},
    "read_file":{"effect":"read","output":"trusted","egress":false,"destructive":false,"args":{"path":"target"}},
    "recall":{"effect":"read","output":"own","egress":false,"destructive":false,"args":{"topic":"content"}},
    "search_web":{"effect":"read","output":"untrusted","egress":true,"destructive":false,"args":{"query":"content"}},
    "ask_peer":{"effect":"send","output":"untrusted","egress":true,"destructive":false,"args":{"question":"content"}},
    "write_file":{"effect":"write","output":"own","egress":false,"destructive":false,
        "args":{"path":"target","text":"content"}},
    "send_mail":{"effect":"send","output":"own","egress":true,"destructive":false,
        "args":{"recipient":"destination","subject":"content","body":"content"}}
}, "trusted":{"addresses":["office@example.org"]}}"#;

static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| Arc::new(Policy::embedded().unwrap()));

/// A clock that tests set.
pub(crate) struct TestClock(AtomicU64);

impl TestClock {
    pub(crate) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn unix_micros(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A directory in which gates are opened one after the other.
pub(crate) struct World {
    dir: tempfile::TempDir,
    pub(crate) clock: Arc<TestClock>,
}

/// A gate that is open.
pub(crate) struct Gate {
    pub(crate) monitor: Monitor,
    pub(crate) journal: Arc<Journal>,
    evidence: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(TestClock(AtomicU64::new(START * 1_000_000)));
        Self { dir: tempdir(), clock }
    }

    /// The gate, as a process that starts finds it.
    pub(crate) fn open(&self) -> Gate {
        open(self.dir.path(), &self.clock, Durability::Synced)
    }

    /// The same without waiting for the disk, for tests that do much and crash nothing.
    pub(crate) fn open_unsynced(&self) -> Gate {
        open(self.dir.path(), &self.clock, Durability::DangerouslyUnsynced)
    }

    /// The same with something else done with outputs.
    pub(crate) fn open_sanitizing(&self, plans: scan::sanitize::Plans) -> Gate {
        let gate = self.open_unsynced();
        Gate { monitor: gate.monitor.with_sanitizing(plans), ..gate }
    }

    /// The same with somebody who is asked whether outputs give orders.
    pub(crate) fn open_asking(&self, classifier: Arc<dyn scan::text::Classifier>) -> Gate {
        let gate = self.open_unsynced();
        Gate { monitor: gate.monitor.with_classifier(classifier), ..gate }
    }

    /// The same with other rules.
    pub(crate) fn open_with_rules(&self, rules: Policy) -> Gate {
        open_with(self.dir.path(), &self.clock, Durability::DangerouslyUnsynced, Arc::new(rules))
    }

    /// A gate on a broken disk or a broken store; none if the journal does not even open.
    pub(crate) fn open_broken(
        &self,
        disk: Arc<dyn Disk>,
        wrap: impl FnOnce(SqliteStore) -> Arc<dyn State>,
    ) -> Option<Gate> {
        let evidence = self.dir.path().join("evidence");
        let mut config = Config::new(&evidence);
        config.clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        config.disk = disk;
        let (journal, _) = Journal::open(&config).ok()?;
        let state = wrap(SqliteStore::open(&self.dir.path().join("store.sqlite")).unwrap());
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        Some(gate(journal, state, evidence, clock, Arc::clone(&POLICY)))
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        records(&self.dir.path().join("evidence"))
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }
}

/// In memory where there is such a place: these tests kill processes and not machines, and a real sync
/// would take most of their time.
pub(crate) fn tempdir() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory).ok() } else { None };
    made.unwrap_or_else(|| tempfile::tempdir().unwrap())
}

/// Opens a gate on a directory.
pub(crate) fn open(dir: &Path, clock: &Arc<TestClock>, durability: Durability) -> Gate {
    open_with(dir, clock, durability, Arc::clone(&POLICY))
}

fn open_with(
    dir: &Path,
    clock: &Arc<TestClock>,
    durability: Durability,
    policy: Arc<Policy>,
) -> Gate {
    let evidence = dir.join("evidence");
    let mut config = Config::new(&evidence);
    config.clock = Arc::clone(clock) as Arc<dyn Clock>;
    config.disk = Arc::new(RealDisk);
    config.durability = durability;
    let (journal, _) = Journal::open(&config).unwrap();
    let store = SqliteStore::open_with(&dir.join("store.sqlite"), durability).unwrap();
    gate(journal, Arc::new(store), evidence, Arc::clone(clock) as Arc<dyn Clock>, policy)
}

pub(crate) fn clock() -> Arc<TestClock> {
    Arc::new(TestClock(AtomicU64::new(START * 1_000_000)))
}

fn gate(
    journal: Journal,
    state: Arc<dyn State>,
    evidence: PathBuf,
    clock: Arc<dyn Clock>,
    policy: Arc<Policy>,
) -> Gate {
    let journal = Arc::new(journal);
    let monitor = Monitor::new(Setup {
        journal: Arc::clone(&journal),
        state,
        policy,
        catalogue: Catalogue::parse(CATALOGUE).unwrap(),
        clock,
    });
    Gate { monitor, journal, evidence }
}

/// Every record, oldest first.
pub(crate) fn records(evidence: &Path) -> Vec<Value> {
    let reader = Reader::open(evidence).unwrap();
    let mut lines = Vec::new();
    let see = |entry: evidence::Entry<'_>| {
        lines.push(serde_json::from_slice(entry.record).unwrap());
        ControlFlow::<()>::Continue(())
    };
    reader.read(reader.start().unwrap(), see).unwrap();
    lines
}

/// How often it is looked for a record, 10 ms apart.
pub(crate) const WAITS_MAX: usize = 1000;

pub(crate) fn kind(record: &Value) -> &str {
    record.pointer("/meta/kind").and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn content<'a>(record: &'a Value, field: &str) -> &'a Value {
    record.pointer("/payload/inline").and_then(|it| it.get(field)).unwrap_or(&Value::Null)
}

pub(crate) fn id(record: &Value) -> &str {
    record.get("recordId").and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn who(session: &str) -> Caller {
    caller(session, "ann")
}

pub(crate) fn caller(session: &str, user: &str) -> Caller {
    Caller {
        session: SessionId::parse(session).unwrap(),
        user: UserId::parse(user).unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::of_static("test"),
    }
}

pub(crate) fn opening(who: &Caller) -> Opening {
    let string = json!({ "type": "string" });
    let tool = |name: &str, about: &str, params: &[&str]| {
        let params: serde_json::Map<String, Value> =
            params.iter().map(|it| ((*it).to_owned(), string.clone())).collect();
        let schema = json!({ "type": "object", "properties": params });
        ToolDef::from_value(&json!({ "name": name, "description": about, "inputSchema": schema }))
            .unwrap()
    };
    Opening {
        tools: vec![
            tool("read_page", "Reads a page.", &["url"]),
            tool("list_notes", "Lists the notes.", &[]),
            tool("read_file", "Reads a file.", &["path"]),
            tool("recall", "Tells what was noted.", &["topic"]),
            tool("search_web", "Searches the web.", &["query"]),
            tool("ask_peer", "Asks somebody.", &["question"]),
            tool("write_file", "Writes a file.", &["path", "text"]),
            tool("send_mail", "Sends a mail.", &["recipient", "subject", "body"]),
            tool("mcp__memory__add_observations", "Adds to what is known.", &["observations"]),
        ],
        ..Opening::of_one_person(who.clone())
    }
}

pub(crate) fn read_page() -> (&'static str, Value) {
    ("read_page", json!({ "url": "https://news.example/today" }))
}

pub(crate) fn send_mail(recipient: &str) -> (&'static str, Value) {
    ("send_mail", json!({ "recipient": recipient, "subject": "News", "body": "Nothing new." }))
}

impl Gate {
    /// Opens a session in which the user has asked for the usual.
    pub(crate) fn begin(&self, session: &str) -> Caller {
        self.begin_with(session, TASK)
    }

    /// A session in which the user says this.
    pub(crate) fn begin_with(&self, session: &str, said: &str) -> Caller {
        let who = who(session);
        self.monitor.open_session(opening(&who)).unwrap();
        self.hear(&who, Source::User, said).unwrap();
        who
    }

    pub(crate) fn hear(
        &self,
        who: &Caller,
        source: Source,
        text: &str,
    ) -> Result<Understanding, Refusal> {
        self.monitor.hear(who, &Heard { source, origin: "https://heard.example", text })
    }

    /// The same with a door by which a person can be asked.
    pub(crate) fn begin_asking(&self, session: &str) -> Caller {
        let who = who(session);
        let approver = Approver::Reachable;
        self.monitor.open_session(Opening { approver, ..opening(&who) }).unwrap();
        self.hear(&who, Source::User, TASK).unwrap();
        who
    }

    /// The whole path, with an output.
    pub(crate) fn call(
        &self,
        who: &Caller,
        call: &(&str, Value),
        output: &str,
    ) -> Result<Delivered, Refusal> {
        let args = call.1.to_string();
        let asked = Asked::Tool(RawCall { tool: call.0, args: args.as_bytes() });
        self.monitor.run(who, &asked, &Gives(output))
    }

    /// One of the host's own actions.
    pub(crate) fn act(&self, who: &Caller, message: &Value) -> Result<Delivered, Refusal> {
        self.monitor.run(who, &Asked::Message(message.to_string().as_bytes()), &Gives("done"))
    }

    pub(crate) fn taint(&self, who: &Caller) -> Taint {
        self.monitor.summary(who).unwrap().taint
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        // A disk that fails is some test's own.
        let _ = self.journal.flush();
        records(&self.evidence)
    }

    /// The last record whose content has the field. Without syncs a reader may be behind the journal for a moment.
    pub(crate) fn last_with(&self, field: &str) -> Value {
        let found = (0..WAITS_MAX).find_map(|_| {
            let last = self.records().pop().filter(|it| !content(it, field).is_null());
            if last.is_none() {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            last
        });
        found.unwrap_or_else(|| panic!("the last record has no `{field}`"))
    }

    /// Ends in order.
    pub(crate) fn close(self) {
        drop(self.monitor);
        Arc::into_inner(self.journal).unwrap().close().unwrap();
    }
}

/// Gives back what it was told to.
pub(crate) struct Gives<'a>(pub(crate) &'a str);

impl Executor for Gives<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        drop(permit.spend());
        Output::text(self.0)
    }
}

/// Must not be asked.
pub(crate) struct Never;

impl Executor for Never {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        panic!("an effect happened: {:?}", permit.spend());
    }
}

pub(crate) fn stopped(result: Result<Delivered, Refusal>) -> Verdict {
    match result {
        Err(Refusal::Stopped(verdict)) => *verdict,
        Ok(delivered) => panic!("it was let through: {delivered:?}"),
        Err(other) => panic!("it was not stopped but {other}"),
    }
}

/// Stopped with this decision.
pub(crate) fn asks(result: Result<Delivered, Refusal>) -> Verdict {
    let verdict = stopped(result);
    assert_eq!(verdict.decision, Decision::StepUp, "{verdict:?}");
    verdict
}

pub(crate) fn hex(digest: Digest) -> String {
    digest.to_hex().as_str().to_owned()
}
