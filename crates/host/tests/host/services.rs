//! Services that are called in the user's name: a real vault, a real gate, a real server on this machine.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::thread;

use egress::{Client, Dialer, Limits, Looking, Resolve, Rules, Trust, Web};
use evidence::{Config, Durability, Journal, Reader, SystemClock};
use host::{HostExecutor, Services};
use model::ipc::ActionName;
use model::{AgentId, Caller, Kind, Profile, SessionId, Source, UserId};
use monitor::provenance::Catalogue;
use monitor::{Admission, Asked, Delivered, Heard, Monitor, Opening, Refusal, Setup, Status};
use policy::Policy;
use policy::access::{Global, KnownTools, Manifest, Origin, Users};
use serde_json::{Value, json};
use store::{Memory, SqliteStore};
use vault::{Keeper, Key, Name, Scope, Secret, VaultFile};
use zeroize::Zeroizing;

const OLD: &str = "old-token-0123456789";
const NEW: &str = "new-token-9876543210";
const REFRESH: &str = "refresh-token-Zq81LkWm27";
const GRANTS: &str =
    "credentials:\n  grants:\n    api:\n      keys: [TOKEN, REFRESH]\n      tools: [web]\n";

/// Answers as a service does that knows one token; everything that it was asked is kept.
struct Server {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
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

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    fn count(&self, words: &str) -> usize {
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

struct World {
    dir: tempfile::TempDir,
    monitor: Monitor,
    journal: Arc<Journal>,
    executor: HostExecutor,
    who: Caller,
    admission: Admission,
}

impl World {
    fn new(server: &Server, grants: &str, host: &str, token: &str) -> Self {
        Self::with(server, grants, (host, token), &service(server, "api.example"))
    }

    /// The same by these settings. Only where they open nothing is the server's port open to all names.
    fn with(server: &Server, grants: &str, (host, token): (&str, &str), settings: &str) -> Self {
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

    fn open_session(&self) {
        let opening = Opening {
            profile: Profile::Yolo,
            admission: self.admission.clone(),
            ..Opening::of_one_person(self.who.clone())
        };
        self.monitor.open_session(opening).unwrap();
    }

    fn call(&self, path: &str, more: Value) -> Result<Delivered, Refusal> {
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

    fn got(&self, path: &str) -> Delivered {
        self.call(path, json!({})).unwrap_or_else(|it| panic!("{path}: {it}"))
    }

    fn records(&self, kind: &str) -> Vec<Value> {
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

    fn wrote(&self, text: &str) -> bool {
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
fn service(server: &Server, name: &str) -> String {
    let port = server.port;
    format!(
        "services:\n  api:\n    url: http://{name}:{port}/v1\n    token: TOKEN\n    refresh:\n      url: http://{name}:{port}/token\n      token: REFRESH\n      clientId: me\n"
    )
}

#[test]
fn a_service_inside_is_called_and_its_token_renewed_where_the_operator_opened_it() {
    let server = Server::start();
    let inner = format!(
        "egress:\n  inner:\n    - {{host: api.corp, port: {}, addresses: [127.0.0.1]}}\n",
        server.port
    );
    let settings = format!("{inner}{}", service(&server, "api.corp"));
    let host = format!("http://api.corp:{}", server.port);
    let world = World::with(&server, GRANTS, (&host, OLD), &settings);
    assert_eq!(world.got("/me").output.status, Status::Done);
    assert_eq!((server.count("POST /token"), server.count("GET /v1/me")), (1, 2));
    let hops = world.records("egress");
    assert!(hops.len() >= 3 && hops.iter().all(|it| it["opened_by"] == "operator"), "{hops:?}");
    // Without the operator's word there is no such service.
    assert!(Global::parse(&service(&server, "api.corp")).is_err());
}

fn bound(server: &Server) -> String {
    format!("http://api.example:{}", server.port)
}

#[test]
fn a_token_is_put_in_refreshed_once_and_comes_back_to_nobody() {
    let server = Server::start();
    let mut world = World::new(&server, GRANTS, &bound(&server), OLD);
    // It is offered where there is a service whose token may be given.
    let none = World::new(&server, "credentials:\n  grants: {}\n", &bound(&server), OLD);
    assert!(world.executor.carries_out(ActionName::OauthCall));
    assert!(!none.executor.carries_out(ActionName::OauthCall));
    let got = world.got("/me");
    assert_eq!(got.output.status, Status::Done, "{}", got.output.body);
    assert!(
        got.output.body.contains("you sent [secret:TOKEN] and [secret:TOKEN]"),
        "{}",
        got.output.body
    );
    assert_eq!(server.count("POST /token"), 1);
    let form = server.heard().into_iter().find(|it| it.starts_with("POST /token")).unwrap();
    assert!(
        form.contains(
            "grant_type=refresh_token&refresh_token=refresh-token-Zq81LkWm27&client_id=me"
        )
    );
    // The next call has the new token at once.
    world.who.session = SessionId::parse("next").unwrap();
    world.open_session();
    world.got("/me");
    assert_eq!((server.count("POST /token"), server.count("GET /v1/me")), (1, 3));
    for value in [OLD, NEW, REFRESH, "refresh-token-Vb09sPqHx4"] {
        assert!(!world.wrote(value), "{value}");
    }
    let used = world.records("credential");
    assert!(
        used.iter().all(|it| it["grants"] == json!(["api"]) && it["mode"] == "strict"),
        "{used:?}"
    );
    assert!(
        used.iter().any(|it| it["keys"] == json!(["REFRESH"]) && it["purpose"] == "oauth_refresh")
    );
}

#[test]
fn of_a_token_at_the_cut_end_of_an_answer_nothing_is_left() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    let got = world.got("/long").output.body;
    assert!(got.contains(r#""truncated":true"#) && got.contains("xxxx[secret:TO"), "{}", got.len());
    let head = NEW.get(..4).unwrap();
    assert!(!got.contains(head), "{:?}", got.find(head));
}

#[test]
fn whoever_writes_a_record_there_is_no_secret_in_it_and_new_tokens_are_on_record() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), OLD);
    world.got("/me");
    let stored = world.records("vault_set");
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0]["names"], json!(["TOKEN", "REFRESH"]));
    let content = json!({ "path": format!("/bot{NEW}/send"), OLD: [REFRESH] });
    let kind = Kind::parse("egress").unwrap();
    let record = evidence::NewRecord::of_host(aegx::RecordType::ToolCall, kind, content);
    world.journal.append(record).unwrap();
    assert!(world.wrote("/bot[secret:TOKEN]/send"));
    for value in [OLD, NEW, REFRESH] {
        assert!(!world.wrote(value), "{value}");
    }
}

#[test]
fn what_is_remembered_of_a_call_that_holds_a_secret_does_not_hold_it() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    // To the host that it is for it may go; here nobody is asked, because there is no web.
    let url = format!("{}/bot{NEW}/send", bound(&server));
    let text = format!("Please fetch {url} for me.");
    let heard = Heard { source: Source::User, origin: "", text: &text };
    world.monitor.hear(&world.who, &heard).unwrap();
    let message = json!({ "action": "web_fetch", "url": url }).to_string();
    let asked = Asked::Message(message.as_bytes());
    let _ = world.monitor.run(&world.who, &asked, &world.executor);
    assert_eq!(world.records("web_fetch").len(), 2);
    assert!(!world.wrote(NEW));
}

#[test]
fn many_calls_at_once_refresh_once() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), OLD);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(world.got("/me").output.status, Status::Done));
        }
    });
    assert_eq!(server.count("POST /token"), 1);
}

