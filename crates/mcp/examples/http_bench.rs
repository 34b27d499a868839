//! Measures the gateway by HTTP: callers at once over connections that they keep, and a proxy that only forwards, to compare.
//!
//! ```text
//! http_bench load ADDRESS TOKEN ERA METHOD CALLERS SECONDS TOOL_MS   prints one JSON object
//! http_bench forward ADDRESS COMMAND…                                serves until it is ended
//! ```

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench: what goes wrong ends it, and its figures are printed"
)]

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    match words.first().map(String::as_str) {
        Some("load") => runtime.block_on(load(&words[1..])),
        Some("forward") => runtime.block_on(forward(&words[1..])),
        _ => panic!("say `load` or `forward`"),
    }
}

/// What every caller does, and how.
#[derive(Clone)]
struct Calls {
    address: String,
    token: String,
    is_modern: bool,
    method: String,
    /// How long the tool takes; none takes no time at all.
    tool_ms: u64,
}

async fn load(words: &[String]) {
    let [address, token, era, method, callers, seconds, tool_ms] = words else {
        panic!("ADDRESS TOKEN ERA METHOD CALLERS SECONDS TOOL_MS")
    };
    let calls = Calls {
        address: address.clone(),
        token: token.clone(),
        is_modern: era == "modern",
        method: method.clone(),
        tool_ms: tool_ms.parse().expect("milliseconds"),
    };
    let callers: u64 = callers.parse().expect("a count");
    let wait = Duration::from_secs(seconds.parse().expect("seconds"));
    // Everybody is there before the clock starts.
    let mut connected = Vec::new();
    for number in 0..callers {
        connected.push(Caller::begin(calls.clone(), number).await);
    }
    let until = Instant::now() + wait;
    let running: Vec<_> =
        connected.into_iter().map(|caller| tokio::spawn(caller.call_until(until))).collect();
    let mut all = Vec::new();
    for caller in running {
        all.extend(caller.await.expect("a caller"));
    }
    all.sort();
    let at = |share: usize| all[(all.len() - 1) * share / 100].as_secs_f64() * 1e3;
    let per_second = all.len() as f64 / wait.as_secs_f64();
    println!(
        "{}",
        json!({ "calls": all.len(), "per_s": per_second.round(), "p50_ms": at(50), "p95_ms": at(95), "p99_ms": at(99) })
    );
}

struct Caller {
    calls: Calls,
    stream: TcpStream,
    session: Option<String>,
    next: u64,
    buffer: Vec<u8>,
}

