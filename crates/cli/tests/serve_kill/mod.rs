//! SIGKILL of `lazaret serve` at any moment, while several users talk to it: what was acknowledged is there afterwards, no
//! question to a model is counted as less than it cost, and no session comes back cleaner than it was.
//!
//! `LAZARET_CRASH_KILLS=100` is the long run, `LAZARET_CRASH_SEED=N` the moments of an earlier one.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod load;
mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use testkit::crash::kills;
use testkit::program::Run as _;

use crate::program::lazaret;
use crate::serve::{Served, put};
use load::{Promise, Round, User, ask};
use model::{Model, USERS};

/// Kills where nobody says how many.
const KILLS: u64 = 5;
/// What a server acknowledges at most before it is killed, and how long it lives after that: on a slow machine it lives longer.
const PROMISES_MAX: u64 = 24;
const WITHIN: Duration = Duration::from_millis(250);
/// How long one lives at most that acknowledges nothing.
const SILENT_MAX: Duration = Duration::from_secs(5);
/// How long one lives at most that is killed while it begins.
const BEGINNING: Duration = Duration::from_millis(400);
/// Of so many servers one is killed while it begins: what is mended after a kill is not mended before the next one.
const BEGINNERS: u64 = 4;

fn settings(model: &Model) -> String {
    let port = model.port;
    format!(
        "providers: {{llm: local, web: fetch}}\nmodels: {{default: local/m, local: {{url: \"http://127.0.0.1:{port}\"}}}}\n\
         egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n\
         serve: {{rateLimits: {{messagesPerMinute: 100000, maxRequestsPerWindow: 1000000, maxConnectionsPerUser: 100}}}}\n"
    )
}

fn home(model: &Model) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), "config.yaml", &settings(model));
    let budget = "{unit: tokens, sessionLimit: 1e12, dailyLimit: 1e12, monthlyLimit: 1e12}";
    let user = |name: &&str| format!("  - {{name: {name}, agents: [main], budget: {budget}}}\n");
    put(
        home.path(),
        "users.yaml",
        &format!("users:\n{}", USERS.iter().map(user).collect::<String>()),
    );
    let manifest = "---\nname: Main\ncredentials: {grants: {}}\n---\nHelps.\n";
    put(home.path(), "agents/main/IDENTITY.md", manifest);
    home
}

/// Numbers that are the same for the same seed.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let said = std::env::var("LAZARET_CRASH_SEED").ok().and_then(|it| it.parse().ok());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
        let seed = said.unwrap_or_else(|| u64::from(now)) | 1;
        eprintln!("LAZARET_CRASH_SEED={seed}");
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.next() % u64::try_from(most.as_micros()).unwrap())
    }

    /// Waits for the moment of a kill.
    fn moment(&mut self, acknowledged: &AtomicU64) {
        let (enough, begun) = (self.next() % PROMISES_MAX, Instant::now());
        while acknowledged.load(Ordering::Acquire) < enough && begun.elapsed() < SILENT_MAX {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(self.below(WITHIN));
    }
}

/// Taint of the sessions that have some.
type Taints = BTreeMap<String, BTreeSet<String>>;

fn taints(home: &Path) -> Taints {
    let shown = lazaret(home, &["taint", "show", "--limit", "100000", "--json"]).run().objects();
    let sessions = shown.iter().filter(|it| it["kind"] == "session");
    let names = |it: &Value| it.as_str().unwrap().to_owned();
    sessions
        .map(|it| {
            (names(&it["session"]), it["taint"].as_array().unwrap().iter().map(names).collect())
        })
        .collect()
}

