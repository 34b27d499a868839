//! What the tests share: a gate on a temporary directory, browsers behind it, and servers that remember who came.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use browser::{Admits, Browsers, Limits, Program, Setup};
use egress::{Dialer, Looking, Resolve, Rules};
use evidence::{Config, Durability, Journal, Reader, SystemClock};
use gateway::proxy;
use model::{AgentId, Caller, Effect, Kind, SessionId, ToolDef, UserId};
use monitor::{
    Admission, Asked, Delivered, Executor, Granted, Monitor, Opening, Output, Permit, Refusal,
    Status,
};
use policy::Policy;
use serde_json::{Value, json};
use store::SqliteStore;

static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| Arc::new(Policy::embedded().unwrap()));

/// Names of the tests, all of this machine.
struct Names;

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Looking<'a> {
        let known = ["page.example", "other.example", "third.example"].contains(&name);
        let answer = if known {
            Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])
        } else {
            Err(io::Error::other("no such name in this test"))
        };
        Box::pin(async move { answer })
    }
}

struct Everybody(Rules);

impl Admits for Everybody {
    fn admit(&self, _: &Caller, _: &[ToolDef]) -> Result<(Admission, Rules), String> {
        Ok((Admission::OnePerson, self.0.clone()))
    }
}

/// Carries out what is permitted.
struct Hands<'a>(&'a Browsers);

impl Executor for Hands<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "only what browsers do is asked for here")]
    fn execute(&self, permit: Permit<Effect>) -> Output {
        match permit.by_kind() {
            Granted::BrowserLaunch(it) => self.0.launch(it),
            Granted::BrowserNavigate(it) => self.0.navigate(it),
            Granted::BrowserSnapshot(it) => self.0.snapshot(it),
            Granted::BrowserClick(it) => self.0.click(it),
            Granted::BrowserType(it) => self.0.type_text(it),
            Granted::BrowserScreenshot(it) => self.0.screenshot(it),
            Granted::BrowserClose(it) => self.0.end(it),
            other => panic!("{other:?}"),
        }
    }
}

/// A gate with browsers.
pub(crate) struct Rig {
    pub(crate) browsers: Option<Browsers>,
    pub(crate) monitor: Arc<Monitor>,
    journal: Arc<Journal>,
    pub(crate) home: tempfile::TempDir,
    pub(crate) who: Caller,
}

impl Rig {
    /// In which pages may ask for these ports, and of this machine get only `open`.
    pub(crate) fn new(open: &[u16], ports: &[u16]) -> Self {
        Self::with(open, ports, Limits::default())
    }

    pub(crate) fn with(open: &[u16], ports: &[u16], limits: Limits) -> Self {
        Self::trusting(open, ports, limits, None)
    }

    /// In which the browser believes the authorities in this folder.
    pub(crate) fn trusting(
        open: &[u16],
        ports: &[u16],
        limits: Limits,
        authorities: Option<PathBuf>,
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut config = Config::new(home.path().join("evidence"));
        config.durability = Durability::DangerouslyUnsynced;
        let journal = Arc::new(Journal::open(&config).unwrap().0);
        let store = SqliteStore::open_with(&home.path().join("store.sqlite"), config.durability);
        let monitor = Arc::new(Monitor::new(monitor::Setup {
            journal: Arc::clone(&journal),
            state: Arc::new(store.unwrap()),
            policy: Arc::clone(&POLICY),
            catalogue: proxy::catalogue().unwrap(),
            clock: Arc::new(SystemClock),
        }));
        let dialer = Dialer::with_resolver(Arc::new(Names), &egress::Limits::default())
            .dangerously_open_these_loopback_ports_for_tests(open);
        let ports = open.iter().chain(ports).copied().collect();
        let rules = Rules { ports: Some(ports), ..Rules::default() };
        let browsers = Browsers::new(Setup {
            monitor: Arc::clone(&monitor),
            journal: Arc::clone(&journal),
            home: home.path().to_owned(),
            program: Program::find(None).unwrap(),
            limits,
            dialer: Arc::new(dialer),
            admits: Box::new(Everybody(rules)),
            dangerously_trusted_for_tests: authorities,
        });
        let who = open_session(&monitor, "me", "s1");
        Self { browsers: Some(browsers.unwrap()), monitor, journal, home, who }
    }

