//! How long a browser takes to start and to describe a page, and what it holds in memory. With a real Chromium, a
//! real gate and a synced journal.
//!
//!   cargo bench -p browser --bench page

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark that cannot go on has nothing to tell"
)]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use browser::{Admits, Browsers, Limits, Program, Setup};
use egress::{Dialer, Looking, Resolve, Rules};
use evidence::{Config, Journal, SystemClock};
use model::{AgentId, Caller, Effect, Kind, SessionId, ToolDef, UserId};
use monitor::{Admission, Asked, Executor, Granted, Monitor, Opening, Output, Permit, Refusal};
use serde_json::{Value, json};

/// Elements of the page that is described.
const ELEMENTS: usize = 1000;
/// Browsers that are started one after the other.
const LAUNCHES: usize = 5;
/// Snapshots that are taken one after the other.
const SNAPSHOTS: usize = 20;
/// What we aim at.
const LAUNCH_TARGET: Duration = Duration::from_secs(2);
const SNAPSHOT_TARGET: Duration = Duration::from_millis(200);

struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> Looking<'a> {
        Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
    }
}

struct Everybody(Rules);

impl Admits for Everybody {
    fn admit(&self, _: &Caller, _: &[ToolDef]) -> Result<(Admission, Rules), String> {
        Ok((Admission::OnePerson, self.0.clone()))
    }
}

struct Hands<'a>(&'a Browsers);

impl Executor for Hands<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "only what browsers do is asked for here")]
    fn execute(&self, permit: Permit<Effect>) -> Output {
        match permit.by_kind() {
            Granted::BrowserLaunch(it) => self.0.launch(it),
            Granted::BrowserNavigate(it) => self.0.navigate(it),
            Granted::BrowserSnapshot(it) => self.0.snapshot(it),
            Granted::BrowserScreenshot(it) => self.0.screenshot(it),
            Granted::BrowserClose(it) => self.0.end(it),
            _ => Output::not_begun("not measured"),
        }
    }
}

fn main() {
    let home = tempfile::tempdir().unwrap();
    let journal = Arc::new(Journal::open(&Config::new(home.path().join("evidence"))).unwrap().0);
    let store = store::SqliteStore::open_with(
        &home.path().join("store.sqlite"),
        evidence::Durability::Synced,
    );
    let monitor = Arc::new(Monitor::new(monitor::Setup {
        journal: Arc::clone(&journal),
        state: Arc::new(store.unwrap()),
        policy: Arc::new(policy::Policy::embedded().unwrap()),
        catalogue: gateway::proxy::catalogue().unwrap(),
        clock: Arc::new(SystemClock),
    }));
    let port = serve();
    let rules = Rules { ports: Some(vec![port]), ..Rules::default() };
    let dialer = Dialer::with_resolver(Arc::new(Here), &egress::Limits::default())
        .dangerously_open_these_loopback_ports_for_tests(&[port]);
    let browsers = Browsers::new(Setup {
        monitor: Arc::clone(&monitor),
        journal,
        home: home.path().to_owned(),
        program: Program::find(None).unwrap(),
        limits: Limits::default(),
        dialer: Arc::new(dialer),
        admits: Box::new(Everybody(rules)),
        dangerously_trusted_for_tests: None,
    })
    .unwrap();
    let who = session(&monitor);
    measure(&monitor, &browsers, &who, &format!("http://page.example:{port}/"));
}

fn measure(monitor: &Monitor, browsers: &Browsers, who: &Caller, url: &str) {
    let act = |message: Value| act(monitor, browsers, who, &message);
    let mut out = std::io::stdout().lock();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    writeln!(out, "{cores} cores, {}", std::env::consts::ARCH).unwrap();
    let mut launches = Vec::new();
    let mut session = String::new();
    for _ in 0..LAUNCHES {
        if !session.is_empty() {
            act(json!({ "action": "browser_close", "session": session }));
        }
        let begun = Instant::now();
        let launched = act(json!({ "action": "browser_launch" }));
        launches.push(begun.elapsed());
        launched.get("session").unwrap().as_str().unwrap().clone_into(&mut session);
    }
    show(&mut out, "launch", &mut launches, Some(LAUNCH_TARGET));
    let begun = Instant::now();
    act(json!({ "action": "browser_navigate", "session": session, "url": url }));
    let mut navigated = vec![begun.elapsed()];
    show(&mut out, "navigate", &mut navigated, None);
    let mut snapshots = Vec::new();
    for _ in 0..SNAPSHOTS {
        let begun = Instant::now();
        act(json!({ "action": "browser_snapshot", "session": session }));
        snapshots.push(begun.elapsed());
    }
    show(
        &mut out,
        &format!("snapshot, {ELEMENTS} elements"),
        &mut snapshots,
        Some(SNAPSHOT_TARGET),
    );
    let mut pictures = Vec::new();
    for _ in 0..SNAPSHOTS {
        let begun = Instant::now();
        act(json!({ "action": "browser_screenshot", "session": session }));
        pictures.push(begun.elapsed());
    }
    show(&mut out, "screenshot, 1280 by 720", &mut pictures, None);
    let kib: u64 = browsers.process_ids(who).into_iter().map(group_kib).sum();
    writeln!(out, "{:28} {:7} MiB, shared pages divided", "memory of one browser", kib >> 10)
        .unwrap();
}

fn show(out: &mut impl Write, what: &str, took: &mut [Duration], target: Option<Duration>) {
    took.sort_unstable();
    let p50 = took.get(took.len() / 2).copied().unwrap_or_default().as_millis();
    let most = took.last().copied().unwrap_or_default().as_millis();
    let target = target.map_or(String::new(), |it| format!("; target {} ms", it.as_millis()));
    writeln!(out, "{what:28} {p50:7} ms p50, {most} ms at most{target}").unwrap();
}

/// What all processes of a browser hold, in KiB, as the system divides what they share.
fn group_kib(leader: u32) -> u64 {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|it| {
        let id: u32 = it.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let group = stat.rsplit_once(") ")?.1.split(' ').nth(2)?.parse::<u32>().ok()?;
        let rollup = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
        let pss = rollup.lines().find_map(|it| it.strip_prefix("Pss:"))?;
        (group == leader).then(|| pss.trim().trim_end_matches(" kB").parse::<u64>().ok())?
    });
    all.sum()
}

/// A person says yes to whatever is asked.
fn act(monitor: &Monitor, browsers: &Browsers, who: &Caller, message: &Value) -> Value {
    let bytes = message.to_string().into_bytes();
    loop {
        match monitor.run(who, &Asked::Message(&bytes), &Hands(browsers)) {
            Ok(delivered) => return serde_json::from_str(&delivered.output.body).unwrap(),
            Err(Refusal::Stopped(verdict)) => {
                monitor.confirm_call(who, verdict.effect, verdict.action).unwrap();
            }
            Err(refusal) => panic!("{refusal}"),
        }
    }
}

fn session(monitor: &Monitor) -> Caller {
    let who = Caller {
        session: SessionId::parse("bench").unwrap(),
        user: UserId::parse("me").unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::parse("ipc").unwrap(),
    };
    let opening = Opening::of_one_person(who.clone());
    monitor.open_session(opening).unwrap();
    who
}

/// A server with one page, on a port of this machine.
fn serve() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let items = (0..ELEMENTS).map(|it| format!("<li><a href=/{it}>Item {it}</a></li>"));
    let page = format!("<!doctype html><title>List</title><ul>{}</ul>", items.collect::<String>());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 8192]);
            let length = page.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            let _ = stream.write_all((head + &page).as_bytes());
        }
    });
    port
}
