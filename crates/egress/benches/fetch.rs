//! What a fetch costs beside a bare client that does the same, from an origin on this machine.
//!
//! `cargo bench -p egress --bench fetch`; the target is at most 150 µs more. Both are asked in turn, so that whatever
//! else the machine does falls on both. The fetch is all that happens between the permit and the output: the address
//! is vetted, the page is asked for and read, reduced to text, put in marks, and its events are recorded.
//!
//! The whole way has the gate around it, and is held against the same target: the gate judges, makes the decision
//! durable before the fetch begins, and draws out of the page what the session has to know of it. Where the journal is
//! synced, the disk is most of that.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a benchmark prints its figures and has nobody to report an error to"
)]

use std::cell::Cell;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aegx::Principal;
use bytes::Bytes;
use egress::{Client, Dialer, Limits, Looking, Resolve, Rules, Trust, Web};
use evidence::{Config, Durability, Journal, SystemClock};
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::{TokioExecutor, TokioIo};
use model::{AgentId, Caller, Effect, Kind, Profile, SessionId, Source, UserId};
use monitor::provenance::Catalogue;
use monitor::{
    Admission, Approver, Asked, Executor, Granted, Heard, Monitor, Opening, Output, Permit, Setup,
};
use policy::Policy;
use store::SqliteStore;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TARGET: Duration = Duration::from_micros(150);
/// The target is for the way there and back: of a longer page the most is to read it, which a bare client does not do.
const SMALL_BYTES_MAX: usize = 4096;
const ROUNDS: usize = 400;
/// Rounds before those that count.
const WARM: usize = 50;

fn main() {
    let policy = Arc::new(Policy::embedded().unwrap());
    // One sentence again and again, and hardly a word twice.
    let tides = "<p>The tide turns at noon, and the boats go out with it again.</p>\n";
    let of = |bytes: usize| tides.repeat(bytes.div_ceil(tides.len()));
    for (what, page) in [("1 KB", of(1_000)), ("1 KB, varied", varied()), ("100 KB", of(100_000))] {
        let origin = Origin::new(page);
        for durability in [Durability::DangerouslyUnsynced, Durability::Synced] {
            let dir = tempfile::tempdir().unwrap();
            let gate = Gate::new(dir.path(), durability, &policy, &origin);
            println!("{what}, journal {durability:?}");
            compare(&origin, &gate);
        }
    }
}

/// A page of prose as people write it.
fn varied() -> String {
    let lines = [
        "The harbour office opens at eight, and the first ferry leaves a quarter of an hour later.",
        "Fishermen sell what they caught overnight from wooden stalls behind the old customs house.",
        "In winter Captain Lindqvist keeps the lighthouse, which was built in 1887 from grey granite.",
        "Visitors may climb its 143 steps on Sundays; children under six stay below with a keeper.",
        "A narrow road runs along the dunes towards Westhaven, where storms have moved the shore twice.",
        "Terns nest there in spring, so dogs are kept on a lead between March and the end of July.",
        "The museum shows nets, charts, a brass compass and letters that sailors wrote home from Bergen.",
        "Questions are answered by telephone in the mornings, or at the desk beside the entrance.",
        "Bread, cheese and smoked eel can be had at the mill, whose owner also repairs bicycles.",
        "Whoever misses the last boat finds a plain room above the smithy and a good breakfast.",
    ];
    lines.map(|it| format!("<p>{it}</p>\n")).concat()
}

/// Asks in all ways in turn, and prints what each took.
fn compare(origin: &Origin, gate: &Gate) {
    let bare = Bare::new();
    let url = format!("http://127.0.0.1:{}/", origin.port);
    let ours = format!("http://a.example:{}/", origin.port);
    let (mut by_bare, mut by_us, mut by_all) = (Vec::new(), Vec::new(), Vec::new());
    let mut said = 0;
    for round in 0..ROUNDS + WARM {
        let begun = Instant::now();
        assert!(bare.fetch(&url) > 0);
        let bare_took = begun.elapsed();
        let timed = Timed { hands: &gate.hands, took: Cell::default() };
        let (whole, body) = gate.run(&ours, &timed);
        said = body.len();
        if round >= WARM {
            by_bare.push(bare_took);
            by_us.push(timed.took.get());
            by_all.push(whole);
        }
    }
    let bare = print("a bare client", by_bare);
    for (what, times) in [("a fetch by us", by_us), ("the whole way", by_all)] {
        let more = print(what, times).saturating_sub(bare);
        let verdict = if said > SMALL_BYTES_MAX {
            "a page to be read, no target".to_owned()
        } else {
            let word = if more <= TARGET { "within" } else { "over" };
            format!("target {TARGET:?}: {word}")
        };
        println!("    more than bare p50 {more:>10.1?}   {verdict}; {said} bytes told");
    }
}

