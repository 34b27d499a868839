//! What the tests share: a gate on a temporary directory, a proxy before it, and programs that speak bytes.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use aegx::Principal;
use data_encoding::BASE64;
use egress::{Dialer, Limits, Looking, Resolve, Rules};
use evidence::{Config, Disk, Durability, Journal, Reader, RealDisk, SystemClock};
use gateway::proxy::{self, Access, Account, Accounts, Bounds, Command, Outside, Proxy, Token};
use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::{Admission, Approver, Monitor, Opening, Setup};
use policy::Policy;
use policy::access::{self, Global, Manifest, User};
use serde_json::Value;
use store::SqliteStore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::origin::{LOOPBACK, Origin};

/// Reading the rules takes longer than most tests.
static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| Arc::new(Policy::embedded().unwrap()));
/// The tokens of the accounts `main` and `other`.
static TOKENS: LazyLock<[Token; 2]> = LazyLock::new(|| [(); 2].map(|()| Token::random().unwrap()));
/// A test that waits longer hangs.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// Resolves by a table. Each name has answers, the last of which is repeated.
#[derive(Default)]
pub(crate) struct Table {
    names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub(crate) lookups: AtomicUsize,
    /// Lookups of `silent-….example` that are under way: they end when `answers` says so.
    pub(crate) silent: AtomicUsize,
    pub(crate) answers: Notify,
}

impl Resolve for Table {
    fn resolve<'a>(&'a self, name: &'a str) -> Looking<'a> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        if name.starts_with("silent-") {
            self.silent.fetch_add(1, Ordering::SeqCst);
            return Box::pin(async {
                self.answers.notified().await;
                self.silent.fetch_sub(1, Ordering::SeqCst);
                Err(io::Error::other("no such name in this test"))
            });
        }
        let mut names = self.names.lock().unwrap();
        let answer = match names.get_mut(name) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers[0].clone()),
            None => Err(io::Error::other("no such name in this test")),
        };
        Box::pin(async move { answer })
    }
}

/// What is special about a test.
pub(crate) struct Setting {
    pub(crate) rules: Rules,
    pub(crate) names: Vec<(&'static str, Vec<Vec<&'static str>>)>,
    pub(crate) bounds: Bounds,
    pub(crate) limits: Limits,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) durability: Durability,
    /// The account `main` is that of this command.
    pub(crate) command: Option<Arc<Command>>,
    /// The operator's settings, if there are some.
    pub(crate) settings: Option<Global>,
    open: Vec<u16>,
}

impl Setting {
    /// `origin.example` leads to these servers, whose ports are open.
    pub(crate) fn to(origins: &[&Origin]) -> Self {
        let open: Vec<u16> = origins.iter().map(|it| it.port).collect();
        Self {
            rules: Rules { ports: Some(open.clone()), ..Rules::default() },
            names: vec![("origin.example", vec![vec!["127.0.0.1"]])],
            bounds: Bounds::default(),
            limits: Limits::default(),
            disk: Arc::new(RealDisk),
            durability: Durability::DangerouslyUnsynced,
            command: None,
            settings: None,
            open,
        }
    }

    /// A server that the test has started in another way.
    pub(crate) fn open_also(&mut self, port: u16) {
        self.open.push(port);
        self.rules.ports = Some(self.open.clone());
    }

    /// The operator opens these hosts of the inner network, and no port of this machine is open by itself.
    pub(crate) fn opening(hosts: &[String]) -> Self {
        let text = format!("egress:\n  inner: [{}]\n", hosts.join(", "));
        let settings = Global::parse(&text).unwrap();
        let inner = settings.egress().inner.clone();
        let rules = Rules { inner, ..Rules::default() };
        Self { rules, settings: Some(settings), ..Self::to(&[]) }
    }

