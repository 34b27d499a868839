//! A service that knows one token, and a gate with what calls it.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::thread;

use egress::{Client, Dialer, Limits, Looking, Resolve, Rules, Trust, Web};
use evidence::{Config, Durability, Journal, Reader, SystemClock};
use host::{HostExecutor, Services};
use model::{AgentId, Caller, Kind, Profile, SessionId, Source, UserId};
use monitor::provenance::Catalogue;
use monitor::{Admission, Asked, Delivered, Heard, Monitor, Opening, Refusal, Setup};
use policy::Policy;
use policy::access::{Global, KnownTools, Manifest, Origin, Users};
use serde_json::{Value, json};
use store::{Memory, SqliteStore};
use vault::{Keeper, Key, Name, Scope, Secret, VaultFile};
use zeroize::Zeroizing;

pub(super) const OLD: &str = "old-token-0123456789";
pub(super) const NEW: &str = "new-token-9876543210";
pub(super) const REFRESH: &str = "refresh-token-Zq81LkWm27";
pub(super) const GRANTS: &str =
    "credentials:\n  grants:\n    api:\n      keys: [TOKEN, REFRESH]\n      tools: [web]\n";

/// Answers as a service does that knows one token; everything that it was asked is kept.
pub(super) struct Server {
    pub(super) port: u16,
    pub(super) heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let all = Arc::clone(&all);
                thread::spawn(move || answer(stream, &all, port));
            }
        });
        Self { port, heard }
    }

    pub(super) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    pub(super) fn count(&self, words: &str) -> usize {
        self.heard().iter().filter(|it| it.contains(words)).count()
    }
}

fn answer(mut stream: TcpStream, heard: &Mutex<Vec<String>>, port: u16) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let text = loop {
        let Ok(read @ 1..) = stream.read(&mut buffer) else { return };
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |it| it.parse().unwrap()) {
            break text;
        }
    };
    heard.lock().unwrap().push(text.clone());
    let knows = text.contains(&format!("authorization: Bearer {NEW}"));
    let (status, more, body) = if text.starts_with("POST /token") {
        let body = json!({ "access_token": NEW, "refresh_token": "refresh-token-Vb09sPqHx4" });
        ("200 OK", String::new(), body.to_string())
    } else if text.starts_with("GET /v1/away") {
        let to = format!("Location: http://other.example:{port}/steal\r\n");
        ("302 Found", to, String::new())
    } else if text.starts_with("GET /v1/long") {
        ("200 OK", String::new(), long())
    } else if knows {
        ("200 OK", String::new(), format!("{{\"hello\":\"you sent {NEW} and {OLD}\"}}"))
    } else {
        ("401 Unauthorized", String::new(), "{}".to_owned())
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

/// So long that it is cut in the middle of the token.
fn long() -> String {
    let before = scan::page::TEXT_BYTES_MAX - CUT_AFTER;
    format!("{}{NEW}{}", "x".repeat(before), "y".repeat(100))
}

/// So many bytes of the token stand before the cut.
const CUT_AFTER: usize = 12;

/// Every name leads here.
struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> Looking<'a> {
        Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
    }
}

pub(super) struct World {
    pub(super) dir: tempfile::TempDir,
    pub(super) monitor: Monitor,
    pub(super) journal: Arc<Journal>,
    pub(super) executor: HostExecutor,
    pub(super) who: Caller,
    pub(super) admission: Admission,
}

impl World {
    pub(super) fn new(server: &Server, grants: &str, host: &str, token: &str) -> Self {
        Self::with(server, grants, (host, token), &service(server, "api.example"))
    }

