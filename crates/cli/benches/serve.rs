//! What `lazaret serve` adds to a turn, and what it holds, beside the model server alone in the same run.
//!
//! `cargo bench -p cli --bench serve`; with `LAZARET_PROGRAM` another program that is built already. The program itself, its own workers in their cages, and a model server of
//! tests that speaks as OpenAI's does. Everything talks to loopback only.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark starts the programs that it measures, and what goes wrong ends it"
)]

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model::{chat, head, serve};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

const WORKERS: usize = 20;
const IDLE_SOCKETS: usize = 200;
const TURNS: usize = 200;
const WARM_TURNS: usize = 20;
/// So many turns of the session's beginning and end are shown: the conversation grows, and each turn carries all of it.
const TURNS_SHOWN: usize = 20;
/// What the model takes while it is looked whether the server still answers.
const BUSY_MODEL: Duration = Duration::from_millis(100);
const HEALTH_CALLS: usize = 200;
const VALIDATED: usize = 20_000;
/// Of so many messages of a socket at once each is answered before more are sent.
const VALIDATED_AT_ONCE: usize = 64;
const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    let model = Model::start();
    let home = tempfile::tempdir().unwrap();
    settings(home.path(), model.port);
    println!("{} cores", thread::available_parallelism().map_or(0, usize::from));
    workers(home.path());
    let served = Served::start(home.path());
    let token = served.token(home.path());

    let mut raw = time(TURNS, || model_alone(model.port));
    let mut client = Client::open(&served.address, &token);
    let mut through = time(TURNS, || client.turn("hello"));
    let mut first = through[..TURNS_SHOWN].to_vec();
    let mut last = through[TURNS - TURNS_SHOWN..].to_vec();
    println!(
        "a turn: {} through the server (WebSocket, worker, gate, sync), {} the model server alone; {:.2} ms more at p50",
        shown(&mut through),
        shown(&mut raw),
        at(&mut through, 50) - at(&mut raw, 50)
    );
    println!(
        "of it the first {TURNS_SHOWN} turns of the session, and the last: p50 {:.2} ms, {:.2} ms",
        at(&mut first, 50),
        at(&mut last, 50)
    );

    let rate = validated(&mut client);
    println!("messages looked at on one socket: {rate:.0}/s, half of them refused");

    let idle: Vec<_> = (0..IDLE_SOCKETS).map(|_| Client::open(&served.address, &token)).collect();
    let mut busy: Vec<_> = (0..WORKERS).map(|_| Client::open(&served.address, &token)).collect();
    thread::scope(|scope| {
        for client in &mut busy {
            scope.spawn(|| client.turn("hello"));
        }
    });
    let (server, all, processes) = memory(served.child.id());
    println!(
        "memory: {all:.0} MiB in {processes} processes ({server:.0} the server) with {} open sockets and {WORKERS} workers",
        idle.len() + busy.len() + 1
    );

    model.delay_ms.store(u64::try_from(BUSY_MODEL.as_millis()).unwrap(), Ordering::Relaxed);
    let is_over = AtomicBool::new(false);
    let turns = AtomicU64::new(0);
    let mut health = Vec::new();
    thread::scope(|scope| {
        for client in &mut busy {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    client.turn("hello");
                    turns.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        thread::sleep(BUSY_MODEL);
        health = time(HEALTH_CALLS, || get(&served.address, "/health"));
        is_over.store(true, Ordering::Relaxed);
    });
    println!(
        "/health while {WORKERS} workers are busy: {}, max {:.1} ms ({} turns meanwhile)",
        shown(&mut health),
        at(&mut health, 100),
        turns.load(Ordering::Relaxed)
    );
}

/// The program that is measured.
fn program() -> Command {
    let named = std::env::var_os("LAZARET_PROGRAM");
    Command::new(named.unwrap_or_else(|| env!("CARGO_BIN_EXE_lazaret").into()))
}

/// How long workers take to begin, as `lazaret agents bench` says it.
fn workers(home: &Path) {
    let count = WORKERS.to_string();
    let out = program()
        .args(["agents", "bench", "--home"])
        .arg(home)
        .args(["--count", &count, "--at-once", &count])
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    print!("workers: {}", String::from_utf8_lossy(&out.stdout));
}

