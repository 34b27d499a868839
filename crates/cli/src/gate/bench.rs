//! `lazaret gate bench`: how long the gate takes for a call, the whole of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use evidence::{Clock, Durability, SystemClock};
use model::{Caller, Source};
use monitor::provenance::Catalogue;
use monitor::{Heard, Monitor};
use serde_json::json;

use super::load::{self, Doing, Load};
use super::setup::{self, Gate};
use super::turns::Turns;
use crate::failure::{Exit, Failure};
use crate::machine::Machine;
use crate::output;

/// Drive calls through the whole gate and measure.
///
/// Each call is parsed, traced, judged by policy and guards, recorded, carried out by an executor that
/// does nothing, scanned, absorbed and closed. Half of the calls read something of PAYLOAD bytes, half
/// send something of PAYLOAD bytes. All are allowed; a call that is not makes the command fail.
///
/// What the state directory holds afterwards, by the call, and how much memory the calls have taken, is shown as well,
/// and what the first act of a turn takes, for which the encoder reads the user's words.
///
/// The times are those of a call without and with the disk: by default every call is durable and 64
/// callers call at once; with --no-sync one caller does.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many calls.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    calls: u64,
    /// In how many sessions.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=SESSIONS_MAX))]
    sessions: u64,
    /// Length of what is read or sent, in bytes.
    #[arg(long, default_value_t = 1024, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(0..=PAYLOAD_BYTES_MAX))]
    payload: u64,
    /// How many call at once [default: 64, or 1 with --no-sync]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=CALLERS_MAX))]
    callers: Option<u64>,
    /// Leave the disk out. The records are NOT durable; for comparison only.
    #[arg(long)]
    no_sync: bool,
    /// Also compare a fresh session with one that has seen so many bytes; 0 leaves it out.
    #[arg(long, default_value_t = 10_000_000, value_name = "BYTES")]
    seen: u64,
    /// Where to make the state [default: the directory for temporary files].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const SESSIONS_MAX: u64 = 100_000;
const CALLERS_MAX: u64 = 1024;
const PAYLOAD_BYTES_MAX: u64 = 8 << 20;
/// Calls by which a fresh session and one that has seen much are compared.
const COMPARED_CALLS: u64 = 400;
/// A text that the session with much content hears at a time.
const PIECE_BYTES: usize = 20_000;

struct Measured {
    machine: Machine,
    seconds: f64,
    p50_us: f64,
    p99_us: f64,
    read_us: f64,
    send_us: f64,
    bytes_per_session: Option<u64>,
    /// What the journal and the store have on disk.
    journal_bytes: u64,
    store_bytes: u64,
    /// What the process had in memory before the calls, and after them.
    resident: Option<(u64, u64)>,
    fresh_us: f64,
    seen_us: f64,
    turns: Turns,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let base = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let work = base.join(format!("lazaret-gate-bench-{}", SystemClock.unix_micros()));
    // Not one that is there: it would be removed afterwards.
    std::fs::create_dir(&work)
        .map_err(|error| Failure::unable(format!("`{}`: {error}", work.display())))?;
    let outcome = measure(args, &work);
    let _ = std::fs::remove_dir_all(&work);
    print(args, &outcome?);
    Ok(Exit::Done)
}

