//! `lazaret evidence bench`: how fast the real journal is, beside what this machine can do at all.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use aegx::{Digest, Principal, RecordType};
use evidence::{
    Clock, Config, Content, Durability, Journal, NewRecord, Reader, SystemClock, verify,
};
use model::{AgentId, Kind, SessionId, Taint};
use serde_json::{Map, json};

use super::open;
use crate::failure::{Exit, Failure};
use crate::machine::Machine;
use crate::output;

/// Append records through the real journal and measure.
///
/// The journal is made in a directory of its own under --dir and removed afterwards. Beside the
/// figures stand this machine's limits: how often it can sync one record, how fast it hashes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many records.
    #[arg(long, default_value_t = 100_000)]
    records: u64,
    /// Length of each record's content in bytes.
    #[arg(long, default_value_t = 256, value_name = "BYTES", value_parser = payload)]
    payload: usize,
    /// How many threads append at once.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=WRITERS_MAX))]
    writers: u64,
    /// Do not sync, and do not wait for the writer either: times are then those of queueing. The
    /// records are NOT durable; for comparison only.
    #[arg(long)]
    no_sync: bool,
    /// Where to make the journal [default: the directory for temporary files].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The most threads.
const WRITERS_MAX: u64 = 1024;
/// The longest content.
const PAYLOAD_BYTES_MAX: usize = 16 << 20;

fn payload(text: &str) -> Result<usize, String> {
    let bytes = text.parse::<usize>().map_err(|error| error.to_string())?;
    if bytes <= PAYLOAD_BYTES_MAX {
        return Ok(bytes);
    }
    Err(format!("at most {PAYLOAD_BYTES_MAX}"))
}

/// The rate is also given for each of this many equal parts, to show that it does not fall.
const PARTS: usize = 5;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let base = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let work = base.join(format!("lazaret-bench-{}", SystemClock.unix_micros()));
    // Not one that is there: it would be removed afterwards.
    std::fs::create_dir(&work)
        .map_err(|error| Failure::unable(format!("`{}`: {error}", work.display())))?;
    let outcome = measure(args, &work);
    let _ = std::fs::remove_dir_all(&work);
    let measured = outcome?;
    print(args, &measured);
    Ok(Exit::Done)
}

struct Measured {
    machine: Machine,
    seconds: f64,
    p50_us: u64,
    p99_us: u64,
    fsyncs: u64,
    batches: u64,
    part_rates: Vec<f64>,
    reopen_seconds: f64,
    verify_seconds: f64,
}

fn measure(args: &Args, work: &std::path::Path) -> Result<Measured, Failure> {
    let machine = Machine::measure(work, args.payload + 700)?;
    let mut config = Config::new(work.join("journal"));
    if args.no_sync {
        config.durability = Durability::DangerouslyUnsynced;
    }
    let journal = open::writer(&config)?;
    let spinner = output::spinner("appending");
    let (seconds, mut latencies, part_rates) = append_all(args, &journal)?;
    spinner.finish_and_clear();
    let stats = journal.writer_stats();
    journal.close().map_err(Failure::unable)?;

    let start = Instant::now();
    open::writer(&config)?.close().map_err(Failure::unable)?;
    let reopen_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let reader = Reader::open(&config.dir).map_err(open::failure)?;
    let verified = verify(&reader, &evidence::Against::default()).map_err(open::failure)?;
    let verify_seconds = start.elapsed().as_secs_f64();
    if verified.records != args.records || !verified.damages.is_empty() {
        return Err(Failure::refused(format!(
            "the journal does not verify: {:?}",
            verified.damages
        )));
    }
    latencies.sort_unstable();
    let at = |share: f64| {
        let position = (latencies.len() as f64 * share) as usize;
        latencies.get(position.min(latencies.len().saturating_sub(1))).copied().unwrap_or(0)
    };
    Ok(Measured {
        machine,
        seconds,
        p50_us: at(0.50),
        p99_us: at(0.99),
        fsyncs: stats.syncs,
        batches: stats.batches,
        part_rates,
        reopen_seconds,
        verify_seconds,
    })
}