/// Gives back the time that half of them took at most.
fn print(what: &str, mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let (half, most) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("  {what:<16} p50 {half:>10.1?}   p99 {most:>10.1?}");
    half
}

/// A server with one page.
struct Origin {
    port: u16,
    _runtime: Runtime,
}

impl Origin {
    fn new(page: String) -> Self {
        let page = Bytes::from(page);
        let runtime = runtime(1);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let page = page.clone();
                let service = service_fn(move |_| {
                    let response = Response::builder().header("content-type", "text/html");
                    let response = response.body(Full::new(page.clone())).unwrap();
                    async move { Ok::<_, Infallible>(response) }
                });
                let io = TokioIo::new(stream);
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(io, service),
                );
            }
        });
        Self { port, _runtime: runtime }
    }
}

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap()
}

/// A client that asks and reads, and nothing else.
struct Bare {
    runtime: Runtime,
    pool: Pool<hyper_util::client::legacy::connect::HttpConnector, Full<Bytes>>,
}

impl Bare {
    fn new() -> Self {
        let pool = Pool::builder(TokioExecutor::new()).build_http();
        Self { runtime: runtime(2), pool }
    }

    fn fetch(&self, url: &str) -> usize {
        self.runtime.block_on(async {
            let request = Request::get(url).body(Full::default()).unwrap();
            let response = self.pool.request(request).await.unwrap();
            response.into_body().collect().await.unwrap().to_bytes().len()
        })
    }
}

struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> Looking<'a> {
        Box::pin(async { Ok(vec![[127, 0, 0, 1].into()]) })
    }
}

struct Gate {
    monitor: Monitor,
    hands: Hands,
    sessions: std::sync::atomic::AtomicUsize,
}

struct Hands(Web, Rules);

impl Executor for Hands {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        match permit.by_kind() {
            Granted::WebFetch(permit) => self.0.fetch(permit, &self.1),
            other => panic!("{other:?}"),
        }
    }
}

/// Looks at the clock before and after.
struct Timed<'a> {
    hands: &'a Hands,
    took: Cell<Duration>,
}

impl Executor for Timed<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let begun = Instant::now();
        let output = self.hands.execute(permit);
        self.took.set(begun.elapsed());
        output
    }
}

impl Gate {
    fn new(dir: &Path, durability: Durability, policy: &Arc<Policy>, origin: &Origin) -> Self {
        let mut config = Config::new(dir.join("evidence"));
        config.durability = durability;
        let journal = Arc::new(Journal::open(&config).unwrap().0);
        let store = SqliteStore::open_with(&dir.join("store.sqlite"), durability).unwrap();
        let monitor = Monitor::new(Setup {
            journal: Arc::clone(&journal),
            state: Arc::new(store),
            policy: Arc::clone(policy),
            catalogue: Catalogue::default(),
            clock: Arc::new(SystemClock),
        });
        let limits = Limits::default();
        let dialer = Dialer::with_resolver(Arc::new(Here), &limits)
            .dangerously_open_these_loopback_ports_for_tests(&[origin.port]);
        // Nothing here is encrypted, so it does not matter who vouches.
        let trust = Trust::Only(vec![testkit::tls::nobody()]);
        let client = Client::new(Arc::new(dialer), &trust, limits).unwrap();
        let hands = Hands(Web::new(client, journal, None).unwrap(), Rules::default());
        Self { monitor, hands, sessions: 0.into() }
    }

    /// One call of a session of its own; how long the call took, and what the agent was told.
    fn run(&self, url: &str, executor: &impl Executor) -> (Duration, String) {
        let number = self.sessions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
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
            admission: Admission::OnePerson,
            approver: Approver::Absent,
            tools: Vec::new(),
        };
        self.monitor.open_session(opening).unwrap();
        let text = format!("Please read {url} for me.");
        self.monitor.hear(&who, &Heard { source: Source::User, origin: "", text: &text }).unwrap();
        let message = format!(r#"{{"action":"web_fetch","url":"{url}"}}"#);
        let begun = Instant::now();
        let delivered = self.monitor.run(&who, &Asked::Message(message.as_bytes()), executor);
        let took = begun.elapsed();
        let body = delivered.unwrap().output.body;
        self.monitor.end_session(&who).unwrap();
        (took, body)
    }
}