fn measure(args: &Args, work: &Path) -> Result<Measured, Failure> {
    let durability =
        if args.no_sync { Durability::DangerouslyUnsynced } else { Durability::Synced };
    let policy = setup::policy(None)?;
    let gate = Gate::open(&work.join("home"), durability, policy, Catalogue::default())?;
    let load = Load::new(usize::try_from(args.payload).unwrap_or(0));
    // The first session pays for what all of them share.
    load::session(&gate.monitor, u64::MAX)?;
    let before = resident_bytes();
    let spinner = output::spinner("opening sessions");
    let sessions: Vec<Caller> = (0..args.sessions)
        .map(|number| load::session(&gate.monitor, number))
        .collect::<Result<_, _>>()?;
    let grown = before.zip(resident_bytes()).map(|(before, after)| after.saturating_sub(before));
    spinner.finish_and_clear();
    let before = resident_bytes();
    let (seconds, calls) = drive(args, &gate.monitor, &load, &sessions)?;
    let resident = before.zip(resident_bytes());
    let home = work.join("home");
    let (journal_bytes, store_bytes) = (tree_bytes(&home.join("evidence")), store_bytes(&home));
    let times = sorted(calls.iter());
    let of = |wanted: Doing| sorted(calls.iter().filter(|(doing, _)| *doing == wanted));
    let (fresh_us, seen_us) = compare(args, &gate, &load)?;
    let turns = Turns::measure(&gate.monitor, &load, SESSIONS_MAX + 3)?;
    gate.close()?;
    Ok(Measured {
        // Afterwards: the memory that it takes would be found again, and no session would seem to grow.
        machine: Machine::measure(work, 1500)?,
        seconds,
        p50_us: percentile(&times, 0.50),
        p99_us: percentile(&times, 0.99),
        read_us: percentile(&of(Doing::Reads), 0.50),
        send_us: percentile(&of(Doing::Sends), 0.50),
        bytes_per_session: grown.map(|it| it / args.sessions),
        journal_bytes,
        store_bytes,
        resident,
        fresh_us,
        seen_us,
        turns,
    })
}

fn sorted<'a>(calls: impl Iterator<Item = &'a (Doing, u64)>) -> Vec<u64> {
    let mut times: Vec<u64> = calls.map(|(_, nanoseconds)| *nanoseconds).collect();
    times.sort_unstable();
    times
}