    pub(crate) async fn start(self) -> Rig {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::new(dir.path().join("evidence"));
        config.durability = self.durability;
        config.disk = Arc::clone(&self.disk);
        let journal = Arc::new(Journal::open(&config).unwrap().0);
        let store = SqliteStore::open_with(&dir.path().join("store.sqlite"), config.durability);
        let monitor = Arc::new(Monitor::new(Setup {
            journal: Arc::clone(&journal),
            state: Arc::new(store.unwrap()),
            policy: Arc::clone(&POLICY),
            catalogue: proxy::catalogue().unwrap(),
            clock: Arc::new(SystemClock),
        }));
        let table = Arc::new(Table::default());
        for (name, answers) in &self.names {
            let read = |it: &Vec<&str>| it.iter().map(|it| it.parse().unwrap()).collect();
            let answers = answers.iter().map(read).collect();
            table.names.lock().unwrap().insert((*name).to_owned(), answers);
        }
        let resolver = Arc::clone(&table) as Arc<dyn Resolve>;
        let dialer = Dialer::with_resolver(resolver, &self.limits)
            .dangerously_open_these_loopback_ports_for_tests(&self.open)
            .dangerously_opening(self.rules.inner.clone());
        let mut accounts = Accounts::default();
        for (number, agent) in ["main", "other"].iter().enumerate() {
            let who = open(&monitor, agent, self.settings.as_ref());
            let mut account = Account::new(who, self.rules.clone(), &TOKENS[number]);
            if let Some(command) = self.command.as_ref().filter(|_| *agent == "main") {
                account = account.of_command(Arc::clone(command));
            }
            accounts.add(account);
        }
        accounts.believe(Arc::new(Given));
        let (dialer, limits) = (Arc::new(dialer), self.limits);
        let outside = Outside { monitor, journal: Arc::clone(&journal), dialer, limits };
        let proxy = Proxy::new(outside, accounts, self.bounds);
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(proxy.serve(listener));
        Rig { dir, journal, table, port }
    }
}

fn open(monitor: &Monitor, agent: &str, settings: Option<&Global>) -> Caller {
    let who = Caller {
        session: SessionId::parse(&format!("proxy-{agent}")).unwrap(),
        user: UserId::parse("me").unwrap(),
        agent: AgentId::parse(agent).unwrap(),
        door: Kind::parse("proxy").unwrap(),
    };
    let admission = settings.map_or(Admission::OnePerson, |it| Admission::Layered {
        global: Arc::new(it.clone()),
        manifest: Arc::new(Manifest::silent(&who.agent)),
        user: Arc::new(User::local(who.user.clone())),
        origin: access::Origin::Local,
        sub_agents: Vec::new(),
    });
    let opening = Opening {
        who: who.clone(),
        principal: Principal::User,
        profile: Profile::Standard,
        parent: None,
        admission,
        approver: Approver::Absent,
        tools: proxy::tools().unwrap(),
    };
    monitor.open_session(opening).unwrap();
    who
}

/// A token that was given out for `main`.
pub(crate) const GIVEN: &str = "given-to-main";
/// Another.
pub(crate) const GIVEN_TOO: &str = "given-to-main-too";
/// Their names.
pub(crate) const NAMES: [&str; 2] = ["a1b2c3d4e5f6", "0123456789ab"];

struct Given;

impl Access for Given {
    fn name_of(&self, token: &str, who: &Caller) -> Option<String> {
        let known = [GIVEN, GIVEN_TOO].iter().position(|it| *it == token);
        let name = known.and_then(|it| NAMES.get(it)).filter(|_| who.agent.as_str() == "main");
        name.map(|it| (*it).to_owned())
    }
}

/// A proxy that has been started.
pub(crate) struct Rig {
    dir: tempfile::TempDir,
    journal: Arc<Journal>,
    pub(crate) table: Arc<Table>,
    pub(crate) port: u16,
}

impl Rig {
    /// As it is written into `HTTPS_PROXY`.
    pub(crate) fn url(&self) -> String {
        format!("http://main:{}@127.0.0.1:{}", secret(), self.port)
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect((LOOPBACK, self.port)).await.unwrap()
    }