impl Caller {
    async fn begin(calls: Calls, number: u64) -> Self {
        let stream = TcpStream::connect(&calls.address).await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        let next = number * 1_000_000_000;
        let mut caller = Self { calls, stream, session: None, next, buffer: Vec::new() };
        if !caller.calls.is_modern {
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } });
            let (head, _) = caller.exchange("initialize", params).await;
            let named = head.lines().find_map(|it| it.strip_prefix("mcp-session-id: "));
            caller.session = named.map(str::to_owned);
        }
        caller.call().await;
        caller
    }

    async fn call_until(mut self, until: Instant) -> Vec<Duration> {
        let mut took = Vec::new();
        while Instant::now() < until {
            let start = Instant::now();
            self.call().await;
            took.push(start.elapsed());
        }
        self.end().await;
        took
    }

    /// Ends the session, so that there is room for the next ones.
    async fn end(mut self) {
        let Some(session) = &self.session else { return };
        let token = &self.calls.token;
        let head = format!(
            "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nMcp-Session-Id: {session}\r\nConnection: close\r\n\r\n"
        );
        self.stream.write_all(head.as_bytes()).await.expect("sent");
        self.stream.read_to_end(&mut self.buffer).await.expect("an answer");
    }

    async fn call(&mut self) {
        let method = self.calls.method.clone();
        let params = match method.as_str() {
            "tools/call" if self.calls.tool_ms > 0 => {
                json!({ "name": "wait", "arguments": { "ms": self.calls.tool_ms } })
            }
            "tools/call" => json!({ "name": "look", "arguments": { "name": "plain" } }),
            _ => json!({}),
        };
        let (_, body) = self.exchange(&method, params).await;
        let said: Value = serde_json::from_slice(&body).expect("JSON");
        let is_good = said["id"] == self.next && said["result"]["isError"] != true;
        assert!(is_good && said["error"].is_null(), "{said}");
    }

    /// One request, and its answer: head and body.
    async fn exchange(&mut self, method: &str, mut params: Value) -> (String, Vec<u8>) {
        self.next += 1;
        let mut fields = String::new();
        if self.calls.is_modern {
            params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
            fields
                .push_str(&format!("Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n"));
            if let Some(name) = params["name"].as_str() {
                fields.push_str(&format!("Mcp-Name: {name}\r\n"));
            }
        } else if let Some(session) = &self.session {
            fields.push_str(&format!("Mcp-Session-Id: {session}\r\n"));
        }
        let body = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params })
            .to_string();
        let (token, length) = (&self.calls.token, body.len());
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(head.as_bytes()).await.expect("sent");
        self.read().await
    }

    async fn read(&mut self) -> (String, Vec<u8>) {
        loop {
            if let Some(end) = self.buffer.windows(4).position(|it| it == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
                assert!(head.starts_with("http/1.1 200"), "{head}");
                let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
                let length: usize =
                    length.expect("one JSON object").trim().parse().expect("a length");
                if self.buffer.len() >= end + 4 + length {
                    let body = self.buffer[end + 4..end + 4 + length].to_vec();
                    self.buffer.drain(..end + 4 + length);
                    return (head, body);
                }
            }
            let count = self.stream.read_buf(&mut self.buffer).await.expect("an answer");
            assert!(count > 0, "the connection broke off");
        }
    }
}

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Vec<u8>>>>>;

/// Forwards every body to one server and its answer back: no check, no gate, no record.
async fn forward(words: &[String]) {
    let (address, command) = words.split_first().expect("ADDRESS COMMAND…");
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a server");
    let input = Arc::new(Mutex::new(child.stdin.take().expect("its input")));
    let output = BufReader::new(child.stdout.take().expect("its output"));
    let waiting: Waiting = Arc::default();
    let told = Arc::clone(&waiting);
    std::thread::spawn(move || {
        for line in output.split(b'\n').map_while(Result::ok) {
            let message: Value = serde_json::from_slice(&line).expect("JSON");
            let sender =
                message["id"].as_u64().and_then(|it| told.lock().expect("a lock").remove(&it));
            if let Some(sender) = sender {
                let _gone = sender.send(line);
            }
        }
        child.wait().expect("the server's end")
    });
    let listener = TcpListener::bind(address).await.expect("an address");
    println!(
        "{}",
        json!({ "url": format!("http://{}/mcp", listener.local_addr().expect("an address")) })
    );
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let _ = stream.set_nodelay(true);
        let (input, waiting) = (Arc::clone(&input), Arc::clone(&waiting));
        let service = service_fn(move |request: Request<Incoming>| {
            let (input, waiting) = (Arc::clone(&input), Arc::clone(&waiting));
            async move {
                let mut line =
                    request.into_body().collect().await.expect("a body").to_bytes().to_vec();
                let message: Value = serde_json::from_slice(&line).expect("JSON");
                let (sender, receiver) = oneshot::channel();
                waiting
                    .lock()
                    .expect("a lock")
                    .insert(message["id"].as_u64().expect("an id"), sender);
                line.push(b'\n');
                input.lock().expect("a lock").write_all(&line).expect("sent");
                let answer = receiver.await.expect("an answer");
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(answer))))
            }
        });
        let io = TokioIo::new(stream);
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, service));
    }
}
