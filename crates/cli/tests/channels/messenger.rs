//! A messenger's API on this machine, and `lazaret serve` that knows it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use testkit::program::Run as _;

use super::put;
use crate::program::lazaret;

/// The time of the messenger, in seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// How long anything may take that is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// What was asked of the API.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) authorization: Option<String>,
    pub(super) body: Value,
}

/// Answers what is asked; none means that nothing is ever said.
pub(super) type Answers = dyn Fn(&Asked) -> Option<(u16, Value)> + Send + Sync;

/// An API on this machine.
pub(super) struct Api {
    pub(super) url: String,
    asked: Receiver<Asked>,
}

impl Api {
    pub(super) fn answering(
        answers: impl Fn(&Asked) -> Option<(u16, Value)> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (told, asked) = channel();
        let answers: Arc<Answers> = Arc::new(answers);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, told) = (Arc::clone(&answers), told.clone());
                std::thread::spawn(move || one(stream, &answers, &told));
            }
        });
        Self { url, asked }
    }

    /// The next question whose path ends so; those before it are dropped.
    pub(super) fn next(&self, ending: &str) -> Asked {
        self.within(ending, PATIENCE).unwrap_or_else(|| panic!("no {ending}"))
    }

    /// The same, if it comes so soon.
    pub(super) fn within(&self, ending: &str, at_most: Duration) -> Option<Asked> {
        let until = Instant::now() + at_most;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let asked = self.asked.recv_timeout(left).ok()?;
            if asked.path.ends_with(ending) {
                return Some(asked);
            }
        }
    }
}

fn one(stream: TcpStream, answers: &Arc<Answers>, told: &Sender<Asked>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            head.push(line.trim().to_owned());
        }
        let field = |name: &str| {
            let found = head.iter().filter_map(|it| it.split_once(':'));
            let mut found = found.filter(|(it, _)| it.eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.trim().to_owned())
        };
        let length = field("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let path = head.first().and_then(|it| it.split(' ').nth(1)).unwrap_or_default().to_owned();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let asked = Asked { path, authorization: field("authorization"), body };
        let answer = answers(&asked);
        let _ = told.send(asked);
        let Some((status, answer)) = answer else {
            // A body that begins and never ends.
            let begins = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n";
            if stream.write_all(begins.as_bytes()).is_err() {
                return;
            }
            let _ = reader.read(&mut [0; 1]);
            return;
        };
        let answer = answer.to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            answer.len()
        );
        if stream.write_all(format!("{head}{answer}").as_bytes()).is_err() {
            return;
        }
    }
}

/// Updates of a bot, each with its number.
#[derive(Clone, Default)]
pub(super) struct Updates(Arc<Mutex<Vec<Value>>>);

impl Updates {
    pub(super) fn push(&self, message: Value) {
        let mut all = self.0.lock().unwrap();
        let number = all.len() + 1;
        all.push(json!({ "update_id": number, "message": message }));
    }

    /// Those that were not taken yet, after a moment if there are none.
    pub(super) fn since(&self, asked: &Asked) -> Value {
        let offset = asked.body.get("offset").and_then(Value::as_u64).unwrap_or(0);
        let is_new = |it: &&Value| it.get("update_id").and_then(Value::as_u64) >= Some(offset);
        for _ in 0..20 {
            let all = self.0.lock().unwrap();
            let new: Vec<Value> = all.iter().filter(is_new).cloned().collect();
            drop(all);
            if !new.is_empty() {
                return json!(new);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        json!([])
    }
}

/// A state directory with two users, one agent and a model that says back what it is told.
pub(super) fn home(script: &Value, config: &str, ann: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let providers = "providers: {llm: mock, credentials: env, memory: memu}\nhistory: {memory_recall: true}\nmodels: {mock: {script: script.json}}\n";
    put(home.path(), "config.yaml", &format!("{providers}{config}"));
    put(home.path(), "script.json", &script.to_string());
    let user = |name: &str, digit: &str, channels: &str| {
        let hash = digit.repeat(64);
        format!(
            "  - {{name: {name}, token_hash: \"{hash}\", agents: [main], budget: unlimited, channels: {{{channels}}}}}\n"
        )
    };
    let users = format!("users:\n{}{}", user("ann", "a", ann), user("bob", "b", "telegram: []"));
    put(home.path(), "users.yaml", &users);
    let identity = "---\nname: Main\ncredentials: {grants: {}}\n---\nHelps.\n";
    put(home.path(), "agents/main/IDENTITY.md", identity);
    home
}

/// `lazaret serve`.
pub(super) struct Served<'a> {
    home: &'a Path,
    child: Child,
    pub(super) address: String,
    log: Arc<Mutex<String>>,
}

impl<'a> Served<'a> {
    /// With secrets for one host.
    pub(super) fn start(home: &'a Path, host: &str, secrets: &[(&str, &str)]) -> Self {
        let mut command = lazaret(home, &["serve", "--listen", "127.0.0.1:0"]);
        for (name, value) in secrets {
            command.env(format!("LAZARET_SECRET_{name}"), value);
            command.env(format!("LAZARET_HOSTS_{name}"), host);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).unwrap() > 0, "it ended before it began");
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event.get("event").and_then(Value::as_str) == Some("server.started") {
                break event["details"]["address"].as_str().unwrap().to_owned();
            }
        };
        let log = Arc::<Mutex<String>>::default();
        let kept = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                kept.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Self { home, child, address, log }
    }

    pub(super) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log says so.
    pub(super) fn logs(&self, words: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.log().contains(words) {
            assert!(Instant::now() < until, "`{words}` is not in {}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends it, and gives all records of these kinds.
    pub(super) fn end(mut self, kinds: &[&str]) -> String {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{}", self.log());
        let mut all = String::new();
        for kind in kinds {
            all.push_str(&evidence(self.home, kind));
        }
        let verified = lazaret(self.home, &["evidence", "verify"]).run();
        assert_eq!(verified.code, 0, "{}", verified.err);
        all
    }

    /// Sends a request, and gives status and body.
    pub(super) fn request(&self, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "{head}\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// All records of a kind.
pub(super) fn evidence(home: &Path, kind: &str) -> String {
    lazaret(home, &["evidence", "query", "--kind", kind, "--json"]).run().out
}

/// Everything that lies in the journal, as text.
pub(super) fn journal(home: &Path) -> String {
    let mut all = String::new();
    let mut waiting = vec![home.join("evidence")];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                all.push_str(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
            }
        }
    }
    all
}
