//! A gate with a way to the web, in a directory of its own.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use aegx::Principal;
use egress::{Client, Dialer, Engine, Limits, Looking, Resolve, Rules, Trust, Web};
use evidence::{Config, Durability, Journal, Reader, SystemClock};
use model::{AgentId, Caller, Effect, Kind, Profile, SessionId, Source, UserId};
use monitor::provenance::Catalogue;
use monitor::{
    Admission, Approver, Asked, Delivered, Executor, Granted, Heard, Monitor, Opening, Output,
    Permit, Refusal, Setup, Status,
};
use policy::Policy;
use policy::access::{Global, Manifest, Origin, User};
use serde_json::{Value, json};
use store::SqliteStore;

/// Reading the rules takes longer than most tests.
static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| Arc::new(Policy::embedded().unwrap()));

pub(crate) const LOOPBACK: &str = "127.0.0.1";

/// A resolver with a table: the n-th lookup of a name gives its n-th row, the last one again and again.
#[derive(Default)]
pub(crate) struct Names {
    table: HashMap<String, Vec<Vec<IpAddr>>>,
    pub(crate) lookups: Mutex<Vec<String>>,
}

impl Names {
    /// All of these lead to this machine.
    pub(crate) fn here(names: &[&str]) -> Self {
        names.iter().fold(Self::default(), |all, it| all.with(it, &[&[LOOPBACK]]))
    }

    pub(crate) fn with(mut self, name: &str, rows: &[&[&str]]) -> Self {
        let rows = rows.iter().map(|row| row.iter().map(|it| it.parse().unwrap()).collect());
        self.table.insert(name.to_owned(), rows.collect());
        self
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Looking<'a> {
        let mut lookups = self.lookups.lock().unwrap();
        let before = lookups.iter().filter(|it| *it == name).count();
        lookups.push(name.to_owned());
        let found = self.table.get(name).and_then(|it| it.get(before).or(it.last())).cloned();
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

/// How a world is made.
pub(crate) struct Plan {
    pub(crate) names: Names,
    /// Who is asked for names, if not the table.
    pub(crate) dns: Option<Arc<dyn Resolve>>,
    pub(crate) ports: Vec<u16>,
    pub(crate) limits: Limits,
    pub(crate) rules: Rules,
    pub(crate) trust: Trust,
    pub(crate) engine: Option<Engine>,
    /// The engine is on this machine by the operator's word.
    pub(crate) engine_is_here: bool,
    /// Where hops are recorded, if not where everything is.
    pub(crate) hops: Option<Arc<Journal>>,
    /// The operator's settings, if there are some.
    pub(crate) settings: Option<Global>,
}

impl Plan {
    pub(crate) fn new(names: Names, ports: &[u16]) -> Self {
        Self {
            names,
            dns: None,
            ports: ports.to_vec(),
            limits: patient(),
            rules: Rules::default(),
            trust: Trust::Only(vec![crate::tls::AUTHORITY.der()]),
            engine: None,
            engine_is_here: false,
            hops: None,
            settings: None,
        }
    }

    pub(crate) fn open(self) -> World {
        World::new(self)
    }

    /// The operator opens these hosts of the inner network; each is `{host: …, port: …, addresses: […]}`.
    pub(crate) fn opening(mut self, hosts: &[String]) -> Self {
        let text = format!("egress:\n  inner: [{}]\n", hosts.join(", "));
        let settings = Global::parse(&text).unwrap();
        self.rules.inner = settings.egress().inner.clone();
        self.settings = Some(settings);
        self
    }
}

/// Limits that nothing honest meets, on however slow a machine; names are looked up each time.
pub(crate) fn patient() -> Limits {
    let long = Duration::from_secs(25);
    Limits {
        lookup: long,
        connect: long,
        head: long,
        idle: long,
        name_kept: Duration::ZERO,
        ..Limits::default()
    }
}

pub(crate) struct World {
    dir: tempfile::TempDir,
    pub(crate) monitor: Monitor,
    pub(crate) journal: Arc<Journal>,
    pub(crate) names: Arc<Names>,
    hands: Hands,
    sessions: AtomicUsize,
    admission: Admission,
}

/// What came of one call.
pub(crate) struct Got {
    pub(crate) who: Caller,
    pub(crate) delivered: Delivered,
    /// Its hops, as they were recorded.
    pub(crate) events: Vec<Value>,
}

impl World {
    fn new(plan: Plan) -> Self {
        let memory = Path::new("/dev/shm");
        let made = memory.is_dir().then(|| tempfile::tempdir_in(memory).ok()).flatten();
        let dir = made.unwrap_or_else(|| tempfile::tempdir().unwrap());
        let mut config = Config::new(dir.path().join("evidence"));
        config.durability = Durability::DangerouslyUnsynced;
        let journal = Arc::new(Journal::open(&config).unwrap().0);
        let store = dir.path().join("store.sqlite");
        let store = SqliteStore::open_with(&store, config.durability).unwrap();
        let monitor = Monitor::new(Setup {
            journal: Arc::clone(&journal),
            state: Arc::new(store),
            policy: Arc::clone(&POLICY),
            catalogue: Catalogue::default(),
            clock: Arc::new(SystemClock),
        });
        let names = Arc::new(plan.names);
        let resolver = plan.dns.unwrap_or_else(|| Arc::clone(&names) as Arc<dyn Resolve>);
        let dialer = Dialer::with_resolver(resolver, &plan.limits)
            .blocking(plan.rules.block.clone())
            .dangerously_open_these_loopback_ports_for_tests(&plan.ports)
            .dangerously_opening(plan.rules.inner.clone());
        let admission = plan.settings.map_or(Admission::OnePerson, admitted);
        let client = |it: Dialer| Client::new(Arc::new(it), &plan.trust, plan.limits).unwrap();
        let hops = plan.hops.unwrap_or_else(|| Arc::clone(&journal));
        let here = plan.engine.as_ref().map(Engine::base).map(|base| {
            let resolver = Arc::clone(&names) as Arc<dyn Resolve>;
            let dialer = Dialer::with_resolver(resolver, &plan.limits);
            client(dialer.dangerously_open_for_the_operator(base))
        });
        let mut web = Web::new(client(dialer), hops, plan.engine).unwrap();
        if let Some(client) = here.filter(|_| plan.engine_is_here) {
            web = web.asking_the_engine_with(client);
        }
        let hands = Hands { web, rules: plan.rules };
        Self { dir, monitor, journal, names, hands, sessions: AtomicUsize::new(0), admission }
    }

    /// Fetches with a session of its own, whose user has asked for just that.
    pub(crate) fn fetch(&self, url: &str) -> Got {
        self.act(&json!({ "action": "web_fetch", "url": url }))
    }

    pub(crate) fn act(&self, message: &Value) -> Got {
        let who = self.session();
        self.act_as(who, message)
    }

    pub(crate) fn act_as(&self, who: Caller, message: &Value) -> Got {
        self.try_as(who, message).unwrap_or_else(|it| panic!("{message}: {it}"))
    }

    /// The same where the gate may say no.
    pub(crate) fn try_as(&self, who: Caller, message: &Value) -> Result<Got, Refusal> {
        let wanted = message.get("url").or(message.get("query")).and_then(Value::as_str).unwrap();
        let text = format!("Please look at {wanted} and tell me what it says.");
        self.monitor.hear(&who, &Heard { source: Source::User, origin: "", text: &text }).unwrap();
        let before = self.events().len();
        let message = message.to_string();
        let delivered = self.monitor.run(&who, &Asked::Message(message.as_bytes()), &self.hands)?;
        let events = self.events().split_off(before);
        Ok(Got { who, delivered, events })
    }

    pub(crate) fn session(&self) -> Caller {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        let who = Caller {
            session: SessionId::parse(&format!("session-{number}")).unwrap(),
            user: UserId::parse("ann").unwrap(),
            agent: AgentId::parse("main").unwrap(),
            door: Kind::parse("ipc").unwrap(),
        };
        let opening = Opening {
            who: who.clone(),
            principal: Principal::User,
            profile: Profile::Standard,
            parent: None,
            admission: self.admission.clone(),
            approver: Approver::Absent,
            tools: Vec::new(),
        };
        self.monitor.open_session(opening).unwrap();
        who
    }

    /// Every hop that was recorded, oldest first.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.journal.checkpoint().unwrap();
        let reader = Reader::open(&self.dir.path().join("evidence")).unwrap();
        let mut found = Vec::new();
        let see = |entry: evidence::Entry<'_>| {
            let record: Value = serde_json::from_slice(entry.record).unwrap();
            if record.pointer("/meta/kind") == Some(&json!("egress")) {
                found.push(record["payload"]["inline"].clone());
            }
            ControlFlow::<()>::Continue(())
        };
        reader.read(reader.start().unwrap(), see).unwrap();
        found
    }