    /// Sends a message of `who`; a person says yes to what is asked.
    pub(crate) fn send(&self, who: &Caller, message: &Value) -> Delivered {
        let bytes = message.to_string().into_bytes();
        let hands = Hands(self.browsers.as_ref().unwrap());
        for _ in 0..3 {
            match self.monitor.run(who, &Asked::Message(&bytes), &hands) {
                Ok(delivered) => return delivered,
                Err(Refusal::Stopped(verdict)) => {
                    self.monitor.confirm_call(who, verdict.effect, verdict.action).unwrap();
                }
                Err(refusal) => panic!("{message}: {refusal}"),
            }
        }
        panic!("{message} is stopped whatever a person says");
    }

    /// Sends a message that must work, and gives its answer.
    pub(crate) fn act(&self, message: &Value) -> Value {
        let delivered = self.send(&self.who, message);
        assert_eq!(delivered.output.status, Status::Done, "{message}: {}", delivered.output.body);
        serde_json::from_str(&delivered.output.body).unwrap()
    }

    /// Sends a message that must not work, and gives the reason.
    pub(crate) fn fails(&self, message: &Value) -> (Status, String) {
        let output = self.send(&self.who, message).output;
        assert_ne!(output.status, Status::Done, "{message}: {}", output.body);
        (output.status, output.body)
    }

    /// Is a message refused, by the gate or by what carries it out? A person would say yes.
    pub(crate) fn is_stopped(&self, message: &Value) -> bool {
        let bytes = message.to_string().into_bytes();
        let hands = Hands(self.browsers.as_ref().unwrap());
        for _ in 0..3 {
            match self.monitor.run(&self.who, &Asked::Message(&bytes), &hands) {
                Ok(delivered) => return delivered.output.status != Status::Done,
                Err(Refusal::Stopped(verdict)) => {
                    let _ = self.monitor.confirm_call(&self.who, verdict.effect, verdict.action);
                }
                Err(_) => return true,
            }
        }
        true
    }

    /// A flag of the one browser, as everybody on the machine can see it.
    pub(crate) fn flag(&self, name: &str) -> String {
        let id = self.browsers.as_ref().unwrap().process_ids(&self.who)[0];
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap();
        let line = String::from_utf8(line).unwrap();
        let mut flags = line.split(['\0', ' ']).filter_map(|it| it.split_once('='));
        flags.find(|it| it.0 == name).unwrap().1.to_owned()
    }

    pub(crate) fn launch(&self) -> String {
        let launched = self.act(&json!({ "action": "browser_launch" }));
        launched["session"].as_str().unwrap().to_owned()
    }

    pub(crate) fn go(&self, session: &str, url: &str) -> Value {
        self.act(&json!({ "action": "browser_navigate", "session": session, "url": url }))
    }

    /// The page as text.
    pub(crate) fn look(&self, session: &str) -> String {
        let seen = self.act(&json!({ "action": "browser_snapshot", "session": session }));
        seen["content"].as_str().unwrap().to_owned()
    }

    pub(crate) fn click(&self, session: &str, number: u64) -> Value {
        self.act(&json!({ "action": "browser_click", "session": session, "ref": number }))
    }

    pub(crate) fn type_text(&self, session: &str, number: u64, text: &str) -> Value {
        self.act(&json!({
            "action": "browser_type", "session": session, "ref": number, "text": text,
        }))
    }

    /// All records, oldest first.
    pub(crate) fn records(&self) -> Vec<Value> {
        let _ = self.journal.checkpoint();
        let reader = Reader::open(&self.home.path().join("evidence")).unwrap();
        let mut found = Vec::new();
        let see = |entry: evidence::Entry<'_>| {
            found.push(serde_json::from_slice(entry.record).unwrap());
            ControlFlow::<()>::Continue(())
        };
        reader.read(reader.start().unwrap(), see).unwrap();
        found
    }

    /// What the egress records say.
    pub(crate) fn events(&self) -> Vec<Value> {
        let all = self.records().into_iter().filter(|it| it["meta"]["kind"] == "egress");
        all.map(|it| it["payload"]["inline"].clone()).collect()
    }
}