#[test]
fn a_redirect_takes_no_token_along() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    let got = world.got("/away");
    assert!(got.output.status == Status::Failed && got.output.body.contains("redirect"));
    assert_eq!(server.count("/steal"), 0);
}

#[test]
fn a_secret_for_another_host_is_not_sent_and_that_is_an_incident() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, "elsewhere.example", NEW);
    let got = world.got("/me");
    assert_eq!(got.output.status, Status::NotBegun, "{}", got.output.body);
    assert!(got.output.body.contains("is not for `api.example`"), "{}", got.output.body);
    assert!(server.heard().is_empty());
    let incidents = world.records("incident");
    assert_eq!(incidents[0]["incident"], "secret_elsewhere");
    assert_eq!(incidents[0]["keys"], json!(["TOKEN"]));
}

#[test]
fn what_leads_outside_or_says_who_asks_is_not_sent() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    for path in ["/../admin", "//evil.example/x", "/%2e%2e/token", "/..%5cx", "/a#b"] {
        let got = world.got(path);
        assert_eq!(got.output.status, Status::NotBegun, "{path}: {}", got.output.body);
    }
    // A part of an answer could end or begin in the middle of a token.
    for name in [
        "Authorization",
        "Cookie",
        "X-Api-Key",
        "Host",
        "X-Forwarded-For",
        "Range",
        "range",
        "If-Range",
    ] {
        let headers = json!({ "headers": { name: "x" } });
        let got = world.call("/me", headers).unwrap();
        assert_eq!(got.output.status, Status::NotBegun, "{name}: {}", got.output.body);
    }
    let unknown = world.call("/me", json!({ "service": "other" })).unwrap();
    assert_eq!(unknown.output.status, Status::NotBegun);
    assert!(server.heard().is_empty());
}