    /// Does this stand in any file of the journal?
    pub(crate) fn wrote(&self, text: &str) -> bool {
        self.journal.checkpoint().unwrap();
        let mut folders = vec![self.dir.path().join("evidence")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if contains(&fs::read(path).unwrap(), text.as_bytes()) {
                    return true;
                }
            }
        }
        false
    }
}

/// One person's machine with settings.
fn admitted(settings: Global) -> Admission {
    Admission::Layered {
        global: Arc::new(settings),
        manifest: Arc::new(Manifest::silent(&AgentId::parse("main").unwrap())),
        user: Arc::new(User::local(UserId::parse("ann").unwrap())),
        origin: Origin::Local,
        sub_agents: Vec::new(),
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|it| it == text)
}

impl Got {
    pub(crate) fn text(&self) -> &str {
        &self.delivered.output.body
    }

    /// What the agent is told of a page that came.
    pub(crate) fn page(&self) -> Value {
        assert_eq!(self.delivered.output.status, Status::Done, "{}", self.text());
        serde_json::from_str(self.text()).unwrap()
    }

    pub(crate) fn content(&self) -> String {
        self.page()["content"].as_str().unwrap().to_owned()
    }

    /// Where the page says, in its marks, that it came from.
    pub(crate) fn led_to(&self) -> Option<String> {
        let content = self.content();
        let line = content.lines().find_map(|it| it.strip_prefix("redirected to: "));
        line.map(str::to_owned)
    }

    /// It failed, and says so in these words.
    pub(crate) fn failed(&self, words: &str) {
        assert_eq!(self.delivered.output.status, Status::Failed, "{}", self.text());
        assert!(self.text().contains(words), "`{}` does not say `{words}`", self.text());
    }

    /// The last hop was refused by a rule that begins so, and nobody was asked.
    pub(crate) fn refused(&self, rule: &str) {
        assert_ne!(self.delivered.output.status, Status::Done, "{}", self.text());
        let last = self.events.last().unwrap();
        assert_eq!(last["decision"], "deny", "{last}");
        assert!(last["rule"].as_str().unwrap().starts_with(rule), "{last}");
        assert!(self.text().contains(rule), "`{}` does not name {rule}", self.text());
    }
}

struct Hands {
    web: Web,
    rules: Rules,
}

impl Executor for Hands {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is asked for")]
        match permit.by_kind() {
            Granted::WebFetch(permit) => self.web.fetch(permit, &self.rules),
            Granted::WebSearch(permit) => self.web.search(permit, &self.rules),
            other => panic!("{other:?}"),
        }
    }
}