fn settings(home: &Path, port: u16) {
    let put = |name: &str, text: String| {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let limits = "maxConnectionsPerUser: 1000, concurrentSessions: 1000, maxRequestsPerWindow: 1000000, windowMs: 100, messagesPerMinute: 100000";
    put(
        "config.yaml",
        format!(
            "providers: {{llm: local}}\nmodels: {{default: local/bench, local: {{url: \"http://127.0.0.1:{port}\"}}}}\nserve: {{rateLimits: {{{limits}}}}}\n"
        ),
    );
    put("users.yaml", "users:\n  - {name: me, agents: [main], budget: unlimited}\n".to_owned());
    put("agents/main/IDENTITY.md", "---\nname: Main\n---\nAnswers.\n".to_owned());
}

/// A model server: says the same to whatever is asked, after a while.
struct Model {
    port: u16,
    delay_ms: Arc<AtomicU64>,
}

impl Model {
    fn start() -> Self {
        let delay_ms = Arc::new(AtomicU64::new(0));
        let delay = Arc::clone(&delay_ms);
        let port = serve(move |_| {
            thread::sleep(Duration::from_millis(delay.load(Ordering::Relaxed)));
            Some(chat(&json!({"content": "It is so."}), 100, 4))
        });
        Self { port, delay_ms }
    }
}

fn model_alone(port: u16) {
    let body = json!({"model": "bench", "stream": true, "messages": [{"role": "user", "content": "hello"}]});
    request(&format!("127.0.0.1:{port}"), "POST", "/v1/chat/completions", "", &body.to_string());
}

fn get(address: &str, path: &str) {
    request(address, "GET", path, "", "");
}

fn request(address: &str, method: &str, path: &str, more: &str, body: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{more}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.read_line(&mut status).unwrap();
    assert!(status.contains(" 20"), "{path}: {status}");
    let length = head(&mut reader).unwrap();
    io::copy(&mut reader.take(length), &mut io::sink()).unwrap();
}

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(home: &Path) -> Self {
        let mut child = program()
            .args(["serve", "--listen", "127.0.0.1:0", "--home"])
            .arg(home)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stdout.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "it ended before it began");
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["event"] == "server.started" {
                break event["details"]["address"].as_str().unwrap().to_owned();
            }
        };
        thread::spawn(move || io::copy(&mut log, &mut io::sink()));
        Self { child, address }
    }

    fn token(&self, home: &Path) -> String {
        let out = program()
            .args(["access", "create", "--user", "me", "--agent", "main", "--json", "--home"])
            .arg(home)
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let made: Value = serde_json::from_slice(&out.stdout).unwrap();
        let token = made["token"].as_str().unwrap().to_owned();
        let bearer = format!("Authorization: Bearer {token}\r\n");
        request(&self.address, "POST", "/api/consent", &bearer, "{\"policyVersion\":\"1.0\"}");
        token
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Client(WebSocket<TcpStream>);

impl Client {
    /// A socket with a session of its own.
    fn open(address: &str, token: &str) -> Self {
        let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("Authorization", bearer);
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        let mut client = Self(socket);
        client.say(&json!({"type": "subscribe", "agentId": "main"}));
        client.until(&["subscribed"]);
        client
    }

    fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    fn until(&mut self, types: &[&str]) -> Value {
        loop {
            let Message::Text(text) = self.0.read().unwrap() else { continue };
            let frame: Value = serde_json::from_str(&text).unwrap();
            let kind = frame["type"].as_str().unwrap();
            if types.contains(&kind) {
                return frame;
            }
            assert!(kind != "error", "{frame}");
        }
    }

    fn turn(&mut self, content: &str) {
        self.say(&json!({"type": "message", "content": content}));
        let answer = self.until(&["assistant_message"]);
        assert_eq!(answer["content"], "It is so.");
        self.until(&["result"]);
    }
}

/// Messages a second that are read, judged to be one or none, and answered.
fn validated(client: &mut Client) -> f64 {
    let begun = Instant::now();
    for _ in 0..VALIDATED / VALIDATED_AT_ONCE {
        for number in 0..VALIDATED_AT_ONCE {
            client.say(&if number % 2 == 0 {
                json!({"type": "ping"})
            } else {
                json!({"type": "message", "content": "x", "more": 1})
            });
        }
        for _ in 0..VALIDATED_AT_ONCE {
            client.until(&["pong", "error"]);
        }
    }
    let sent = VALIDATED / VALIDATED_AT_ONCE * VALIDATED_AT_ONCE;
    f64::from(u32::try_from(sent).unwrap()) / begun.elapsed().as_secs_f64()
}

/// MiB of a process, and of it and all that it started, shared pages counted once; and how many they are.
fn memory(server: u32) -> (f64, f64, usize) {
    let mut family = vec![server];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        next += 1;
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else {
                continue;
            };
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let of = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
            if of.is_some_and(|it| it == parent.to_string()) {
                family.push(pid);
            }
        }
    }
    let all: Vec<f64> = family.iter().map(|it| proportional(*it)).collect();
    (all[0], all.iter().sum(), all.len())
}

fn proportional(pid: u32) -> f64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|it| it.strip_prefix("Pss:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap() / 1024.0
}

/// Milliseconds of each, after some that do not count.
fn time(count: usize, mut run: impl FnMut()) -> Vec<f64> {
    for _ in 0..WARM_TURNS {
        run();
    }
    (0..count)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect()
}

fn at(all: &mut [f64], percent: usize) -> f64 {
    all.sort_by(f64::total_cmp);
    all[((all.len() - 1) * percent).div_ceil(100)]
}

fn shown(all: &mut [f64]) -> String {
    format!("p50 {:.2} ms, p95 {:.2} ms", at(all, 50), at(all, 95))
}
