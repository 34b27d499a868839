//! A state directory with users and agents, and a server on it.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use agent::Runtime;
use data_encoding::HEXLOWER;
use evidence::{Config, Journal, SystemClock};
use serde_json::Value;
use serve::{Handle, Log, Parts, Personal, Server};
use sha2::{Digest as _, Sha256};

use crate::desk::{Desk, desk};

pub(crate) struct World {
    pub(crate) home: Option<tempfile::TempDir>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) address: SocketAddr,
    pub(crate) handle: Handle,
    pub(crate) log: Lines,
    running: Option<JoinHandle<()>>,
}

/// Tokens of the users file.
pub(crate) const ANN: &str = "ann-token";
pub(crate) const BOB: &str = "bob-token";
pub(crate) const ROOT: &str = "root-token";

/// Where the log of a test ends up.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The lines that are whole.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let whole = text.rsplit_once('\n').map_or("", |it| it.0);
        whole.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
    }

    /// Waits until an event is there: lines are written by a thread of their own.
    pub(crate) fn has(&self, event: &str) -> bool {
        let until = Instant::now() + LINE_WITHIN;
        let is_there = || self.events().iter().any(|it| it["event"] == event);
        while !is_there() && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        is_there()
    }
}

const LINE_WITHIN: Duration = Duration::from_secs(20);

pub(crate) fn hash(token: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(token.as_bytes()))
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&new, path).unwrap();
}

pub(crate) fn user(name: &str, token: &str, more: &str) -> String {
    format!("  - name: {name}\n    token_hash: \"{}\"\n    {more}\n", hash(token))
}

/// Ann and Bob with agents of their own, and who administers.
pub(crate) fn users(ann_budget: &str) -> String {
    [
        "users:\n".to_owned(),
        user("ann", ANN, &format!("agents: [main, anns]\n    budget: {ann_budget}")),
        user("bob", BOB, "agents: [main, bobs]\n    budget: unlimited"),
        user("root", ROOT, "agents: \"*\"\n    budget: unlimited\n    admin: true"),
    ]
    .concat()
}

pub(crate) const WIDE: &str = "serve:
  maxWorkers: 64
  rateLimits:
    maxRequestsPerWindow: 100000
    messagesPerMinute: 100000
    maxConnectionsPerUser: 300
    concurrentSessions: 1000
    authFailuresPerMinute: 1000
";

impl World {
    pub(crate) fn new() -> Self {
        Self::with("serve: {}\n", &users("unlimited"))
    }

    /// With limits that are not in the way.
    pub(crate) fn wide() -> Self {
        Self::with(WIDE, &users("unlimited")).agree()
    }

    pub(crate) fn with(config: &str, users: &str) -> Self {
        Self::start(home(config, users), desk())
    }

    pub(crate) fn start(home: tempfile::TempDir, desk: Arc<Desk>) -> Self {
        let log = Lines::default();
        let server = server(home.path(), &desk, log.clone());
        let (address, handle) = (server.address(), server.handle());
        let running = Some(std::thread::spawn(move || server.run().unwrap()));
        Self { home: Some(home), desk, address, handle, log, running }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.as_ref().unwrap().path()
    }

    /// The same directory with another server, after the first has ended in order.
    pub(crate) fn restart(mut self) -> Self {
        self.end();
        let (home, desk) = (self.home.take().unwrap(), Arc::clone(&self.desk));
        // With it go the books and the journal.
        drop(self);
        Self::start(home, desk)
    }

    pub(crate) fn end(&mut self) {
        self.handle.stop();
        if let Some(running) = self.running.take() {
            running.join().unwrap();
        }
    }

    /// Everybody agrees to the policy.
    pub(crate) fn agree(self) -> Self {
        for token in [ANN, BOB, ROOT] {
            let answer = self.post("/api/consent", Some(token), "{\"policyVersion\":\"1.0\"}");
            assert_eq!(answer.status, 204, "{}", answer.body);
        }
        self
    }

    /// Everything in the journal, as text.
    pub(crate) fn records(&self) -> String {
        let mut all = String::new();
        let mut waiting = vec![self.home().join("evidence")];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    waiting.push(path);
                } else {
                    all.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap()));
                }
            }
        }
        all
    }
}

pub(crate) fn home(config: &str, users: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
    write(&home.path().join("config.yaml"), config);
    write(&home.path().join("users.yaml"), users);
    for (agent, more) in [
        ("main", ""),
        ("anns", "access: users\nusers: [ann]\n"),
        ("bobs", "access: users\nusers: [bob]\n"),
        ("secret", "access: private\n"),
    ] {
        let text = format!("---\nname: The {agent}\ntags: [x]\n{more}---\nDoes things.\n");
        write(&home.path().join("agents").join(agent).join("IDENTITY.md"), &text);
    }
    home
}

pub(crate) fn server(home: &Path, desk: &Arc<Desk>, log: impl Write + Send + 'static) -> Server {
    let (journal, _) = Journal::open(&Config::new(home.join("evidence"))).unwrap();
    let parts = Parts {
        home: home.to_owned(),
        runtime: Arc::clone(desk) as Arc<dyn Runtime>,
        journal: Arc::new(journal),
        clock: Arc::new(SystemClock),
        log: Log::to(log, Arc::new(SystemClock)).unwrap(),
        personal: Arc::clone(desk) as Arc<dyn Personal>,
        channels: None,
    };
    Server::bind("127.0.0.1:0".parse().unwrap(), parts).unwrap()
}

impl Drop for World {
    fn drop(&mut self) {
        self.handle.stop();
        self.handle.stop();
        if let Some(running) = self.running.take() {
            let _ = running.join();
        }
    }
}
