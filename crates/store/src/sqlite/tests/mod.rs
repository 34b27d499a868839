//! What needs the inside of the store: faults of the writer, and memory without permits.

mod faults;
mod memory;
mod properties;

use aegx::Digest;
use model::ipc::MemoryKind;
use model::{AgentId, Source, Taint, TaintTag, UserId};

use crate::SqliteStore;
use crate::memory::{MemoryRow, NewMemory, Rows as _, Written};

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn tag(taint: Taint, unix_seconds: i64) -> TaintTag {
    TaintTag {
        source: Source::Web,
        taint,
        origin: format!("https://news.example/{unix_seconds}"),
        unix_seconds,
        record: "ab".repeat(32),
    }
}

fn page() -> TaintTag {
    tag(Taint::UNTRUSTED.union(Taint::WEB_DERIVED), 7)
}

fn memory(who: &str, content: &str, tag: Option<TaintTag>) -> NewMemory {
    NewMemory {
        user: user(who),
        agent: AgentId::parse("main").unwrap(),
        scope: "notes".to_owned(),
        kind: MemoryKind::Knowledge,
        content: content.to_owned(),
        source: None,
        related_id: None,
        created: 1000,
        record: Digest::ZERO,
        tag,
    }
}

fn write(store: &SqliteStore, who: &str, content: &str, tag: Option<TaintTag>) -> Written {
    store.keep(memory(who, content, tag)).unwrap()
}

fn find(store: &SqliteStore, who: &str, words: &str) -> Vec<MemoryRow> {
    store.find(&user(who), "notes", words, 100).unwrap()
}

fn contents(rows: &[MemoryRow]) -> Vec<&str> {
    rows.iter().map(|it| it.content.as_str()).collect()
}

fn open() -> (tempfile::TempDir, SqliteStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&dir.path().join("store.sqlite")).unwrap();
    (dir, store)
}
