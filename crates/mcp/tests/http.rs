//! The endpoint by itself, before a real server: how long sessions live, and what does not stay behind.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "test helpers; tests start a server and connect to the endpoint"
)]

use mcp::http::server::auth::{Authenticator, NewToken, Principal, TokenTable};
use mcp::http::server::limits::CONNECTIONS_MAX;
use mcp::http::server::{Backend, Endpoint, Origins, Parts, Started};
use mcp::stdio::{Naming, Pipe, Server};
use mcp::{Answered, Begun, Call, Delivery, Gate, GateError, Listed, Listing, Offer, Ticket};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A gate that lets everything pass: what is judged is tested elsewhere.
struct Open;

impl Gate for Open {
    fn tools(&self, _: &str, _: Listing<'_>) -> Result<Listed, GateError> {
        Ok(Listed::default())
    }

    fn offers(&self, _: &str, _: Offer, _: Listing<'_>) -> Result<Vec<String>, GateError> {
        Ok(Vec::new())
    }

    fn begin(&self, _: &Call<'_>) -> Result<Begun, GateError> {
        Ok(Begun::Allowed(Ticket::new("t")))
    }

    fn finish(&self, _: Ticket, _: &Value, _: bool) -> Result<Delivery, GateError> {
        Ok(Delivery::AsItCame)
    }

    fn lost(&self, _: Ticket) {}

    fn unsent(&self, _: Ticket) {}

    fn answer(&self, _: &str, _: Answered) -> Result<(), GateError> {
        Ok(())
    }

    fn lifecycle(&self, _: &str, _: &str, _: &Value) {}
}

/// The server of the corpus, started after a while; counts those that run.
struct Python {
    delay: Duration,
    running: Arc<AtomicUsize>,
}

impl Backend for Python {
    fn start(&self, _: &Principal) -> Result<Started, String> {
        thread::sleep(self.delay);
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/mcp-http/server.py");
        let mut command = Command::new("python3");
        command.arg("-B").arg(server).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        self.running.fetch_add(1, Ordering::SeqCst);
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let running = Arc::clone(&self.running);
        let end = move || {
            child.wait().unwrap();
            running.fetch_sub(1, Ordering::SeqCst);
        };
        let input = Box::new(Pipe::new(input));
        let server = Server { name: "notes".into(), input, output: Box::new(output) };
        let naming = Naming::Plain;
        Ok(Started { gate: Arc::new(Open), servers: vec![server], naming, end: Box::new(end) })
    }
}

/// An endpoint that listens.
struct Served {
    address: SocketAddr,
    token: String,
    running: Arc<AtomicUsize>,
    endpoint: Arc<Endpoint>,
    _runtime: tokio::runtime::Runtime,
}

fn serve(delay: Duration, sessions_max: usize, idle_max: Duration) -> Served {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let NewToken { text: token, digest } = NewToken::random().unwrap();
    let tokens = Arc::new(TokenTable::new(vec![("local".to_owned(), digest)]));
    let running = Arc::new(AtomicUsize::new(0));
    let backend = Python { delay, running: Arc::clone(&running) };
    let endpoint = Endpoint::new(Parts {
        origins: Origins::of(address, &[], &[]),
        auth: Authenticator::Local(Box::new(move || Arc::clone(&tokens))),
        backend: Arc::new(backend),
        clock: || 0,
        sessions_max,
        idle_max,
        refusals: Box::new(|_| {}),
    });
    runtime.spawn(Arc::clone(&endpoint).serve(listener));
    Served { address, token, running, endpoint, _runtime: runtime }
}

impl Served {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    fn send(&self, session: Option<&str>, method: &str) -> TcpStream {
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {} });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let body = body.to_string();
        let session = session.map(|it| format!("Mcp-Session-Id: {it}\r\n")).unwrap_or_default();
        let (token, length) = (&self.token, body.len());
        let mut stream = self.connect();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n{session}Content-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// The status, and the session where one was begun.
    fn ask(&self, session: Option<&str>, method: &str) -> (u16, Option<String>) {
        let mut text = String::new();
        self.send(session, method).read_to_string(&mut text).unwrap();
        let begun = text.lines().find_map(|it| it.strip_prefix("mcp-session-id: "));
        (text.split(' ').nth(1).unwrap().parse().unwrap(), begun.map(str::to_owned))
    }

    fn wait_until_running(&self, count: usize) {
        let until = Instant::now() + Duration::from_secs(30);
        while self.running.load(Ordering::SeqCst) != count {
            assert!(Instant::now() < until, "{} run", self.running.load(Ordering::SeqCst));
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn an_idle_session_ends_with_its_servers_and_is_not_known_any_more() {
    let served = serve(Duration::ZERO, 4, Duration::from_millis(500));
    let (status, session) = served.ask(None, "initialize");
    assert_eq!(status, 200);
    let session = session.unwrap();
    assert_eq!(served.ask(Some(&session), "ping").0, 200);
    assert_eq!(served.running.load(Ordering::SeqCst), 1);
    served.wait_until_running(0);
    assert_eq!(served.ask(Some(&session), "ping").0, 404);
}

#[test]
fn a_client_that_goes_during_the_handshake_leaves_no_session_behind() {
    let served = serve(Duration::from_millis(500), 1, Duration::from_secs(600));
    let stream = served.send(None, "initialize");
    thread::sleep(Duration::from_millis(200));
    assert_eq!(served.ask(None, "initialize").0, 503, "the one place is taken");
    drop(stream);
    let until = Instant::now() + Duration::from_secs(20);
    while served.ask(None, "initialize").0 != 200 {
        assert!(Instant::now() < until, "its place is not free");
        thread::sleep(Duration::from_millis(100));
    }
    served.wait_until_running(1);
}

#[test]
fn closing_ends_every_server() {
    let served = serve(Duration::ZERO, 4, Duration::from_secs(600));
    for _ in 0..3 {
        assert_eq!(served.ask(None, "initialize").0, 200);
    }
    assert_eq!(served.running.load(Ordering::SeqCst), 3);
    served.endpoint.close(Duration::from_secs(20));
    assert_eq!(served.running.load(Ordering::SeqCst), 0);
}

#[test]
fn connections_beyond_the_limit_are_closed_and_the_others_go_on() {
    let served = serve(Duration::ZERO, 4, Duration::from_secs(600));
    let kept: Vec<TcpStream> = (0..CONNECTIONS_MAX).map(|_| served.connect()).collect();
    let mut one_more = served.connect();
    let mut byte = [0];
    assert!(matches!(one_more.read(&mut byte), Ok(0) | Err(_)), "it is closed at once");
    drop(kept);
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let mut text = String::new();
        let mut stream = served.connect();
        let asked = b"GET /other HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let answered = stream.write_all(asked).and_then(|()| stream.read_to_string(&mut text));
        if answered.is_ok() && text.starts_with("HTTP/1.1 404") {
            break;
        }
        assert!(Instant::now() < until, "there is room again");
        thread::sleep(Duration::from_millis(50));
    }
}