#[test]
fn grants_decide_at_the_gate() {
    let server = Server::start();
    let none = "credentials:\n  grants: {}\n";
    let world = World::new(&server, none, &bound(&server), NEW);
    let refusal = world.call("/me", json!({})).unwrap_err();
    assert_eq!((refusal.rule(), refusal.decision().as_str()), ("credential-scope", "deny"));

    let other = GRANTS.replace("[web]", "[shell]");
    let world = World::new(&server, &other, &bound(&server), NEW);
    assert_eq!(world.call("/me", json!({})).unwrap_err().rule(), "credential-scope");

    let asked = GRANTS.replace("tools: [web]", "tools: [web]\n      approval: required");
    let world = World::new(&server, &asked, &bound(&server), NEW);
    let Err(Refusal::Stopped(verdict)) = world.call("/me", json!({})) else { panic!() };
    assert_eq!(verdict.decision.as_str(), "step_up");
    assert!(verdict.objections.iter().any(|it| it.code == "approval_required"));
    world.monitor.confirm_call(&world.who, verdict.effect, verdict.action).unwrap();
    let got = world.got("/me");
    assert_eq!(got.output.status, Status::Done, "{}", got.output.body);
    // Once.
    assert!(world.call("/me", json!({})).is_err());

    // The old kind: everything is given at this machine.
    let world = World::new(&server, "name: x\n", &bound(&server), NEW);
    assert_eq!(world.got("/me").output.status, Status::Done);
    assert_eq!(world.records("credential")[0]["mode"], "legacy");
}

#[test]
fn a_value_in_a_call_is_stopped_hidden_and_an_incident() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    let coded = data_encoding::BASE64.encode(format!("x{NEW}").as_bytes());
    for body in [NEW.to_owned(), coded] {
        let refusal =
            world.call("/me", json!({ "body": format!("give {body} away") })).unwrap_err();
        assert_eq!((refusal.rule(), refusal.decision().as_str()), ("secret-elsewhere", "deny"));
    }
    assert_eq!(world.records("incident").len(), 2);
    assert_eq!(world.records("incident")[0]["secrets"], json!(["TOKEN"]));
    assert!(server.heard().is_empty() && !world.wrote(NEW));
}

/// The cases of the guards that need somebody who keeps secrets.
#[test]
fn every_case_of_the_guards() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/guards");
    let mut decisions = Vec::new();
    for guard in ["credential-scope", "secret-elsewhere"] {
        let files = std::fs::read_dir(format!("{corpus}/{guard}")).unwrap();
        for file in files.map(|it| it.unwrap().path()) {
            let case: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let server = Server::start();
            let grants = case["manifest"].as_str().unwrap();
            let world = World::new(&server, grants, &bound(&server), NEW);
            let message = &case["message"];
            let path = message["path"].as_str().unwrap_or("/me");
            let result = if message["action"] == "oauth_call" {
                world.call(path, message.clone())
            } else {
                let message = message.to_string();
                world.monitor.run(&world.who, &Asked::Message(message.as_bytes()), &world.executor)
            };
            let (decision, rules) = match &result {
                Ok(_) => ("allow", Vec::new()),
                Err(Refusal::Stopped(it)) => (
                    it.decision.as_str(),
                    it.objections.iter().map(|it| it.rule.to_string()).collect(),
                ),
                Err(other) => panic!("{}: {other}", file.display()),
            };
            assert_eq!(decision, case["decision"], "{}: {rules:?}", file.display());
            let rule = case["rule"].as_str();
            assert!(
                rule.is_none_or(|it| rules.iter().any(|found| found == it)),
                "{}",
                file.display()
            );
            decisions.push(decision);
        }
    }
    assert!(
        decisions.contains(&"allow") && decisions.contains(&"step_up") && decisions.len() == 18
    );
}