/// Appends from all threads. Gives seconds, latencies in microseconds, and the rate of each part.
fn append_all(args: &Args, journal: &Journal) -> Result<(f64, Vec<u64>, Vec<f64>), Failure> {
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let work = |writer: u64| -> Result<Vec<(u64, u64)>, Failure> {
        let session = SessionId::parse(&format!("bench-{writer}")).map_err(Failure::usage)?;
        let agent = AgentId::parse("bench").map_err(Failure::usage)?;
        let kind = Kind::parse("bench").map_err(Failure::usage)?;
        let content = json!({ "text": "x".repeat(args.payload) });
        let mut parent: Option<Digest> = None;
        let mut done = Vec::new();
        while next.fetch_add(1, Ordering::Relaxed) < args.records {
            let begun = Instant::now();
            let record = NewRecord {
                record_type: RecordType::ToolCall,
                kind: kind.clone(),
                principal: Principal::Tool,
                taint: Taint::TOOL_OUTPUT,
                parents: parent.into_iter().collect(),
                session: Some(session.clone()),
                agent: Some(agent.clone()),
                meta: Map::new(),
                content: Content::Json(content.clone()),
            };
            let receipt = journal.append(record).map_err(Failure::unable)?;
            parent = Some(receipt.id());
            done.push((micros(start.elapsed()), micros(begun.elapsed())));
        }
        Ok(done)
    };
    let results: Vec<_> = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            (0..args.writers.max(1)).map(|writer| scope.spawn(move || work(writer))).collect();
        threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut all = Vec::new();
    for result in results {
        all.extend(result.map_err(|_| Failure::unable("a writer thread failed"))??);
    }
    all.sort_unstable();
    let part = (all.len() / PARTS).max(1);
    let rates = all
        .chunks(part)
        .filter(|chunk| chunk.len() == part)
        .filter_map(|chunk| {
            let (first, last) = (chunk.first()?.0, chunk.last()?.0);
            Some(chunk.len() as f64 / ((last - first).max(1) as f64 / 1e6))
        })
        .collect();
    Ok((seconds, all.into_iter().map(|(_, latency)| latency).collect(), rates))
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn print(args: &Args, measured: &Measured) {
    let Measured { machine, seconds, .. } = measured;
    let rate = args.records as f64 / seconds;
    let parts: Vec<_> = measured.part_rates.iter().map(|it| it.round()).collect();
    if args.json {
        output::json(&json!({
            "records": args.records,
            "seconds": seconds,
            "per_second": rate,
            "p50_us": measured.p50_us,
            "p99_us": measured.p99_us,
            "fsyncs": measured.fsyncs,
            "batches": measured.batches,
            "durable": !args.no_sync,
            "writers": args.writers,
            "payload": args.payload,
            "per_second_by_part": parts,
            "reopen_seconds": measured.reopen_seconds,
            "verify_per_second": args.records as f64 / measured.verify_seconds,
            "machine": machine.value(),
        }));
        return;
    }
    machine.print();
    let how = if args.no_sync { "NOT DURABLE (--no-sync)" } else { "durable" };
    output::line(&format!(
        "append    {rate:.0} records/s, {how}, {} writers = {:.1} × one synced write at a time",
        args.writers,
        rate / machine.syncs_per_second
    ));
    output::line(&format!(
        "          p50 {} µs, p99 {} µs; {} records in {} batches, {} fsyncs",
        measured.p50_us, measured.p99_us, args.records, measured.batches, measured.fsyncs
    ));
    output::line(&format!("          by fifths: {parts:?} records/s"));
    output::line(&format!("reopen    {:.2} s after an orderly end", measured.reopen_seconds));
    output::line(&format!(
        "verify    {:.0} records/s",
        args.records as f64 / measured.verify_seconds
    ));
}