/// Calls from all callers. Gives seconds, and what each call did in how many nanoseconds.
fn drive(
    args: &Args,
    monitor: &Monitor,
    load: &Load,
    sessions: &[Caller],
) -> Result<(f64, Vec<(Doing, u64)>), Failure> {
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let work = || -> Result<Vec<(Doing, u64)>, Failure> {
        let mut times = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= args.calls {
                return Ok(times);
            }
            let at = usize::try_from(number % args.sessions).unwrap_or(0);
            let who = sessions.get(at).ok_or_else(|| Failure::unable("no sessions"))?;
            times.push(load.call(monitor, who, number / args.sessions)?);
        }
    };
    let results: Vec<_> = thread::scope(|scope| {
        let callers: Vec<_> = (0..callers(args)).map(|_| scope.spawn(work)).collect();
        callers.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut times = Vec::new();
    for result in results {
        times.extend(result.map_err(|_| Failure::unable("a caller failed"))??);
    }
    Ok((seconds, times))
}

/// The median time of a call in a fresh session, and in one that has seen much.
fn compare(args: &Args, gate: &Gate, load: &Load) -> Result<(f64, f64), Failure> {
    if args.seen == 0 {
        return Ok((0.0, 0.0));
    }
    let fresh = load::session(&gate.monitor, SESSIONS_MAX + 1)?;
    let full = load::session(&gate.monitor, SESSIONS_MAX + 2)?;
    let mut left = usize::try_from(args.seen).unwrap_or(usize::MAX);
    let mut number = 0_u64;
    while left > 0 {
        let piece = distinct(number, left.min(PIECE_BYTES));
        let heard = Heard { source: Source::Web, origin: "https://bench.example/", text: &piece };
        gate.monitor.hear(&full, &heard).map_err(Failure::unable)?;
        left = left.saturating_sub(piece.len());
        number += 1;
    }
    let median = |who: &Caller| -> Result<f64, Failure> {
        let calls = (0..COMPARED_CALLS).map(|it| load.call(&gate.monitor, who, it));
        let calls = calls.collect::<Result<Vec<_>, _>>()?;
        Ok(percentile(&sorted(calls.iter()), 0.50))
    };
    // Once for warmth, then alternately.
    median(&fresh)?;
    Ok((median(&fresh)?, median(&full)?))
}

/// Text full of addresses and ids, none of which occurs in another piece.
fn distinct(piece: u64, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    let mut number = 0_u64;
    while text.len() < bytes {
        let id = piece * 100_000 + number;
        text.push_str(&format!(
            "Row {id}: write to person{id}@site{piece}.example about item {id}.\n"
        ));
        number += 1;
    }
    text
}

fn callers(args: &Args) -> u64 {
    args.callers.unwrap_or(if args.no_sync { 1 } else { 64 })
}

pub(super) fn percentile(sorted: &[u64], share: f64) -> f64 {
    let position = (sorted.len() as f64 * share) as usize;
    let position = position.min(sorted.len().saturating_sub(1));
    sorted.get(position).copied().unwrap_or(0) as f64 / 1e3
}

/// What the process has in memory, where the system says it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

/// What is on disk below a directory.
fn tree_bytes(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.map(|it| match it.metadata() {
        Ok(found) if found.is_dir() => tree_bytes(&it.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// What the store has on disk, with its log.
fn store_bytes(home: &Path) -> u64 {
    let names = ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"];
    let sizes = names.iter().filter_map(|it| std::fs::metadata(home.join(it)).ok());
    sizes.map(|it| it.len()).sum()
}

fn print(args: &Args, measured: &Measured) {
    let rate = args.calls as f64 / measured.seconds;
    let Measured { machine, p50_us, p99_us, .. } = measured;
    if args.json {
        output::json(&json!({
            "calls": args.calls,
            "seconds": measured.seconds,
            "per_second": rate,
            "p50_us": p50_us,
            "p99_us": p99_us,
            "read_p50_us": measured.read_us,
            "send_p50_us": measured.send_us,
            "sessions": args.sessions,
            "callers": callers(args),
            "payload": args.payload,
            "durable": !args.no_sync,
            "bytes_per_session": measured.bytes_per_session,
            "journal_bytes": measured.journal_bytes,
            "store_bytes": measured.store_bytes,
            "resident_before": measured.resident.map(|it| it.0),
            "resident_after": measured.resident.map(|it| it.1),
            "fresh_p50_us": measured.fresh_us,
            "seen_bytes": args.seen,
            "seen_p50_us": measured.seen_us,
            "turn_first_act_p50_us": measured.turns.first_us,
            "turn_later_act_p50_us": measured.turns.later_us,
            "machine": machine.value(),
        }));
        return;
    }
    machine.print();
    let how = if args.no_sync { "NOT DURABLE (--no-sync)" } else { "durable" };
    let callers = output::count(callers(args), "caller");
    output::line(&format!("gate      {rate:.0} calls/s, {how}, {callers}"));
    output::line(&format!("          p50 {p50_us:.0} µs, p99 {p99_us:.0} µs a call"));
    output::line(&format!(
        "          p50 {:.0} µs to read {bytes} bytes, {:.0} µs to send them",
        measured.read_us,
        measured.send_us,
        bytes = args.payload,
    ));
    if let Some(bytes) = measured.bytes_per_session {
        output::line(&format!("memory    {bytes} bytes an idle session"));
    }
    if let Some((before, after)) = measured.resident {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        output::line(&format!(
            "          {:.1} MiB before the calls, {:.1} MiB after them",
            mib(before),
            mib(after)
        ));
    }
    output::line(&format!(
        "state     {} bytes a call in the journal, {} in the store",
        measured.journal_bytes / args.calls,
        measured.store_bytes / args.calls
    ));
    output::line(&format!(
        "turn      p50 {:.0} µs for its first act, which the encoder reads the user's words for, {:.0} µs for the next",
        measured.turns.first_us, measured.turns.later_us
    ));
    if args.seen > 0 {
        output::line(&format!(
            "seen      p50 {:.0} µs in a session that has seen {} bytes, {:.0} µs in a fresh one",
            measured.seen_us, args.seen, measured.fresh_us
        ));
    }
}
