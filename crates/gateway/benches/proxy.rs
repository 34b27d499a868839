//! What the forward proxy carries, beside a plain CONNECT proxy in the same run, and what idle tunnels cost.
//!
//! `cargo bench -p gateway --bench proxy -- TINYPROXY`: the path of that program; without it only ours is
//! measured. `bench/proxy/run` finds or installs it. Everything talks to loopback only.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark starts the programs that it measures, and what goes wrong ends it"
)]

use std::io::{self, BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use aegx::Principal;
use data_encoding::BASE64;
use egress::{Dialer, Limits, Looking, Resolve, Rules};
use evidence::{Config, Journal, SystemClock};
use gateway::proxy::{self, Account, Accounts, Bounds, Outside, Proxy, Token};
use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::{Admission, Approver, Monitor, Opening, Setup};
use policy::Policy;
use store::SqliteStore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const CONNECTIONS: usize = 64;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);
const IDLE: usize = 2000;

type Done<T> = Result<T, Box<dyn std::error::Error>>;

/// A proxy under test.
struct Rival {
    name: &'static str,
    port: u16,
    /// What is sent to get a tunnel.
    connect: String,
    child: Child,
}

impl Drop for Rival {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn main() -> Done<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let runtime = tokio::runtime::Runtime::new()?;
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", origin] => runtime.block_on(serve(origin.parse()?)),
        [] => runtime.block_on(measure(None)),
        [tinyproxy, ..] => runtime.block_on(measure(Some(tinyproxy))),
    }
}

async fn measure(tinyproxy: Option<&str>) -> Done<()> {
    let listener = TcpListener::bind((LOOPBACK, 0)).await?;
    let origin = listener.local_addr()?.port();
    tokio::spawn(flood(listener));
    let dir = tempfile::tempdir()?;
    let mut rivals = vec![ours(origin)?];
    if let Some(program) = tinyproxy {
        rivals.push(plain(program, dir.path(), origin)?);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;

    let mut out = io::stdout().lock();
    writeln!(out, "{CONNECTIONS} connections, {ROUNDS} rounds of {} s, medians", ROUND.as_secs())?;
    let mut carried = vec![Vec::new(); rivals.len()];
    let mut opened = vec![Vec::new(); rivals.len()];
    // In turns, so that what else the machine does meets both.
    for _ in 0..ROUNDS {
        for (at, rival) in rivals.iter().enumerate() {
            carried.get_mut(at).unwrap().push(bytes_per_second(rival).await?);
            opened.get_mut(at).unwrap().push(tunnels_per_second(rival).await?);
        }
    }
    let carried: Vec<f64> = carried.into_iter().map(median).collect();
    let opened: Vec<f64> = opened.into_iter().map(median).collect();
    for ((rival, bytes), tunnels) in rivals.iter().zip(&carried).zip(&opened) {
        let name = rival.name;
        writeln!(out, "{name:10} {:8.0} MB/s  {tunnels:8.0} new tunnels/s", bytes / 1e6)?;
    }
    if let ([ours, theirs], [fast, faster]) = (carried.as_slice(), opened.as_slice()) {
        let (bytes, tunnels) = (100.0 * ours / theirs, 100.0 * fast / faster);
        writeln!(out, "share      {bytes:8.0} %     {tunnels:8.0} %   (bytes: at least 80 %)")?;
    }
    idle(rivals.first().unwrap(), &mut out).await
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// Sends without end to whoever has said a byte.
async fn flood(listener: TcpListener) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { continue };
        tokio::spawn(async move {
            let chunk = vec![b'x'; 256 << 10];
            if stream.read_u8().await.is_ok() {
                while stream.write_all(&chunk).await.is_ok() {}
            }
        });
    }
}

async fn tunnel(rival: &Rival) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect((LOOPBACK, rival.port)).await?;
    stream.set_nodelay(true)?;
    stream.write_all(rival.connect.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && stream.read_buf(&mut head).await? > 0 {}
    if head.windows(5).any(|it| it == b" 200 ") {
        return Ok(stream);
    }
    Err(io::Error::other(String::from_utf8_lossy(&head).into_owned()))
}

async fn bytes_per_second(rival: &Rival) -> Done<f64> {
    let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let mut tunnels = Vec::new();
    for _ in 0..CONNECTIONS {
        tunnels.push(tunnel(rival).await?);
    }
    let mut readers = Vec::new();
    for mut stream in tunnels {
        let (count, stop) = (Arc::clone(&count), Arc::clone(&stop));
        readers.push(tokio::spawn(async move {
            let mut buffer = vec![0; 256 << 10];
            if stream.write_all(b"x").await.is_err() {
                return;
            }
            while !stop.load(Ordering::Relaxed) {
                match stream.read(&mut buffer).await {
                    Ok(read) if read > 0 => count.fetch_add(read as u64, Ordering::Relaxed),
                    Ok(_) | Err(_) => return,
                };
            }
        }));
    }
    // Until all are at it.
    // This thread serves nobody, and timers of the others are late when they are busy.
    std::thread::sleep(ROUND / 8);
    let (before, begun) = (count.load(Ordering::Relaxed), Instant::now());
    std::thread::sleep(ROUND);
    let bytes = count.load(Ordering::Relaxed) - before;
    let rate = bytes as f64 / begun.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await?;
    }
    Ok(rate)
}