    /// Sends bytes as they are and reads until the proxy closes.
    pub(crate) async fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.unwrap();
        rest(&mut stream).await
    }

    /// One request with right credentials, and the answer.
    pub(crate) async fn ask(&self, line: &str, fields: &str) -> String {
        self.raw(request(line, fields)).await
    }

    /// A tunnel that is open.
    pub(crate) async fn tunnel(&self, to: &str) -> TcpStream {
        self.tunnel_with(to, &credentials()).await
    }

    /// The same with these credentials.
    pub(crate) async fn tunnel_with(&self, to: &str, credentials: &str) -> TcpStream {
        let mut stream = self.connect().await;
        let asked = format!("CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n{credentials}\r\n");
        stream.write_all(asked.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let byte = timeout(LONG, stream.read_u8()).await.unwrap();
            head.push(byte.unwrap_or_else(|it| panic!("{it}: {}", String::from_utf8_lossy(&head))));
        }
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        stream
    }

    /// What the egress records say, oldest first, once there are as many.
    pub(crate) async fn events(&self, count: usize) -> Vec<Value> {
        let wanted = |it: &Vec<Value>| it.len() >= count;
        let mut found = Vec::new();
        until(|| {
            found =
                self.records().into_iter().filter(|it| it["meta"]["kind"] == "egress").collect();
            wanted(&found)
        })
        .await;
        found.iter().map(content).collect()
    }

    /// All records, oldest first.
    pub(crate) fn records(&self) -> Vec<Value> {
        let _ = self.journal.checkpoint();
        let reader = Reader::open(&self.dir.path().join("evidence")).unwrap();
        let mut found = Vec::new();
        let see = |entry: evidence::Entry<'_>| {
            found.push(serde_json::from_slice(entry.record).unwrap());
            ControlFlow::<()>::Continue(())
        };
        reader.read(reader.start().unwrap(), see).unwrap();
        found
    }

    /// Every byte of every file that the gate keeps.
    pub(crate) fn kept(&self) -> Vec<u8> {
        let _ = self.journal.checkpoint();
        let mut all = Vec::new();
        for file in files(self.dir.path()) {
            all.extend(std::fs::read(file).unwrap());
        }
        all
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// What a record says.
pub(crate) fn content(record: &Value) -> Value {
    record["payload"]["inline"].clone()
}

/// The token of the account `main`.
pub(crate) fn secret() -> String {
    TOKENS[0].shown_once().to_owned()
}

/// The field with the right ones of the account `other`.
pub(crate) fn credentials_of_other() -> String {
    basic(&format!("other:{}", TOKENS[1].shown_once()))
}

/// A field with credentials.
pub(crate) fn basic(plain: &str) -> String {
    format!("proxy-authorization: Basic {}\r\n", BASE64.encode(plain.as_bytes()))
}

/// The field with the right ones.
pub(crate) fn credentials() -> String {
    basic(&format!("main:{}", secret()))
}

/// A request with right credentials. `fields` end with a line break.
pub(crate) fn request(line: &str, fields: &str) -> String {
    format!("{line} HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n{}{fields}\r\n", credentials())
}

pub(crate) async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = timeout(LONG, stream.read_to_end(&mut answer)).await;
    read.unwrap().unwrap_or_default();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Waits for something that happens soon.
pub(crate) async fn until(mut happened: impl FnMut() -> bool) {
    for _ in 0..400 {
        if happened() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("it did not happen");
}

/// The rule by which an answer refuses, as all three tell it.
pub(crate) fn refused(answer: &str, status: u16) -> String {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let field = |name: &str| {
        let line = head.lines().find(|it| it.starts_with(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no {name} in {head}")).split_once(": ").unwrap().1.to_owned()
    };
    let body: Value = serde_json::from_str(body).unwrap();
    let rule = field("x-lazaret-refusal");
    assert_eq!(body["rule"], rule.as_str(), "{answer}");
    assert_eq!(body["decision"], "deny", "{answer}");
    assert!(!body["reason"].as_str().unwrap().is_empty(), "{answer}");
    assert!(field("proxy-status").starts_with("lazaret; error="), "{answer}");
    assert_eq!(field("content-type"), "application/json");
    rule
}
