//! How long a query of 100,000 memory entries takes, with both providers.
//!
//! `cargo bench -p store --bench memory -- [ENTRIES]`. Entries are written and asked for through the gate; what is timed
//! is the provider alone.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]

use std::cell::RefCell;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evidence::{Config, Durability, Journal, SystemClock};
use model::{AgentId, Caller, Effect, Kind, SessionId, UserId};
use monitor::provenance::Catalogue;
use monitor::{Asked, Executor, Granted, Monitor, Opening, Output, Permit, Setup};
use policy::Policy;
use serde_json::{Value, json};
use store::{FileMemory, Memory, SqliteStore};

const TARGET_MS: f64 = 10.0;
const ENTRIES_DEFAULT: usize = 100_000;
/// How many entries a session writes before the next one goes on.
const ENTRIES_PER_SESSION: usize = 2000;
const VOCABULARY: u64 = 20_000;

/// Carries out what concerns memory, and remembers how long that took.
struct Timed<'a> {
    memory: &'a dyn Memory,
    took: RefCell<Vec<(Duration, usize)>>,
}

impl Executor for Timed<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let begun = Instant::now();
        let granted = permit.by_kind();
        let found = if let Granted::MemoryWrite(permit) = granted {
            self.memory.write(permit, 1000).map(|_| 1)
        } else if let Granted::MemoryQuery(permit) = granted {
            self.memory.query(permit).map(|it| it.len())
        } else if let Granted::MemoryList(permit) = granted {
            self.memory.list(permit).map(|it| it.len())
        } else {
            Ok(0)
        };
        self.took.borrow_mut().push((begun.elapsed(), found.unwrap()));
        Output::text("{}")
    }
}

fn main() {
    let wanted = std::env::args().skip(1).find_map(|it| it.parse().ok());
    let entries = wanted.unwrap_or(ENTRIES_DEFAULT);
    let dir = tempfile::tempdir().unwrap();
    let unsynced = Durability::DangerouslyUnsynced;
    let mut config = Config::new(dir.path().join("evidence"));
    config.durability = unsynced;
    let store = SqliteStore::open_with(&dir.path().join("store.sqlite"), unsynced);
    let store = Arc::new(store.unwrap());
    let monitor = Monitor::new(Setup {
        journal: Arc::new(Journal::open(&config).unwrap().0),
        state: store.clone(),
        policy: Arc::new(Policy::embedded().unwrap()),
        catalogue: Catalogue::default(),
        clock: Arc::new(SystemClock),
    });
    let file = FileMemory::open_with(&dir.path().join("memory"), store.clone(), unsynced).unwrap();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{entries} entries, target {TARGET_MS} ms for each query").unwrap();
    for (name, memory) in [("sqlite", &*store as &dyn Memory), ("file", &file)] {
        let begun = Instant::now();
        fill(&monitor, memory, name, entries);
        writeln!(out, "{name}: written in {:.1} s", begun.elapsed().as_secs_f64()).unwrap();
        for (what, message) in queries() {
            let (took, found) = best(&monitor, memory, name, &message);
            let ms = took.as_secs_f64() * 1000.0;
            let verdict = if ms < TARGET_MS { "" } else { "  MISSED" };
            writeln!(out, "{name:8} {what:44} {ms:8.3} ms {found:4} found{verdict}").unwrap();
        }
    }
    let begun = Instant::now();
    drop(file);
    FileMemory::open(&dir.path().join("memory"), store).unwrap();
    writeln!(out, "file: opened again in {:.2} s", begun.elapsed().as_secs_f64()).unwrap();
}

fn queries() -> Vec<(&'static str, Value)> {
    let query = |scope: &str, words: &str| json!({"action": "memory_query", "scope": scope, "query": words, "maxResults": 20});
    vec![
        ("one rare word", query("work", "word777")),
        ("three words", query("work", "word777 word1234 word42")),
        ("a word that is in every entry", query("work", "common")),
        ("common and rare", query("work", "common half word777 word9")),
        ("common, in a part of a tenth", query("work/p3", "common word777")),
        ("the beginning of many words", query("work", "wor")),
        ("a word that is nowhere", query("work", "nowhere")),
        ("the newest", json!({"action": "memory_list", "scope": "work", "limit": 20})),
        ("the newest of a small part", json!({"action": "memory_list", "scope": "work/p3/rare"})),
    ]
}

fn fill(monitor: &Monitor, memory: &dyn Memory, name: &str, entries: usize) {
    let timed = Timed { memory, took: RefCell::default() };
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut who = open(monitor, &format!("{name}-0"));
    for number in 0..entries {
        if number % ENTRIES_PER_SESSION == 0 {
            who = open(monitor, &format!("{name}-{number}"));
        }
        let mut content = format!("common entry {number}");
        for _ in 0..20 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            content.push_str(&format!(" word{}", random % VOCABULARY));
        }
        if number % 2 == 0 {
            content.push_str(" half");
        }
        let part = number % 10;
        let rare = if number % 10_000 == 3 { "/rare" } else { "" };
        let message = json!({
            "action": "memory_write",
            "scope": format!("work/p{part}{rare}"),
            "content": content,
            "type": "knowledge",
        });
        let message = message.to_string();
        monitor.run(&who, &Asked::Message(message.as_bytes()), &timed).unwrap();
    }
}

/// The best of a few rounds: what the code takes and not what else the machine does.
fn best(monitor: &Monitor, memory: &dyn Memory, name: &str, message: &Value) -> (Duration, usize) {
    let timed = Timed { memory, took: RefCell::default() };
    let who = open(monitor, &format!("{name}-asks"));
    for _ in 0..7 {
        let message = message.to_string();
        monitor.run(&who, &Asked::Message(message.as_bytes()), &timed).unwrap();
    }
    timed.took.into_inner().into_iter().min().unwrap()
}

fn open(monitor: &Monitor, session: &str) -> Caller {
    let who = Caller {
        session: SessionId::parse(session).unwrap(),
        user: UserId::parse("me").unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::parse("ipc").unwrap(),
    };
    let opening = Opening::of_one_person(who.clone());
    monitor.open_session(opening).unwrap();
    who
}