async fn tunnels_per_second(rival: &Rival) -> Done<f64> {
    let begun = Instant::now();
    let workers = (0..CONNECTIONS).map(|_| async {
        let mut made = 0_u64;
        while begun.elapsed() < ROUND {
            tunnel(rival).await?;
            made += 1;
        }
        io::Result::Ok(made)
    });
    let mut made = 0;
    for worker in join_all(workers).await {
        made += worker?;
    }
    Ok(made as f64 / begun.elapsed().as_secs_f64())
}

/// Waits for all at once.
async fn join_all<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = all.map(|it| (Box::pin(it), None)).collect();
    std::future::poll_fn(|context| {
        let mut done = true;
        for (future, slot) in &mut waiting {
            if slot.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *slot = Some(value),
                    std::task::Poll::Pending => done = false,
                }
            }
        }
        if done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, slot)| slot).collect()
}

async fn idle(rival: &Rival, out: &mut impl Write) -> Done<()> {
    let before = resident_kib(rival.child.id())?;
    let mut open = Vec::new();
    for _ in 0..IDLE {
        open.push(tunnel(rival).await?);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = resident_kib(rival.child.id())?;
    let (before, after) = (before as f64 / 1024.0, after as f64 / 1024.0);
    writeln!(
        out,
        "{IDLE} idle tunnels: {before:.0} MiB before, {after:.0} MiB with them (under 100 MB in all)"
    )?;
    Ok(())
}

fn resident_kib(process: u32) -> Done<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find(|it| it.starts_with("VmRSS:")).unwrap_or_default();
    Ok(line.split_whitespace().nth(1).unwrap_or_default().parse()?)
}

/// Our proxy in a process of its own: this program once more.
fn ours(origin: u16) -> Done<Rival> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["serve", &origin.to_string()])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line)?;
    let (port, token) = line.trim().split_once(' ').ok_or("no port")?;
    let basic = BASE64.encode(format!("main:{token}").as_bytes());
    let to = format!("origin.example:{origin}");
    let connect = format!(
        "CONNECT {to} HTTP/1.1\r\nhost: {to}\r\nproxy-authorization: Basic {basic}\r\n\r\n"
    );
    Ok(Rival { name: "lazaret", port: port.parse()?, connect, child })
}

fn plain(program: &str, dir: &std::path::Path, origin: u16) -> Done<Rival> {
    let port = std::net::TcpListener::bind((LOOPBACK, 0))?.local_addr()?.port();
    let settings = format!(
        "Port {port}\nListen 127.0.0.1\nAllow 127.0.0.1\nConnectPort {origin}\nMaxClients 4000\n\
         Timeout 600\nLogLevel Critical\nLogFile \"{0}/log\"\nPidFile \"{0}/pid\"\n",
        dir.display()
    );
    let file = dir.join("tinyproxy.conf");
    std::fs::write(&file, settings)?;
    let child =
        Command::new(program).arg("-d").arg("-c").arg(&file).stdout(Stdio::null()).spawn()?;
    let to = format!("127.0.0.1:{origin}");
    let connect = format!("CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n\r\n");
    Ok(Rival { name: "tinyproxy", port, connect, child })
}

struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> Looking<'a> {
        Box::pin(async { Ok(vec![LOOPBACK]) })
    }
}

/// As `lazaret proxy` does it, with a disk that is waited for.
async fn serve(origin: u16) -> Done<()> {
    let dir = tempfile::tempdir()?;
    let journal = Arc::new(Journal::open(&Config::new(dir.path().join("evidence")))?.0);
    let monitor = Arc::new(Monitor::new(Setup {
        journal: Arc::clone(&journal),
        state: Arc::new(SqliteStore::open(&dir.path().join("store.sqlite"))?),
        policy: Arc::new(Policy::embedded().unwrap()),
        catalogue: proxy::catalogue()?,
        clock: Arc::new(SystemClock),
    }));
    let who = Caller {
        session: SessionId::parse("proxy-main")?,
        user: UserId::parse("me")?,
        agent: AgentId::parse("main")?,
        door: Kind::of_static("proxy"),
    };
    monitor.open_session(Opening {
        who: who.clone(),
        principal: Principal::User,
        profile: Profile::Standard,
        parent: None,
        admission: Admission::OnePerson,
        approver: Approver::Absent,
        tools: proxy::tools()?,
    })?;
    let token = Token::random()?;
    let rules = Rules { ports: Some(vec![origin]), ..Rules::default() };
    let mut accounts = Accounts::default();
    accounts.add(Account::new(who, rules, &token));
    let limits = Limits::default();
    let dialer = Dialer::with_resolver(Arc::new(Here), &limits)
        .dangerously_open_these_loopback_ports_for_tests(&[origin]);
    let outside = Outside { monitor, journal, dialer: Arc::new(dialer), limits };
    let proxy = Proxy::new(outside, accounts, Bounds::default());
    let listener = TcpListener::bind((LOOPBACK, 0)).await?;
    let port = listener.local_addr()?.port();
    writeln!(io::stdout().lock(), "{port} {}", token.shown_once())?;
    match proxy.serve(listener).await {}
}
