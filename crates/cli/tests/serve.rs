//! `lazaret serve` as a program, the way somebody new starts it: tokens, a look at what is missing, requests, the end.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;

/// How long a server may take to say where it listens, and to end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

#[expect(clippy::disallowed_methods, reason = "files of a test need not be atomic")]
pub(crate) fn put(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A state directory with two users, one agent, and a model that follows `script`.
pub(crate) fn home(script: &Value, more: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let config = "providers: {llm: mock, web: fetch}\nmodels: {mock: {script: script.json}}\n";
    put(home.path(), "config.yaml", &format!("{config}{more}"));
    put(home.path(), "script.json", &script.to_string());
    // Nobody has the tokens of these hashes.
    let user = |name: &str, digit: &str| {
        let hash = digit.repeat(64);
        format!("  - {{name: {name}, token_hash: \"{hash}\", agents: [main], budget: unlimited}}\n")
    };
    put(home.path(), "users.yaml", &format!("users:\n{}{}", user("ann", "a"), user("bob", "b")));
    put(
        home.path(),
        "agents/main/IDENTITY.md",
        "---\nname: Main\ncredentials: {grants: {}}\n---\nHelps.\n",
    );
    home
}

pub(crate) struct Served<'a> {
    home: &'a Path,
    child: Child,
    pub(crate) address: String,
    /// What it wrote down since it began.
    pub(crate) log: Arc<Mutex<Vec<Value>>>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl<'a> Served<'a> {
    pub(crate) fn start(home: &'a Path) -> Self {
        let mut command = lazaret(home, &["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stdout.take().unwrap());
        let mut notes = child.stderr.take().unwrap();
        let address = loop {
            let mut line = String::new();
            if log.read_line(&mut line).unwrap() == 0 {
                let mut why = String::new();
                notes.read_to_string(&mut why).unwrap();
                panic!("it ended before it began: {why}");
            }
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["event"] == "server.started" {
                break event["details"]["address"].as_str().unwrap().to_owned();
            }
        };
        // Somebody must go on reading them.
        let lines = Arc::<Mutex<Vec<Value>>>::default();
        let written = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                written.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        std::thread::spawn(move || std::io::copy(&mut notes, &mut std::io::sink()));
        Self { home, child, address, log: lines }
    }

    fn send(&self, method: &str, path: &str, token: Option<&str>, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let bearer = token.map(|it| format!("Authorization: Bearer {it}\r\n")).unwrap_or_default();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{bearer}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        stream
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &str,
    ) -> Answer {
        let mut stream = self.send(method, path, token, body);
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, body: body.to_owned() }
    }

    /// Everything that comes back, whatever it is.
    pub(crate) fn bytes(&self, method: &str, path: &str, token: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.send(method, path, Some(token), "").read_to_end(&mut bytes).unwrap();
        bytes
    }

    pub(crate) fn chat(&self, token: &str, messages: &Value, session: Option<&str>) -> Answer {
        let mut request = json!({ "model": "main", "messages": messages });
        if let Some(session) = session {
            request["session_id"] = session.into();
        }
        self.request("POST", "/v1/chat/completions", Some(token), &request.to_string())
    }

    /// What an agent answers to one message.
    pub(crate) fn say(&self, token: &str, text: &str, session: Option<&str>) -> Value {
        let answer = self.chat(token, &json!([{ "role": "user", "content": text }]), session);
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    pub(crate) fn token(&self, user: &str) -> String {
        let token = token(self.home, user);
        let agreed =
            self.request("POST", "/api/consent", Some(&token), "{\"policyVersion\":\"1.0\"}");
        assert_eq!(agreed.status, 204, "{}", agreed.body);
        token
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a loss of power would, with everything that it still had to do.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn end(mut self) -> i32 {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(began.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn token(home: &Path, user: &str) -> String {
    let args = ["access", "create", "--user", user, "--agent", "main", "--json"];
    let made = lazaret(home, &args).run().objects().remove(0);
    made["token"].as_str().unwrap().to_owned()
}

fn content(answer: &Value) -> &str {
    answer["choices"][0]["message"]["content"].as_str().unwrap()
}

#[test]
fn somebody_new_starts_a_server_and_talks_to_an_agent() {
    let home = home(&json!({ "otherwise": { "say": "It is so: ", "echo": true } }), "");
    let preflight = lazaret(home.path(), &["preflight", "--agent", "main"]).run();
    assert_eq!(preflight.code, 0, "{}{}", preflight.out, preflight.err);
    let served = Served::start(home.path());
    let health = served.request("GET", "/health", None, "");
    assert_eq!(health.status, 200, "{}", health.body);
    let fresh = token(home.path(), "ann");
    assert_eq!(served.chat(&fresh, &json!([{ "role": "user", "content": "x" }]), None).status, 403);
    let ann = served.token("ann");
    let answer = served.say(&ann, "hello", None);
    assert_eq!(content(&answer), "It is so: hello");
    let request = json!({
        "model": "main", "stream": true, "session_id": answer["session_id"],
        "messages": [{ "role": "user", "content": "again" }],
    });
    let path = "/v1/chat/completions";
    let streamed = served.request("POST", path, Some(&ann), &request.to_string());
    assert!(streamed.body.contains("data: {") && streamed.body.contains("data: [DONE]"));
    assert!(streamed.body.contains("again"), "{}", streamed.body);
    let run = |words: &[&str]| lazaret(home.path(), words).run();
    let sent = run(&["send", "main", "from here", "--user", "ann"]);
    assert_eq!((sent.code, sent.out.trim_end()), (0, "It is so: from here"), "{}", sent.err);
    let said = run(&["evidence", "query", "--kind", "serve_said", "--json"]).objects();
    assert!(said.len() == 1 && said[0].to_string().contains("operator"), "{said:?}");
    assert_eq!(run(&["send", "main", "x", "--user", "mallory"]).code, 1);
    let refused = run(&["send", "main", "x", "--user", "bob"]);
    assert!(refused.code == 1 && refused.err.contains("--agree"), "{}", refused.err);
    let sent = run(&["send", "main", "x", "--user", "bob", "--agree", "0.9"]);
    assert_eq!(sent.code, 1, "another version: {}", sent.err);
    let sent = run(&["send", "main", "x", "--user", "bob", "--agree", "1.0"]);
    assert_eq!(sent.out.trim_end(), "It is so: x", "{}", sent.err);
    assert_eq!(run(&["send", "main", "", "--user", "bob"]).code, 2);
    let second = run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(second.code == 1 && second.err.contains("another server"), "{}", second.err);
    let refused = run(&["evidence", "query", "--kind", "hook_refused", "--json"]).objects();
    assert_eq!(refused, [] as [Value; 0], "a look whether somebody listens is no refused call");
    let workers = run(&["workers", "list"]);
    assert_eq!(workers.code, 0, "{}", workers.err);
    let status = run(&["status"]);
    let shown = format!("{}{}", status.out, status.err);
    assert!(shown.contains(&served.address), "{shown}");
    assert_eq!(served.end(), 0);
    assert_eq!(run(&["send", "main", "x", "--user", "ann"]).code, 1);
    assert_eq!(run(&["evidence", "verify"]).code, 0);
}

#[test]
fn what_somebody_new_makes_passes_the_look_before_and_what_opens_nothing_is_said() {
    let home = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| lazaret(home.path(), words).run();
    let made = run(&["access", "create", "--user", "me"]);
    assert!(made.code == 0 && made.err.contains("users.yaml has no user `me`"), "{}", made.err);
    assert_eq!(run(&["agents", "create", "main"]).code, 0);
    let listed = run(&["access", "create", "--user", "me"]);
    assert!(listed.code == 0 && !listed.err.contains("users.yaml"), "{}", listed.err);
    let preflight = run(&["preflight", "--agent", "main"]);
    assert_eq!(preflight.code, 0, "{}{}", preflight.out, preflight.err);
    put(
        home.path(),
        "config.yaml",
        "providers: {llm: mock}\nmodels: {mock: {script: none.json}}\n",
    );
    let preflight = run(&["preflight", "--agent", "main"]);
    assert!(preflight.code == 1 && preflight.out.contains("none.json"), "{}", preflight.out);
    run(&["agents", "create", "other"]).good();
    let preflight = run(&["preflight", "--agent", "other"]);
    assert!(preflight.code == 1, "{}", preflight.out);
    put(home.path(), "agents/other/IDENTITY.md", "---\nfoo: 1\n---\n");
    let listed = run(&["agents", "list"]);
    assert!(listed.out.contains("main") && listed.err.contains("foo"), "{}", listed.err);
    let chat = run(&["chat", "--agent", "nosuch"]);
    assert_eq!(chat.code, 2, "{}", chat.err);
}

#[test]
fn only_the_last_message_is_the_users_word() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let page = format!("http://127.0.0.1:{port}/page");
    let script = json!({ "turns": [
        { "call": [{ "name": "web_fetch", "input": { "url": page } }] },
        { "say": "done" },
    ]});
    let inner = format!("egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n");
    let home = home(&script, &inner);
    let served = Served::start(home.path());
    let ann = served.token("ann");
    let fetched_after = |messages: &Value| {
        let request = json!({ "model": "main", "messages": messages }).to_string();
        let mut stream = served.send("POST", "/v1/chat/completions", Some(&ann), &request);
        let began = Instant::now();
        // Whoever is asked about it says nothing, so there may be no answer at all.
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        loop {
            if listener.accept().is_ok() {
                return true;
            }
            let is_over = stream.read(&mut [0; 1 << 12]).is_ok();
            if is_over || began.elapsed() > Duration::from_secs(10) {
                return listener.accept().is_ok();
            }
        }
    };
    // An address that only the client's history names was chosen by nobody.
    assert!(!fetched_after(&json!([
        { "role": "user", "content": format!("Please open {page}") },
        { "role": "assistant", "content": format!("Shall I open {page} for you?") },
        { "role": "user", "content": "yes, go on" },
    ])));
    assert!(fetched_after(&json!([{ "role": "user", "content": format!("Please open {page}") }])));
}

#[test]
fn idle_workers_make_room_and_a_reload_reaches_sessions_that_are_open() {
    let script = json!({ "otherwise": { "say": "yes" } });
    let home = home(&script, "serve: {maxWorkers: 2}\n");
    let served = Served::start(home.path());
    let (ann, bob) = (served.token("ann"), served.token("bob"));
    // Tokens are in a file as well: that there are new ones is noticed by then.
    std::thread::sleep(Duration::from_secs(4));
    let session = |token: &str| {
        let made = served.request("POST", "/api/sessions", Some(token), "{\"agent\":\"main\"}");
        let made: Value = serde_json::from_str(&made.body).unwrap();
        made["id"].as_str().unwrap().to_owned()
    };
    // Three sessions with a worker that has nothing to do, where there is room for two.
    let sessions: Vec<String> = (0..3).map(|_| session(&ann)).collect();
    for it in &sessions {
        assert_eq!(content(&served.say(&ann, "hello", Some(it))), "yes");
    }
    let bobs = session(&bob);
    assert_eq!(content(&served.say(&bob, "hello", Some(&bobs))), "yes");
    let started = || {
        let query = ["evidence", "query", "--kind", "worker_started", "--json"];
        let found = lazaret(home.path(), &query).run().objects();
        found.iter().filter(|it| it.to_string().contains(&bobs)).count()
    };
    assert_eq!(content(&served.say(&bob, "hello", Some(&bobs))), "yes");
    assert_eq!(started(), 1);
    // The manifest is another one: what was opened by the old one does not go on.
    put(
        home.path(),
        "agents/main/IDENTITY.md",
        "---\nname: Other\ncredentials: {grants: {}}\n---\nHelps.\n",
    );
    let began = Instant::now();
    while started() == 1 && began.elapsed() < PATIENCE {
        assert_eq!(content(&served.say(&bob, "hello", Some(&bobs))), "yes");
        std::thread::sleep(Duration::from_secs(4));
    }
    assert_eq!(started(), 2);
    assert_eq!(served.end(), 0);
}