pub(crate) fn open_session(monitor: &Monitor, user: &str, session: &str) -> Caller {
    let who = Caller {
        session: SessionId::parse(session).unwrap(),
        user: UserId::parse(user).unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::parse("ipc").unwrap(),
    };
    let opening = Opening::of_one_person(who.clone());
    monitor.open_session(opening).unwrap();
    who
}

/// What a server says at a path: its fields and its body.
pub(crate) type Pages = HashMap<String, (String, String)>;

/// A server that remembers the requests that reached it, and answers all paths.
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    datagrams: Arc<AtomicUsize>,
}

impl Server {
    /// That has these pages.
    pub(crate) fn new(pages: Pages) -> Self {
        Self::start(pages, None)
    }

    /// The same over TLS, if there is a certificate.
    pub(crate) fn start(pages: Pages, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (remember, pages) = (Arc::clone(&seen), Arc::new(pages));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (remember, pages) = (Arc::clone(&remember), Arc::clone(&pages));
                let tls = tls.clone();
                std::thread::spawn(move || {
                    let stream = stream.unwrap();
                    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                    match tls {
                        None => answer(stream, &pages, &remember),
                        Some(tls) => {
                            let connection = rustls::ServerConnection::new(tls).unwrap();
                            let stream = rustls::StreamOwned::new(connection, stream);
                            answer(stream, &pages, &remember);
                        }
                    }
                });
            }
        });
        Self { port, seen, datagrams: datagrams(port) }
    }

    /// That has this one page, at `/`.
    pub(crate) fn of(body: &str) -> Self {
        Self::new(HashMap::from([html("/", body)]))
    }

    /// Where a page of it is.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://page.example:{}{path}", self.port)
    }

    /// The requests that reached it.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// Did anything at all reach it?
    pub(crate) fn is_reached(&self) -> bool {
        !self.seen.lock().unwrap().is_empty() || self.datagrams.load(Ordering::SeqCst) > 0
    }
}

/// Counts datagrams at the same port.
#[expect(clippy::disallowed_methods, reason = "a listener of the test's own, on loopback")]
fn datagrams(port: u16) -> Arc<AtomicUsize> {
    let count: Arc<AtomicUsize> = Arc::default();
    // The port may be taken by somebody else's datagrams.
    let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) else { return count };
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        let mut buffer = [0; 2048];
        while socket.recv(&mut buffer).is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    count
}

/// Answers one request. One that is no request is remembered, too, unless there was nothing at all to be read.
fn answer(mut stream: impl Read + Write, pages: &Pages, remember: &Mutex<Vec<String>>) {
    let Some(request) = head(&mut stream) else { return };
    remember.lock().unwrap().push(request.clone());
    let path = request.split(' ').nth(1).unwrap_or_default();
    let empty = ("content-type: text/plain\r\n".to_owned(), String::new());
    let (fields, body) = pages.get(path).unwrap_or(&empty);
    let status = if fields.contains("location:") { "302 Found" } else { "200 OK" };
    let status = if fields.contains("proxy-auth") { "407 No" } else { status };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\naccess-control-allow-origin: *\r\n{fields}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    let _ = stream.write_all(answer.as_bytes()).and_then(|()| stream.flush());
}

/// The head of a request, and its body if its length is told; none if the other side did not agree on TLS.
fn head(stream: &mut impl Read) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut text = String::new();
    let mut length = 0;
    loop {
        let mut line = Vec::new();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return None,
            Err(_) => break,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        if let Some(found) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = found.trim().parse().unwrap_or(0);
        }
        text.push_str(&line);
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    Some(text + &String::from_utf8_lossy(&body))
}

/// A page at a path.
pub(crate) fn html(path: &str, body: &str) -> (String, (String, String)) {
    (path.to_owned(), ("content-type: text/html; charset=utf-8\r\n".to_owned(), body.to_owned()))
}

/// The number of the element whose line holds `words`.
pub(crate) fn number(snapshot: &str, words: &str) -> u64 {
    let line = snapshot.lines().find(|it| it.contains(words) && it.contains("[ref=e"));
    let line = line.unwrap_or_else(|| panic!("no `{words}` in\n{snapshot}"));
    let (_, rest) = line.split_once("[ref=e").unwrap();
    rest.split_once(']').unwrap().0.parse().unwrap()
}

/// Waits for something that happens soon.
pub(crate) fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it did not happen: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