/// Looks for everything that was promised.
fn check(served: &Served<'_>, home: &Path, model: &Model, users: &[User], promises: &[Promise]) {
    for user in users {
        // What the model was asked until now, and no more of it while we look.
        let asked = model.used(&user.name);
        let (status, usage) = ask(&served.address, "GET", "/api/usage", &user.token, "").unwrap();
        assert_eq!(status, 200, "{usage}");
        let usage: Value = serde_json::from_str(&usage).unwrap();
        let spent = usage["monthly"]["tokens"].as_u64().unwrap();
        assert!(spent >= asked, "{}: {spent} of {asked} tokens are counted", user.name);
    }
    let taints = taints(home);
    let mut said = BTreeMap::<&str, String>::new();
    for promise in promises {
        let token = |name: &str| &users.iter().find(|it| it.name == name).unwrap().token;
        let messages = |user: &str, session: &str| {
            let path = format!("/api/sessions/{session}/messages");
            ask(&served.address, "GET", &path, token(user), "").unwrap()
        };
        match promise {
            Promise::Made { user, session } => assert_eq!(messages(user, session).0, 200),
            Promise::Gone { user, session } => assert_eq!(messages(user, session).0, 404),
            Promise::Said { user, session, what } => {
                let all = said.entry(session).or_insert_with(|| messages(user, session).1);
                for words in [format!("did {what}\""), format!("{what}\"")] {
                    assert!(all.contains(&words), "`{words}` is lost: {all}");
                }
            }
            Promise::Tainted { session } => {
                let has = taints.get(session).is_some_and(|it| it.contains("WEB_DERIVED"));
                assert!(has, "{session} has read a page: {taints:?}");
            }
        }
    }
}

#[test]
fn whenever_it_is_killed_nothing_acknowledged_is_lost() {
    let mut random = Random::new();
    let model = Arc::new(Model::start());
    let home = home(&model);
    let home = home.path();
    let mut served = Served::start(home);
    let users: Vec<User> =
        USERS.iter().map(|it| User { name: (*it).to_owned(), token: served.token(it) }).collect();
    let (mut before, mut count, mut workers) = (Taints::new(), 0, Vec::new());
    let mut sessions = BTreeMap::new();
    for round in 0..kills(KILLS) {
        let (is_over, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
        let address = served.address.clone();
        let page = model::page(model.port);
        let all = Round {
            address: &address,
            number: round,
            page: &page,
            is_over: &is_over,
            acknowledged: &acknowledged,
        };
        let (promises, kept) = thread::scope(|scope| {
            let users: Vec<_> = users
                .iter()
                .map(|user| {
                    // Most go on with the session that they had, some begin anew.
                    let session = sessions.get(&user.name).filter(|_| round % 5 != 4).cloned();
                    let socket = scope.spawn(move || load::on_a_socket(all, user, session));
                    let http = scope.spawn(move || load::over_http(all, user));
                    (user, socket, http)
                })
                .collect();
            random.moment(&acknowledged);
            workers.extend(crate::agents::workers(served.id()));
            served.kill();
            is_over.store(true, Ordering::Release);
            let mut promises = Vec::new();
            let mut kept = BTreeMap::new();
            for (user, socket, http) in users {
                let (heard, session) = socket.join().unwrap();
                promises.extend(heard);
                promises.extend(http.join().unwrap());
                kept.extend(session.map(|it| (user.name.clone(), it)));
            }
            (promises, kept)
        });
        sessions.extend(kept);
        if round % BEGINNERS == BEGINNERS - 1 {
            killed_while_it_begins(home, random.below(BEGINNING));
        }
        served = Served::start(home);
        check(&served, home, &model, &users, &promises);
        let now = taints(home);
        at_least_as_tainted(&before, &now, round);
        (before, count) = (now, count + promises.len());
    }
    assert!(count > 0 && !before.is_empty(), "nothing was promised");
    eprintln!(
        "{count} promises, {} tainted sessions, {} tokens",
        before.len(),
        model.used_by_all()
    );
    kept_in_memory(home, &model);
    assert_eq!(served.end(), 0);
    assert_eq!(lazaret(home, &["evidence", "verify"]).run().code, 0);
    // Nobody's child is left.
    let left: Vec<u32> = workers.into_iter().filter(|it| load::is_worker(*it)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A server that is dead before it has served anybody.
fn killed_while_it_begins(home: &Path, after: Duration) {
    let mut command = lazaret(home, &["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

fn at_least_as_tainted(before: &Taints, now: &Taints, round: u64) {
    for (session, taint) in before {
        let found = now.get(session);
        let has = found.is_some_and(|it| it.is_superset(taint));
        assert!(has, "{session} was {taint:?} and is {found:?} in round {round}");
    }
}

/// What the agent was told of as written is there.
fn kept_in_memory(home: &Path, model: &Model) {
    let store = rusqlite::Connection::open(home.join("store.sqlite")).unwrap();
    for content in model.kept() {
        let sql = "SELECT count(*) FROM memory WHERE content = ?1";
        let count: i64 = store.query_row(sql, [&content], |row| row.get(0)).unwrap();
        assert_eq!(count, 1, "{content}");
    }
}
