//! What the tests share.

use std::path::{Path, PathBuf};

use model::{AgentId, Caller, Kind, SessionId, Taint, UserId};
use monitor::Summary;
use store::SqliteStore;

pub(crate) fn session(id: &str) -> SessionId {
    SessionId::parse(id).unwrap()
}

pub(crate) fn caller(id: &str) -> Caller {
    Caller {
        session: session(id),
        user: UserId::parse("alice").unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::parse("ipc").unwrap(),
    }
}

pub(crate) fn database(dir: &Path) -> PathBuf {
    dir.join("state/store.sqlite")
}

pub(crate) fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(&database(dir)).unwrap()
}

/// A summary after `calls` calls, tainted by a page.
pub(crate) fn summary(calls: u64) -> Summary {
    Summary {
        taint: Taint::UNTRUSTED.union(Taint::WEB_DERIVED),
        tainted_tokens: 10 * calls,
        clean_tokens: calls,
        origin: "https://news.example/".to_owned(),
        calls,
        stopped: 0,
    }
}