    /// The same by these settings. Only where they open nothing is the server's port open to all names.
    pub(super) fn with(
        server: &Server,
        grants: &str,
        (host, token): (&str, &str),
        settings: &str,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::new(dir.path().join("evidence"));
        config.durability = Durability::DangerouslyUnsynced;
        let journal = Arc::new(Journal::open(&config).unwrap().0);
        let store = SqliteStore::open_with(&dir.path().join("s"), config.durability).unwrap();
        let store = Arc::new(store);
        let keeper = Arc::new(keeper(dir.path(), &journal, host, token));
        let port = server.port;
        let global = Global::parse(settings).unwrap();
        let agent = AgentId::parse("main").unwrap();
        let manifest = Manifest::parse(&agent, &format!("---\n{grants}---\nbody\n")).unwrap();
        let admission = Admission::Layered {
            global: Arc::new(global.clone()),
            manifest: Arc::new(manifest),
            user: Arc::new(user()),
            origin: Origin::Local,
            sub_agents: Vec::new(),
        };
        // Nobody speaks TLS here, and a client wants somebody to believe.
        let trust = Trust::Only(vec![testkit::tls::nobody()]);
        let dialer = Dialer::with_resolver(Arc::new(Here), &Limits::default())
            .dangerously_opening(global.egress().inner.clone());
        let dialer = match global.egress().inner.is_empty() {
            true => dialer.dangerously_open_these_loopback_ports_for_tests(&[port]),
            false => dialer,
        };
        let client = Client::new(Arc::new(dialer), &trust, Limits::default());
        let web = Web::new(client.unwrap(), Arc::clone(&journal), None).unwrap();
        let scope = Scope::of(&admission);
        let rules = Rules { inner: admission.inner(), ..Rules::default() };
        let services = Services::with_web(Some(&global), Arc::clone(&keeper), scope, rules, web);
        let memory = Arc::clone(&store) as Arc<dyn Memory>;
        let executor =
            HostExecutor::new(memory, dir.path().join("evidence"), Arc::new(SystemClock))
                .with_services(services.unwrap());
        let monitor = Monitor::new(Setup {
            journal: Arc::clone(&journal),
            state: store,
            policy: Arc::new(Policy::embedded().unwrap()),
            catalogue: Catalogue::default(),
            clock: Arc::new(SystemClock),
        })
        .with_scrubber(keeper);
        let who = Caller {
            session: SessionId::parse("s").unwrap(),
            user: UserId::parse("ann").unwrap(),
            agent,
            door: Kind::parse("ipc").unwrap(),
        };
        let world = Self { dir, monitor, journal, executor, who, admission };
        world.open_session();
        world
    }

    pub(super) fn open_session(&self) {
        let opening = Opening {
            profile: Profile::Yolo,
            admission: self.admission.clone(),
            ..Opening::of_one_person(self.who.clone())
        };
        self.monitor.open_session(opening).unwrap();
    }

    pub(super) fn call(&self, path: &str, more: Value) -> Result<Delivered, Refusal> {
        let text = format!("Please call the service api with GET at the path {path} for me.");
        let heard = Heard { source: Source::User, origin: "", text: &text };
        self.monitor.hear(&self.who, &heard).unwrap();
        let mut message =
            json!({ "action": "oauth_call", "service": "api", "method": "GET", "path": path });
        for (name, value) in more.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        let message = message.to_string();
        self.monitor.run(&self.who, &Asked::Message(message.as_bytes()), &self.executor)
    }

    pub(super) fn got(&self, path: &str) -> Delivered {
        self.call(path, json!({})).unwrap_or_else(|it| panic!("{path}: {it}"))
    }

    pub(super) fn records(&self, kind: &str) -> Vec<Value> {
        self.journal.checkpoint().unwrap();
        let reader = Reader::open(&self.dir.path().join("evidence")).unwrap();
        let mut found = Vec::new();
        let see = |entry: evidence::Entry<'_>| {
            let record: Value = serde_json::from_slice(entry.record).unwrap();
            if record["meta"]["kind"] == kind {
                found.push(record["payload"]["inline"].clone());
            }
            ControlFlow::<()>::Continue(())
        };
        reader.read(reader.start().unwrap(), see).unwrap();
        found
    }

    pub(super) fn wrote(&self, text: &str) -> bool {
        let mut folders = vec![self.dir.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if std::fs::read(path)
                    .unwrap()
                    .windows(text.len())
                    .any(|it| it == text.as_bytes())
                {
                    return true;
                }
            }
        }
        false
    }
}

fn keeper(home: &std::path::Path, journal: &Arc<Journal>, host: &str, token: &str) -> Keeper {
    let (file, key) = (VaultFile::in_home(home), Key::generate());
    file.create(&key).unwrap();
    let set = [("TOKEN", token), ("REFRESH", REFRESH), ("UNUSED", "another-secret-value-Zq81")];
    file.change(&key, |it| {
        set.iter().try_for_each(|(name, value)| {
            let secret = Secret::new(Zeroizing::new((*value).to_owned())).unwrap();
            it.set(&Name::parse(name).unwrap(), secret, Some(vec![host.to_owned()]), 1).map(drop)
        })
    })
    .unwrap();
    let source = vault::Source::Vault { file, key };
    Keeper::open(source, Arc::clone(journal), Arc::new(SystemClock)).unwrap()
}

fn user() -> policy::access::User {
    let text = format!(
        "users:\n  - token_hash: {}\n    name: ann\n    budget: unlimited\n    agents: '*'\n",
        "ab".repeat(32)
    );
    Users::parse(&text, &KnownTools::default()).unwrap().get("ann").unwrap().clone()
}

/// The settings of a service at this name.
pub(super) fn service(server: &Server, name: &str) -> String {
    let port = server.port;
    format!(
        "services:\n  api:\n    url: http://{name}:{port}/v1\n    token: TOKEN\n    refresh:\n      url: http://{name}:{port}/token\n      token: REFRESH\n      clientId: me\n"
    )
}
